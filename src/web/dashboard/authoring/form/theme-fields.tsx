import type { Path } from '../../../../core/flow/edit/source.ts'
import { flowFormWords } from '../../words/flow-form.ts'
import { ChoiceField } from './choice-fields.tsx'
import { useFormField } from './form-context.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { FieldGroup, MappingFields } from './parts-of-flow.tsx'

const words = {
  choose: (what: string) => `Choose: ${what.toLowerCase()}`,
  fields: {
    preset: 'Preset',
    family: 'Fonts',
    size: 'Text size',
    borderColour: 'Line colour',
    borderWidth: 'Line width',
    shadow: 'Shadow',
    density: 'Room',
    zIndex: 'Layer',
    logo: 'Logo',
    darkLogo: 'Logo on dark pages',
    label: 'Launcher text',
    side: 'Launcher side',
    progress: 'Progress',
    spotlight: 'Spotlight',
  },
  presets: { calm: 'Calm', sharp: 'Sharp', soft: 'Soft', bold: 'Bold' },
  light: { accent: 'Accent colour', background: 'Background colour', text: 'Text colour' },
  dark: {
    accent: 'Accent on dark pages',
    background: 'Background on dark pages',
    text: 'Text on dark pages',
  },
  densities: { compact: 'Compact', normal: 'Normal', roomy: 'Roomy' },
  shadows: { none: 'None', soft: 'Soft', strong: 'Strong' },
  progresses: { words: 'Words', dots: 'Dots', bar: 'Bar', none: 'None' },
  spotlights: { off: 'Off', dim: 'Dim the page', block: 'Dim and block the page' },
  sides: { start: 'Start', end: 'End' },
}

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
  <ChoiceField path={['theme', name]} label={words.fields[name]} names={names} unsaid="Not set" />
)

export const ThemeFields = () => (
  <MappingFields path={['theme']} name="Look">
    <FieldGroup>
      <Word name="preset" names={words.presets} />
      <Colours path={['theme']} names={words.light} />
      <MappingFields path={['theme', 'dark']} name="Colours on dark pages">
        <Colours path={['theme', 'dark']} names={words.dark} />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title="Text and shape">
      <MappingFields path={['theme', 'font']} name="Fonts">
        <div class="field-row">
          <TextField path={['theme', 'font', 'family']} label="Fonts" isCode />
          <NumberField path={['theme', 'font', 'size']} label="Text size" />
        </div>
      </MappingFields>
      <div class="field-row">
        <Word name="density" names={words.densities} />
        <Word name="shadow" names={words.shadows} />
        <NumberField path={['theme', 'radius']} label={flowFormWords.fields.radius} />
        <MappingFields path={['theme', 'border']} name="Line width">
          <NumberField path={['theme', 'border', 'width']} label="Line width" />
        </MappingFields>
      </div>
      <MappingFields path={['theme', 'border']} name="Line colour">
        <ColourField path={['theme', 'border', 'color']} label="Line colour" />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title="Around the text">
      <div class="field-row">
        <Word name="progress" names={words.progresses} />
        <Word name="spotlight" names={words.spotlights} />
      </div>
      <MappingFields path={['theme', 'launcher']} name="Launcher text">
        <div class="field-row">
          <TextField path={['theme', 'launcher', 'label']} label="Launcher text" />
          <ChoiceField
            path={['theme', 'launcher', 'side']}
            label="Launcher side"
            names={words.sides}
            unsaid="Not set"
          />
        </div>
      </MappingFields>
      <TextField path={['theme', 'logo']} label="Logo" isCode />
      <MappingFields path={['theme', 'dark']} name="Colours on dark pages">
        <TextField path={['theme', 'dark', 'logo']} label="Logo on dark pages" isCode />
      </MappingFields>
      <NumberField path={['theme', 'zIndex']} label="Layer" />
    </FieldGroup>
  </MappingFields>
)
