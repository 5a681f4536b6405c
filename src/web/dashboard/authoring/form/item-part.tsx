import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { useForm } from './form-context.ts'
import { LongField, TextField } from './form-fields.tsx'
import { FieldGroup, KeptFields, MappingFields, RareFields } from './parts-of-flow.tsx'
import { pointerOf } from './problems.ts'

const { fields } = words

/** Everything about one item of a checklist. */
export function ItemPart({ path, onKey }: { path: Path; onKey: (key: string) => void }) {
  const { flow } = useForm()
  if (!isMapping(valueAt(flow, path))) return null
  const completeOn: Path = [...path, 'completeOn']
  return (
    <>
      <FieldGroup>
        <TextField path={[...path, 'title']} label={fields.title} />
        <LongField path={[...path, 'description']} label={fields.description} rows={3} />
      </FieldGroup>
      <FieldGroup title={words.done}>
        <MappingFields path={completeOn} name={fields.completeOn}>
          <TextField
            path={[...completeOn, 'event']}
            label={fields.completeOn}
            hintPath={completeOn}
            isEmptyNothing
            isCode
          />
        </MappingFields>
        <TextField path={[...path, 'href']} label={fields.href} isCode />
      </FieldGroup>
      <RareFields title={fields.key} places={[`${pointerOf(path)}/key`]}>
        <TextField path={[...path, 'key']} label={fields.key} isCode onText={onKey} />
      </RareFields>
      <KeptFields paths={[path, completeOn]} />
    </>
  )
}
