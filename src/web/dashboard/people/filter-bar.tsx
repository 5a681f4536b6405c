import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { type DraftAnswer, flowPath, writtenIn } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import { AddFlow, AddTrait } from './add-filter.tsx'
import {
  conditionText,
  type FlowCondition,
  filterIn,
  isEmpty,
  listOf,
  type PeopleFilter,
  ruleText,
} from './filter.ts'
import type { SegmentList } from './segment.tsx'
import { SaveSegment } from './segment.tsx'

/** How long somebody stops typing before the list is searched, milliseconds. */
const pauseMs = 300

const Chip = ({ text, onRemove }: { text: string; onRemove: () => void }) => (
  <li class="chip line gap-1">
    {text}
    <IconButton icon="close" label={`Remove ${text}`} onClick={onRemove} />
  </li>
)

/** A condition on a flow, by the names of the flow and its steps. */
function FlowChip({
  condition,
  name,
  onRemove,
}: {
  condition: FlowCondition
  name: string
  onRemove: () => void
}) {
  const needsSteps = condition.leftAt ?? condition.answer
  const draft = useRead<DraftAnswer>(needsSteps ? flowPath(condition.flow, '/draft') : null)
  const steps = draft.data ? writtenIn(draft.data).steps : []
  return <Chip text={conditionText(condition, name, steps)} onRemove={onRemove} />
}

/** The filters of the list of people, all in its address. What is done with the list stands at their end. */
export function FilterBar({
  traits,
  flows,
  segments,
  children,
}: {
  traits: readonly string[]
  flows: readonly AuthoredFlow[]
  segments: SegmentList['segments']
  children: ComponentChildren
}) {
  const { filters, setFilters } = useFilters()
  const adding = useSignal<'trait' | 'flow' | 'segment' | null>(null)
  const filter = filterIn(filters.filter)
  const { rules = [], flows: conditions = [] } = filter
  const close = () => (adding.value = null)
  const typed = useSignal<string | null>(null)
  const pause = useRef(0)
  const search = (text: string) => {
    typed.value = text
    clearTimeout(pause.current)
    const changed = { q: text.trim(), after: null }
    const options = { replace: filters.q !== undefined }
    pause.current = window.setTimeout(() => setFilters(changed, options), pauseMs)
  }
  const set = (changed: PeopleFilter) => setFilters(listOf({ ...filter, ...changed }))
  const add = (more: PeopleFilter) => {
    set({
      rules: [...rules, ...(more.rules ?? [])],
      flows: [...conditions, ...(more.flows ?? [])],
    })
    close()
  }
  const nameOf = (key: string) => flows.find(flow => flow.key === key)?.name ?? key
  return (
    <>
      <div class="controls row below-4">
        <input
          class="input search"
          type="search"
          maxLength={128}
          autocomplete="off"
          spellcheck={false}
          aria-label="Search by email or ID"
          placeholder="Search by email or ID"
          value={typed.value ?? filters.q ?? ''}
          onInput={event => search(event.currentTarget.value)}
          onBlur={() => (typed.value = null)}
        />
        {segments.length > 0 && (
          <Select
            isInline
            label="Segment"
            value={filters.segment ?? ''}
            none="Everyone"
            options={segments.map(({ id, name }) => [id, name] as const)}
            onChange={segment => setFilters({ segment, after: null })}
          />
        )}
        {traits.length > 0 && (
          <Button icon="add" onClick={() => (adding.value = 'trait')}>
            Filter by trait
          </Button>
        )}
        {flows.length > 0 && (
          <Button icon="add" onClick={() => (adding.value = 'flow')}>
            Filter by flow
          </Button>
        )}
        {!isEmpty(filter) && may('flows:write') && (
          <Button onClick={() => (adding.value = 'segment')}>Save as segment</Button>
        )}
        {children}
      </div>
      {!isEmpty(filter) && (
        <ul class="row below-4" aria-label="Filters">
          {rules.map((rule, i) => (
            <Chip
              key={ruleText(rule)}
              text={ruleText(rule)}
              onRemove={() => set({ rules: rules.toSpliced(i, 1) })}
            />
          ))}
          {conditions.map((condition, i) => (
            <FlowChip
              key={JSON.stringify(condition)}
              condition={condition}
              name={nameOf(condition.flow)}
              onRemove={() => set({ flows: conditions.toSpliced(i, 1) })}
            />
          ))}
        </ul>
      )}
      {adding.value === 'trait' && <AddTrait traits={traits} onAdd={add} onClose={close} />}
      {adding.value === 'flow' && <AddFlow flows={flows} onAdd={add} onClose={close} />}
      {adding.value === 'segment' && (
        <SaveSegment
          filter={filter}
          onSaved={segment => setFilters({ ...listOf({}), segment })}
          onClose={close}
        />
      )}
    </>
  )
}
