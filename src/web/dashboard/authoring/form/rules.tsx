import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { isMapping, type Mapping, type Plain } from '../../../../core/flow/plain.ts'
import { Dropdown } from './dropdown.tsx'
import { optionsOf, textOf, withValue } from './flow-json.ts'
import { pointerOf, problemsUnder, useForm } from './form.ts'
import { Frame, Problems } from './frame.tsx'
import { operators } from './names.ts'
import { StepSelect } from './pickers.tsx'
import { isList, readValue, valueForOp, writeValue } from './rule-value.ts'
import type { ControlProps } from './table.ts'
import { useTraits, useTraitValues } from './traits.ts'

/** One condition on a person: a trait and, for steps, an answer or an event. */

const kinds = ['attribute', 'answer', 'event'] as const
type Kind = (typeof kinds)[number]

const kindNames = { attribute: 'A trait', answer: 'An answer', event: 'An event' } as const
const nameLabels = { attribute: 'Trait', answer: 'Answer to', event: 'Event' } as const

/** What a rule about something else begins with. */
const fresh: Record<Kind, (flow: Mapping) => Mapping> = {
  attribute: () => ({ attribute: '', op: 'eq' }),
  answer: flow => {
    const [first] = Array.isArray(flow.steps) ? flow.steps : []
    return { answer: textOf(isMapping(first) ? first.key : ''), op: 'eq' }
  },
  event: () => ({ event: '' }),
}

export function RuleField({ field, path, value, flow, part }: ControlProps) {
  const { change, problems } = useForm()
  const rule = isMapping(value) ? value : {}
  const kind = kinds.find(one => one in rule) ?? 'attribute'
  const isOfStep = path[0] === 'steps'
  const at = (name: string) => [...path, name]
  const put = (next: { [name: string]: Plain | undefined }) => {
    const kept = Object.entries({ ...rule, ...next }).filter(([, one]) => one !== undefined)
    change(now => withValue(now, path, Object.fromEntries(kept) as Mapping) as Mapping)
  }
  const of = (name: string) => problemsUnder(problems, at(name))
  const { op } = rule
  const isTracked = kind === 'event' && op === undefined
  return (
    <>
      {isOfStep && (
        <Frame label="About" path={path} problems={[]}>
          {wiring => (
            <Dropdown
              {...wiring}
              value={kind}
              options={kinds.map(one => [one, kindNames[one]])}
              onChoose={next => change(now => withValue(now, path, fresh[next](now)) as Mapping)}
            />
          )}
        </Frame>
      )}
      <Frame label={nameLabels[kind]} path={at(kind)} problems={of(kind)}>
        {wiring =>
          kind === 'answer' ? (
            <StepSelect
              {...{ field, path: at(kind), value: rule.answer, flow, part, wiring }}
              write={answer => put({ answer: answer ?? '' })}
            />
          ) : (
            <RuleName
              wiring={wiring}
              isTrait={kind === 'attribute'}
              value={textOf(rule[kind])}
              // A name stays while it is empty. Otherwise the rule would be about something else.
              write={name => put({ [kind]: name })}
            />
          )
        }
      </Frame>
      {!isTracked && (
        <Frame label="Condition" path={at('op')} problems={of('op')}>
          {wiring => (
            <Dropdown
              {...wiring}
              value={textOf(op)}
              options={optionsOf(at('op')).map(([word]) => [word, operators[word] ?? word])}
              onChoose={word => put({ op: word, value: valueForOp(rule.value, word) })}
            />
          )}
        </Frame>
      )}
      <Frame
        label={isTracked ? 'Person' : isList(op) ? 'Values, separated by commas' : 'Value'}
        path={at('value')}
        problems={of('value')}
      >
        {wiring => {
          if (isTracked || op === 'exists') {
            const names = isTracked ? ['has sent it', 'has not sent it'] : ['is set', 'is not set']
            return (
              <Dropdown
                {...wiring}
                value={rule.value === false ? 'no' : 'yes'}
                options={[
                  ['yes', names[0]!],
                  ['no', names[1]!],
                ]}
                onChoose={chosen => put({ value: chosen === 'no' ? false : undefined })}
              />
            )
          }
          return (
            <RuleValue
              key={textOf(op)}
              {...{ wiring, op }}
              trait={kind === 'attribute' ? textOf(rule.attribute) : ''}
              value={rule.value}
              write={next => put({ value: next === '' ? undefined : next })}
            />
          )
        }}
      </Frame>
      <Problems of={problems.filter(problem => problem.path === pointerOf(path))} />
    </>
  )
}

type Wired = { wiring: object }

/** The name of a trait or of an event. */
function RuleName({
  wiring,
  isTrait,
  value,
  write,
}: Wired & { isTrait: boolean; value: string; write: (name: string) => void }) {
  const id = useId()
  const traits = useTraits()
  return (
    <>
      <input
        {...wiring}
        class="input"
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        list={isTrait ? id : undefined}
        value={value}
        onInput={event => write(event.currentTarget.value)}
      />
      {isTrait && <Suggestions id={id} of={traits} />}
    </>
  )
}

const Suggestions = ({ id, of }: { id: string; of: readonly string[] }) => (
  <datalist id={id}>
    {of.map(one => (
      <option key={one} value={one} />
    ))}
  </datalist>
)

/** What is compared with: what is typed stays as typed for as long as somebody types. */
function RuleValue({
  wiring,
  op,
  trait,
  value,
  write,
}: Wired & {
  op: unknown
  trait: string
  value: Plain | undefined
  write: (value: Plain) => void
}) {
  const id = useId()
  const typed = useSignal<string | null>(null)
  const seen = useTraitValues(trait)
  return (
    <>
      <input
        {...wiring}
        class="input"
        dir="auto"
        autocomplete="off"
        list={id}
        value={typed.value ?? writeValue(value)}
        onInput={({ currentTarget: { value: text } }) => {
          typed.value = text
          write(readValue(text, op))
        }}
        onBlur={() => (typed.value = null)}
      />
      <Suggestions id={id} of={seen} />
    </>
  )
}
