import { useSignal } from '@preact/signals'
import { operators } from '../../../../core/flow/names.ts'
import { isMapping, type Mapping, type Path, type Plain } from '../../../../core/flow/plain.ts'
import { Combobox } from '../../parts/combobox.tsx'
import type { FieldProps } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { mappingsAt, optionsOf, textOf, withValue } from './flow-json.ts'
import { pointerOf, problemsUnder, useForm } from './form.ts'
import { StepPicker } from './pickers.tsx'
import { Problems } from './problems.tsx'
import { isList, readValue, valueForOp, writeValue } from './rule-value.ts'
import type { ControlProps } from './table.ts'
import { useTraits, useTraitValues } from './traits.ts'

/** One condition on a person: a trait and, for steps, an answer or an event. */

const kinds = ['attribute', 'answer', 'event'] as const
type Kind = (typeof kinds)[number]

const kindNames = { attribute: 'A trait', answer: 'An answer', event: 'An event' } as const

/** What a rule about something else begins with. */
const fresh: Record<Kind, (flow: Mapping) => Mapping> = {
  attribute: () => ({ attribute: '', op: 'eq' }),
  answer: flow => ({ answer: textOf(mappingsAt(flow, ['steps'])[0]?.key), op: 'eq' }),
  event: () => ({ event: '' }),
}

const asOptions = (texts: readonly string[]) => texts.map(text => ({ value: text, label: text }))

export function RuleField(props: ControlProps) {
  const { path, value, problems } = props
  const { change } = useForm()
  const rule = isMapping(value) ? value : {}
  const kind = kinds.find(one => one in rule) ?? 'attribute'
  const { op } = rule
  const at = (name: string): Path => [...path, name]
  const put = (next: { [name: string]: Plain | undefined }) => {
    const kept = Object.entries({ ...rule, ...next }).filter(([, one]) => one !== undefined)
    change(now => withValue(now, path, Object.fromEntries(kept) as Mapping) as Mapping)
  }
  const frame = (label: string, name: string): FieldProps => ({
    label,
    problem: problemsUnder(problems, at(name)),
    isProblemOld: true,
  })
  const isTracked = kind === 'event' && op === undefined
  // A name stays while it is empty. Otherwise the rule would be about something else.
  const name = { value: textOf(rule[kind]), onChange: (text: string) => put({ [kind]: text }) }
  return (
    <div class="grid fields">
      {path[0] === 'steps' && (
        <Select
          label="About"
          value={kind}
          options={kinds.map(one => [one, kindNames[one]] as const)}
          onChange={next => change(now => withValue(now, path, fresh[next](now)) as Mapping)}
        />
      )}
      {kind === 'attribute' && <TraitName {...frame('Trait', kind)} {...name} />}
      {kind === 'event' && <TextField {...frame('Event', kind)} {...name} />}
      {kind === 'answer' && (
        <StepPicker
          {...props}
          frame={frame('Answer to', kind)}
          path={at(kind)}
          value={rule.answer}
          write={answer => put({ answer: answer ?? '' })}
        />
      )}
      {!isTracked && (
        <Select
          {...frame('Condition', 'op')}
          value={textOf(op)}
          options={optionsOf(at('op')).map(([word]) => [word, operators[word] ?? word] as const)}
          onChange={word => put({ op: word, value: valueForOp(rule.value, word) })}
        />
      )}
      {isTracked || op === 'exists' ? (
        <Select
          {...frame(isTracked ? 'Person' : 'Value', 'value')}
          value={rule.value === false ? 'no' : 'yes'}
          options={[
            ['yes', isTracked ? 'has sent it' : 'is set'],
            ['no', isTracked ? 'has not sent it' : 'is not set'],
          ]}
          onChange={chosen => put({ value: chosen === 'no' ? false : undefined })}
        />
      ) : (
        <RuleValue
          key={textOf(op)}
          {...frame(isList(op) ? 'Values' : 'Value', 'value')}
          hint={isList(op) && 'Separated by commas'}
          op={op}
          trait={kind === 'attribute' ? textOf(rule.attribute) : ''}
          value={rule.value}
          write={next => put({ value: next === '' ? undefined : next })}
        />
      )}
      <Problems of={problems.filter(problem => problem.path === pointerOf(path))} />
    </div>
  )
}

/** A trait of the settings, or another that pages send. */
function TraitName(props: FieldProps & { value: string; onChange: (name: string) => void }) {
  const traits = useTraits()
  return <Combobox {...props} options={asOptions(traits)} canBeOther />
}

/** What is compared with. Of one value, those that people have are offered. */
function RuleValue({
  op,
  trait,
  value,
  write,
  ...frame
}: FieldProps & {
  op: unknown
  trait: string
  value: Plain | undefined
  write: (value: Plain) => void
}) {
  const typed = useSignal<string | null>(null)
  const seen = useTraitValues(trait)
  if (seen.length > 0 && !isList(op)) {
    return (
      <Combobox
        {...frame}
        options={asOptions(seen)}
        canBeOther
        value={writeValue(value)}
        onChange={text => write(readValue(text, op))}
      />
    )
  }
  return (
    <div onFocusOut={() => (typed.value = null)}>
      <TextField
        {...frame}
        value={typed.value ?? writeValue(value)}
        onChange={text => {
          typed.value = text
          write(readValue(text, op))
        }}
      />
    </div>
  )
}
