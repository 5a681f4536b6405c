import type { Path } from '../../../../core/flow/edit/source.ts'
import { flowFormWords } from '../../words/flow-form.ts'
import { themeWords as words } from '../../words/theme.ts'
import { ChoiceField } from './choice-fields.tsx'
import { useFormField } from './form-context.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { FieldGroup, MappingFields } from './parts-of-flow.tsx'

/** The fields of a theme, whether a flow's or the organisation's. */

const hex = /^#[0-9a-f]{6}$/i

/** A colour as CSS writes it, with a palette if the browser can show one. */
function ColourField({ path, label }: { path: Path; label: string }) {
  const { value, write } = useFormField(path)
  const shown = typeof value === 'string' && hex.test(value) ? value : '#808080'
  return (
    <TextField
      path={path}
      label={label}
      isCode
      beside={
        <input
          type="color"
          data-unset={value === undefined}
          aria-label={words.choose(label)}
          value={shown}
          onInput={event => write(event.currentTarget.value)}
        />
      }
    />
  )
}

const colours = ['accent', 'background', 'text'] as const

const Colours = ({ path, names }: { path: Path; names: Readonly<Record<string, string>> }) => (
  <div class="field-row">
    {colours.map(name => (
      <ColourField key={name} path={[...path, name]} label={names[name]!} />
    ))}
  </div>
)

const Word = ({
  name,
  names,
}: {
  name: keyof typeof words.fields
  names: Readonly<Record<string, string>>
}) => (
  <ChoiceField
    path={['theme', name]}
    label={words.fields[name]}
    names={names}
    unsaid={words.unsaid}
  />
)

export const ThemeFields = () => (
  <MappingFields path={['theme']} name={words.title}>
    <FieldGroup>
      <Word name="preset" names={words.presets} />
      <Colours path={['theme']} names={words.light} />
      <MappingFields path={['theme', 'dark']} name={words.darkTitle}>
        <Colours path={['theme', 'dark']} names={words.dark} />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title={words.shape}>
      <MappingFields path={['theme', 'font']} name={words.fields.family}>
        <div class="field-row">
          <TextField path={['theme', 'font', 'family']} label={words.fields.family} isCode />
          <NumberField path={['theme', 'font', 'size']} label={words.fields.size} />
        </div>
      </MappingFields>
      <div class="field-row">
        <Word name="density" names={words.densities} />
        <Word name="shadow" names={words.shadows} />
        <NumberField path={['theme', 'radius']} label={flowFormWords.fields.radius} />
        <MappingFields path={['theme', 'border']} name={words.fields.borderWidth}>
          <NumberField path={['theme', 'border', 'width']} label={words.fields.borderWidth} />
        </MappingFields>
      </div>
      <MappingFields path={['theme', 'border']} name={words.fields.borderColour}>
        <ColourField path={['theme', 'border', 'color']} label={words.fields.borderColour} />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title={words.around}>
      <div class="field-row">
        <Word name="progress" names={words.progresses} />
        <Word name="spotlight" names={words.spotlights} />
      </div>
      <MappingFields path={['theme', 'launcher']} name={words.fields.label}>
        <div class="field-row">
          <TextField path={['theme', 'launcher', 'label']} label={words.fields.label} />
          <ChoiceField
            path={['theme', 'launcher', 'side']}
            label={words.fields.side}
            names={words.sides}
            unsaid={words.unsaid}
          />
        </div>
      </MappingFields>
      <TextField path={['theme', 'logo']} label={words.fields.logo} isCode />
      <MappingFields path={['theme', 'dark']} name={words.darkTitle}>
        <TextField path={['theme', 'dark', 'logo']} label={words.fields.darkLogo} isCode />
      </MappingFields>
      <NumberField path={['theme', 'zIndex']} label={words.fields.zIndex} />
    </FieldGroup>
  </MappingFields>
)
