import { isMapping, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { ChoiceField } from './choice-fields.tsx'
import { Problems } from './field-frame.tsx'
import { hintOf, kindOf } from './fields.ts'
import { useForm } from './form-context.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { FieldGroup, KeptFields, MappingFields, RareFields } from './parts-of-flow.tsx'
import { ThemeFields } from './theme-fields.tsx'
import { useNewKey } from './use-new-key.ts'

const { fields } = words

/** Mappings of a theme in which a file may have fields that the form does not know. */
const ofTheme = ['dark', 'font', 'border', 'launcher'].map(name => ['theme', name])

/** What the flow is, how often it is seen, and how it looks. */
export function FlowPart({ isKeyNew }: { isKeyNew: boolean }) {
  const { flow, problemsAt } = useForm()
  const key = valueAt(flow, ['key'])
  const kind = kindOf(flow)
  const onName = useNewKey(isKeyNew)
  return (
    <>
      <FieldGroup>
        <TextField
          path={['name']}
          label={fields.name}
          placeholder={String(key ?? '')}
          onText={onName}
        />
        <TextField
          path={['title']}
          label={fields.heading}
          placeholder={String(valueAt(flow, ['name']) ?? key ?? '')}
        />
        <ChoiceField
          path={['kind']}
          label={fields.kind}
          names={words.kinds}
          chosen={kind}
          looks="cards"
        />
        <ChoiceField
          path={['frequency']}
          label={fields.frequency}
          names={words.frequencies}
          looks="cards"
        />
        {(kind === 'checklist' || isMapping(flow.checklist)) && (
          <MappingFields path={['checklist']} name={words.kinds.checklist}>
            <ChoiceField path={['checklist', 'order']} label={fields.order} names={words.orders} />
          </MappingFields>
        )}
      </FieldGroup>
      <RareFields title={words.lookText} places={['/theme']}>
        <ThemeFields />
      </RareFields>
      <RareFields title={words.moreText} places={['/priority', '/key']}>
        <NumberField path={['priority']} label={fields.priority} />
        {isKeyNew ? (
          <TextField path={['key']} label={fields.key} isCode />
        ) : (
          <div class="field">
            <p class="field-name">{fields.key}</p>
            <p>
              <code>{String(key)}</code>
            </p>
            <Problems of={problemsAt(['key'])} />
            <p class="hint">
              {hintOf(['key'])} {words.keyKept}
            </p>
          </div>
        )}
      </RareFields>
      <KeptFields paths={[[], ['theme'], ...ofTheme, ['checklist']]} />
    </>
  )
}
