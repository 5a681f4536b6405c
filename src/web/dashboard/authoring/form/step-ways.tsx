import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { FieldFrame, KeptValue, SelectField } from './field-frame.tsx'
import { hintOf, orderOf } from './fields.ts'
import { useForm, useFormField } from './form-context.ts'
import { isPlain, TextField, textOf } from './form-fields.tsx'
import { FieldGroup, MappingFields } from './parts-of-flow.tsx'
import { RuleList } from './rule-list.tsx'
import { OpAndValue, RuleMatch, RuleValue } from './where-part.tsx'

/** The way that a tour takes: where buttons lead, and when a step is part of it. */

const { fields } = words

/** One of the flow's steps, by its key. */
function StepChoice({ path, label, none }: { path: Path; label: string; none?: string }) {
  const { flow } = useForm()
  const { value, problems, write } = useFormField(path)
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  const chosen = textOf(value)
  const steps = valueAt(flow, ['steps'])
  const known = (Array.isArray(steps) ? steps : []).flatMap((step, at) => {
    if (!isMapping(step) || typeof step.key !== 'string') return []
    const title = typeof step.title === 'string' && step.title !== '' ? step.title : step.key
    return [[step.key, words.stepAt(at + 1, title)] as const]
  })
  return (
    <SelectField
      label={label}
      problems={problems}
      value={chosen}
      options={known}
      none={none}
      onChoose={key => write(key || undefined)}
    />
  )
}

/** Where a button for going on leads: to the next step, unless another is chosen. */
export function Goto({ path, action }: { path: Path; action: unknown }) {
  const { flow } = useForm()
  const at: Path = [...path, 'goto']
  if (action !== 'next' && valueAt(flow, at) === undefined) return null
  return <StepChoice path={at} label={fields.goto} none={words.nextStep} />
}

/** What a rule can be about. */
const kinds = ['attribute', 'answer', 'event'] as const
type Kind = (typeof kinds)[number]

const kindOf = (rule: object): Kind => kinds.find(kind => kind in rule) ?? 'attribute'

function RuleKind({ path, kind }: { path: Path; kind: Kind }) {
  const { flow, apply } = useForm()
  const order = orderOf(path)
  const at = (name: string): Path => [...path, name]
  const choose = (next: Kind) => {
    const steps = valueAt(flow, ['steps'])
    const first = Array.isArray(steps) && isMapping(steps[0]) ? (steps[0].key ?? '') : ''
    const isEvent = next === 'event'
    apply(
      { kind: 'unset', path: at(kind) },
      { kind: 'set', path: at(next), value: next === 'answer' ? first : '', order },
      isEvent
        ? { kind: 'unset', path: at('op') }
        : { kind: 'set', path: at('op'), value: 'eq', order },
      { kind: 'unset', path: at('value') },
    )
  }
  return (
    <SelectField
      label={fields.ruleKind}
      problems={[]}
      value={kind}
      options={kinds.map(one => [one, words.ruleKinds[one]])}
      onChoose={choose}
    />
  )
}

/** A name that is kept even while it is empty, because otherwise the rule would be about something else. */
function RuleName({ path, label }: { path: Path; label: string }) {
  const { apply } = useForm()
  const { value, problems } = useFormField(path)
  const order = orderOf(path.slice(0, -1))
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  return (
    <FieldFrame label={label} problems={problems}>
      {wiring => (
        <input
          {...wiring}
          class="input code-input"
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          value={textOf(value)}
          onInput={event => apply({ kind: 'set', path, value: event.currentTarget.value, order })}
        />
      )}
    </FieldFrame>
  )
}

function RuleFields({ path, rule }: { path: Path; rule: { op?: unknown } }) {
  const kind = kindOf(rule)
  const at: Path = [...path, kind]
  return (
    <>
      <RuleKind path={path} kind={kind} />
      {kind === 'answer' ? (
        <StepChoice path={at} label={fields.answer} />
      ) : (
        <RuleName path={at} label={kind === 'event' ? fields.event : fields.attribute} />
      )}
      {kind === 'event' && rule.op === undefined ? (
        <RuleValue path={path} op="exists" label={fields.tracked} names={words.trackings} />
      ) : (
        <OpAndValue path={path} op={rule.op} />
      )}
    </>
  )
}

/** When the step is part of the tour. */
export function StepWhen({ path }: { path: Path }) {
  const { apply } = useForm()
  const at: Path = [...path, 'when']
  return (
    <FieldGroup title={words.stepWhen} hint={hintOf(at)}>
      <MappingFields path={at} name={words.stepWhen}>
        <RuleMatch path={at} label={fields.stepMatch} />
        <RuleList
          path={[...at, 'rules']}
          nameOf={words.rule}
          add={words.addRule}
          fresh={{ attribute: '', op: 'eq' }}
          empty={words.alwaysOnWay}
          most={20}
          onEmpty={() => apply({ kind: 'unset', path: at })}
        >
          {(at, rule) => <RuleFields path={at} rule={rule} />}
        </RuleList>
      </MappingFields>
    </FieldGroup>
  )
}

/** The page to which the tour leads visitors for this step. */
export const Navigate = ({ path }: { path: Path }) => (
  <TextField
    path={[...path, 'navigate']}
    label={fields.navigate}
    placeholder="/settings/people"
    isCode
  />
)
