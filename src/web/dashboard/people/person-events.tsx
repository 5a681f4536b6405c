import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { defaultZone, momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { useRead } from '../api/read.ts'
import { ask } from '../api/request.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Button } from '../parts/button.tsx'
import { formatCount, none } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { type Person, type PersonEvent, type PersonHistory, personPath } from './person.ts'

const eventNames: Readonly<Record<string, string>> = {
  flow_started: 'Started',
  step_viewed: 'Saw a step',
  step_completed: 'Completed a step',
  step_skipped: 'Skipped a step',
  question_answered: 'Answered a question',
  flow_completed: 'Completed',
  flow_dismissed: 'Dismissed',
  target_missing: 'Element missing',
  checklist_opened: 'Opened the checklist',
  item_completed: 'Ticked an item',
  item_reopened: 'Unticked an item',
  flow_held_out: 'Held out',
  custom: 'Custom event',
}

const placeOf = ({ cursor }: PersonEvent) => Number.parseInt(cursor, 36)

/** What an event is about: its flow with step or item, or its own name. */
const aboutOf = (
  { flowKey, stepKey, itemKey, name, reason }: PersonEvent,
  flows: FlowList['flows'],
) =>
  [
    flows.find(({ key }) => key === flowKey)?.name ?? flowKey,
    stepKey ?? itemKey,
    name,
    reason?.replaceAll('_', ' '),
  ]
    .filter(Boolean)
    .join(' · ')

const columnsFor = (person: Person, flows: FlowList['flows']): Column<PersonEvent>[] => [
  {
    name: 'Time',
    cell: ({ occurredAt }) => (
      <time dateTime={occurredAt} title={occurredAt}>
        {momentHere(occurredAt)}
      </time>
    ),
  },
  {
    name: 'Event',
    isTitle: true,
    cell: ({ kind, userId }) => (
      <>
        {eventNames[kind] ?? kind}
        {person.kind === 'anonymous' && userId !== null && (
          <small class="row-note fine">by {userId}</small>
        )}
      </>
    ),
  },
  {
    name: 'Flow',
    cell: event => aboutOf(event, flows) || none,
  },
  {
    name: 'Page',
    cell: ({ url }) =>
      url === null ? (
        none
      ) : (
        <span class="event-url ellipsis" title={url}>
          {url}
        </span>
      ),
  },
]

/** The events read so far, the latest first. Those that came after the first page go on top. */
function useEvents(person: Person, { events, next }: PersonHistory) {
  const known = useSignal<readonly PersonEvent[]>(events)
  const earlier = useSignal(next)
  const { isBusy, refused, run } = useAction()
  const add = (more: readonly PersonEvent[]) => {
    const all = new Map([...known.peek(), ...more].map(event => [event.cursor, event]))
    known.value = [...all.values()].sort(
      (a, b) => b.occurredAt.localeCompare(a.occurredAt) || placeOf(b) - placeOf(a),
    )
  }
  useEffect(() => add(events), [events])
  const showMore = () =>
    run(async () => {
      const path = personPath(person, '/history', { before: earlier.value!, limit: '100' })
      const { value } = await ask<PersonHistory>(path)
      add(value!.events)
      earlier.value = value!.next
    })
  return { known: known.value, hasMore: earlier.value !== null, isBusy, refused, showMore }
}

/** The events of a person, as far back as the reader asks for. */
export function PersonEvents({ person, history }: { person: Person; history: PersonHistory }) {
  const flows = useRead<FlowList>(flowsPath).data?.flows ?? []
  const { known, hasMore, isBusy, refused, showMore } = useEvents(person, history)
  return (
    <Part
      title="Timeline"
      beside={known.length > 0 && <span class="hint">Latest first. Times in {defaultZone()}.</span>}
    >
      {known.length > 0 ? (
        <Table
          caption="Timeline"
          columns={columnsFor(person, flows)}
          rows={known}
          keyOf={({ cursor }) => cursor}
        />
      ) : (
        <p class="hint">{hasMore ? 'Show earlier events to search further back.' : 'No events'}</p>
      )}
      {hasMore ? (
        <div class="footnote">
          <Button isBusy={isBusy.value} onClick={showMore}>
            Show more
          </Button>
          <p class="problem" role="alert">
            {refused.value && 'Earlier events could not be loaded. Try again.'}
          </p>
        </div>
      ) : (
        known.length > 0 && <p class="footnote fine">All {formatCount(known.length)} events</p>
      )}
    </Part>
  )
}
