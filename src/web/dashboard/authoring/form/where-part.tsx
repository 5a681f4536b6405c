import { type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { ChoiceField } from './choice-fields.tsx'
import { FieldFrame, KeptValue, SelectField } from './field-frame.tsx'
import { hintOf, orderOf } from './fields.ts'
import { useForm, useFormField } from './form-context.ts'
import { TextField } from './form-fields.tsx'
import { FieldGroup, KeptFields, MappingFields } from './parts-of-flow.tsx'
import { RuleList } from './rule-list.tsx'
import { isList, isWritable, readValue, valueForOp, writeValue } from './rule-value.ts'
import { useDraft } from './use-draft.ts'

const { fields } = words
const urls: Path = ['targeting', 'urls']
const audience: Path = ['targeting', 'audience']
const rules: Path = [...audience, 'rules']

/** How an address is compared, and what with. */
export const UrlFields = ({ path }: { path: Path }) => (
  <>
    <ChoiceField path={[...path, 'match']} label={fields.match} names={words.matches} hint="" />
    <TextField
      path={[...path, 'pattern']}
      label={fields.address}
      hint=""
      placeholder="/projects"
      isCode
    />
  </>
)

/** The value that an attribute is compared with. */
export function RuleValue({
  path,
  op,
  names = words.presence,
  label = isList(op) ? fields.values : fields.value,
}: {
  path: Path
  op: unknown
  /** The names for being present, and for being absent. */
  names?: { yes: string; no: string }
  label?: string
}) {
  const { value, problems, write } = useFormField([...path, 'value'])
  const [text, take] = useDraft(value, writeValue, typed => readValue(typed, op))
  if (!isWritable(value)) return <KeptValue label={label} value={value!} />
  if (op === 'exists') {
    return (
      <SelectField
        label={label}
        problems={problems}
        value={value === false ? 'no' : 'yes'}
        options={[
          ['yes', names.yes],
          ['no', names.no],
        ]}
        onChoose={chosen => write(chosen === 'no' ? false : undefined)}
      />
    )
  }
  return (
    <FieldFrame label={label} problems={problems}>
      {wiring => (
        <input
          {...wiring}
          class="input"
          dir="auto"
          autocomplete="off"
          value={text}
          onInput={event => write(take(event.currentTarget.value))}
        />
      )}
    </FieldFrame>
  )
}

const AudienceFields = ({ path, op }: { path: Path; op: unknown }) => (
  <>
    <TextField path={[...path, 'attribute']} label={fields.attribute} hint="" isCode />
    <OpAndValue path={path} op={op} />
  </>
)

/** How something is compared, and what with. */
export function OpAndValue({ path, op }: { path: Path; op: unknown }) {
  const { flow, apply } = useForm()
  const choose = (word: string) => {
    const at = [...path, 'value']
    const value = valueForOp(valueAt(flow, at), word)
    apply(
      { kind: 'set', path: [...path, 'op'], value: word },
      value === undefined
        ? { kind: 'unset', path: at }
        : { kind: 'set', path: at, value, order: orderOf(path) },
    )
  }
  return (
    <>
      <ChoiceField
        path={[...path, 'op']}
        label={fields.op}
        names={words.ops}
        hint=""
        onChoose={choose}
      />
      <RuleValue path={path} op={op} />
    </>
  )
}

/** The pages where the flow is shown, and the people who see it. */
export const WherePart = () => (
  <MappingFields path={['targeting']} name={words.where}>
    <FieldGroup title={words.pages} hint={`${hintOf(urls)} ${hintOf([...urls, 0, 'pattern'])}`}>
      <RuleList
        path={urls}
        nameOf={words.pageRule}
        add={words.addPage}
        fresh={{ match: 'prefix', pattern: '/' }}
        empty={words.everywhere}
        most={50}
      >
        {path => <UrlFields path={path} />}
      </RuleList>
    </FieldGroup>
    <FieldGroup title={words.people} hint={hintOf(rules)}>
      <MappingFields path={audience} name={words.people}>
        <RuleMatch path={audience} label={fields.audienceMatch} />
        <RuleList
          path={rules}
          nameOf={words.rule}
          add={words.addRule}
          fresh={{ attribute: '', op: 'eq' }}
          empty={words.everybody}
          most={50}
        >
          {(path, { op }) => <AudienceFields path={path} op={op} />}
        </RuleList>
        <p class="hint">{words.valueHint}</p>
      </MappingFields>
    </FieldGroup>
    <KeptFields paths={[['targeting'], audience]} />
  </MappingFields>
)

/** How many of the rules have to hold. This matters only if there are several. */
export function RuleMatch({ path, label }: { path: Path; label: string }) {
  const { flow } = useForm()
  const rules = valueAt(flow, [...path, 'rules'])
  const at: Path = [...path, 'match']
  if (valueAt(flow, at) === undefined && (!Array.isArray(rules) || rules.length < 2)) return null
  return (
    <div class="field-row">
      <ChoiceField path={at} label={label} names={words.audienceMatches} hint="" />
    </div>
  )
}
