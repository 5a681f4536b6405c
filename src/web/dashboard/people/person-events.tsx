import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { startReasonName } from '../analytics/start-reason.ts'
import { useAction } from '../api/action.ts'
import { ask } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { formatCount, formatDateTime, none } from '../parts/format.ts'
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

/** What happened, in words: an event of the page's own has the name that its authors gave it. */
const whatOf = ({ kind, name }: PersonEvent) =>
  kind === 'custom' && name !== null ? name : (eventNames[kind] ?? kind)

/** What an event is about: the title of a step or item, and why it happened. */
const detailOf = ({ kind, stepTitle, stepKey, itemTitle, itemKey, reason }: PersonEvent) =>
  [
    stepTitle ?? stepKey ?? itemTitle ?? itemKey,
    reason && ((kind === 'flow_started' && startReasonName(reason)) || reason.replaceAll('_', ' ')),
  ]
    .filter(Boolean)
    .join(' · ')

const columnsFor = (person: Person): Column<PersonEvent>[] => [
  {
    name: 'Time',
    cell: ({ occurredAt }) => <time dateTime={occurredAt}>{formatDateTime(occurredAt)}</time>,
  },
  {
    name: 'Event',
    isTitle: true,
    cell: event => (
      <>
        {whatOf(event)}
        {event.answer !== null && <bdi class="row-note written">“{event.answer}”</bdi>}
        {person.kind === 'anonymous' && event.userId !== null && (
          <small class="row-note fine">by {event.userId}</small>
        )}
      </>
    ),
  },
  {
    name: 'Flow',
    cell: event => (
      <>
        {event.flowName ?? event.flowKey ?? none}
        {detailOf(event) && <span class="row-note fine">{detailOf(event)}</span>}
      </>
    ),
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
  const { known, hasMore, isBusy, refused, showMore } = useEvents(person, history)
  return (
    <Part title="Timeline" beside={known.length > 0 && <span class="hint">Latest first</span>}>
      {known.length > 0 ? (
        <Table
          caption="Timeline"
          columns={columnsFor(person)}
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
