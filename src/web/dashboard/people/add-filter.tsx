import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRead } from '../api/read.ts'
import { type DraftAnswer, flowPath, writtenIn } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { typedValue } from '../parts/format.ts'
import { Select } from '../parts/select.tsx'
import { TextField } from '../parts/text-field.tsx'
import { answersTo } from './answer-options.ts'
import { comparisons, type FlowCondition, outcomes, type PeopleFilter } from './filter.ts'

interface Adding {
  onAdd: (more: PeopleFilter) => void
  onClose: () => void
}

const entriesOf = <Key extends string>(of: Readonly<Record<Key, string>>) =>
  Object.entries(of) as [Key, string][]

const FilterDialog = ({
  title,
  onSubmit,
  onClose,
  children,
}: {
  title: string
  onSubmit: () => void
  onClose: () => void
  children: ComponentChildren
}) => (
  <Dialog title={title} onClose={onClose}>
    <form
      class="stack"
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      <div class="dialog-end row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary">
          Add filter
        </Button>
      </div>
    </form>
  </Dialog>
)

/** Adds a condition on a trait. */
export function AddTrait({ traits, onAdd, onClose }: Adding & { traits: readonly string[] }) {
  const attribute = useSignal(traits[0] ?? '')
  const op = useSignal<keyof typeof comparisons>('eq')
  const typed = useSignal('')
  const value = op.value === 'exists' ? true : typedValue(typed.value.trim())
  return (
    <FilterDialog
      title="Filter by trait"
      onClose={onClose}
      onSubmit={() => {
        const compared = op.value === 'contains' ? typed.value.trim() : value
        onAdd({ rules: [{ attribute: attribute.value, op: op.value, value: compared }] })
      }}
    >
      <Select
        label="Trait"
        value={attribute.value}
        options={traits.map(name => [name, name] as const)}
        onChange={name => (attribute.value = name)}
      />
      <Select
        label="Comparison"
        value={op.value}
        options={entriesOf(comparisons)}
        onChange={chosen => (op.value = chosen)}
      />
      {op.value !== 'exists' && (
        <TextField
          label="Value"
          value={typed.value}
          maxLength={64}
          isRequired
          onChange={text => (typed.value = text)}
        />
      )}
    </FilterDialog>
  )
}

/** Adds a condition on a flow. */
export function AddFlow({ flows, onAdd, onClose }: Adding & { flows: readonly AuthoredFlow[] }) {
  const flow = useSignal(flows[0]?.key ?? '')
  const state = useSignal<FlowCondition['outcome'] | ''>('')
  const leftAt = useSignal('')
  const question = useSignal('')
  const given = useSignal('')
  const draft = useRead<DraftAnswer>(flow.value ? flowPath(flow.value, '/draft') : null)
  const steps = draft.data ? writtenIn(draft.data).steps : []
  const questions = steps.filter(({ question }) => question)
  const answers = questions.filter(({ key }) => key === question.value).flatMap(answersTo)
  return (
    <FilterDialog
      title="Filter by flow"
      onClose={onClose}
      onSubmit={() => {
        const condition: FlowCondition = {
          flow: flow.value,
          ...(state.value && { outcome: state.value }),
          ...(leftAt.value && { leftAt: leftAt.value }),
          ...(question.value && {
            answer: { step: question.value, ...JSON.parse(given.value || '{}') },
          }),
        }
        onAdd({ flows: [condition] })
      }}
    >
      <Select
        label="Flow"
        value={flow.value}
        options={flows.map(({ key, name }) => [key, name] as const)}
        onChange={key => {
          flow.value = key
          leftAt.value = ''
          question.value = ''
          given.value = ''
        }}
      />
      <Select
        label="Outcome"
        value={state.value ?? ''}
        none="Seen, with any outcome"
        options={entriesOf(outcomes)}
        onChange={chosen => (state.value = chosen)}
      />
      {steps.length > 0 && state.value !== 'not_met' && (
        <Select
          label="Left at step"
          value={leftAt.value}
          none="Any step"
          options={steps.map(({ key, title }) => [key, title || key] as const)}
          onChange={key => (leftAt.value = key)}
        />
      )}
      {questions.length > 0 && state.value !== 'not_met' && (
        <Select
          label="Answered"
          value={question.value}
          none="Any question, or none"
          options={questions.map(({ key, title }) => [key, title || key] as const)}
          onChange={key => {
            question.value = key
            given.value = ''
          }}
        />
      )}
      {answers.length > 0 && (
        <Select
          label="Answer"
          value={given.value}
          none="Any answer"
          options={answers.map(([answer, name]) => [JSON.stringify(answer), name] as const)}
          onChange={answer => (given.value = answer)}
        />
      )}
    </FilterDialog>
  )
}
