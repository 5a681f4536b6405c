import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { hourMs } from '../../../src/core/time/durations.ts'
import type { Journal, Kind, Request } from './journal.ts'

/** The parts of a published tour that its clients name. */
export interface Tour {
  flowId: string
  stepId: string
}

/** How old events are at most, so that runs belong to several days and some are old enough for segments. */
const oldestHours = 48

/**
 * The event with a number. Of ten in a row, five are custom ones, which sometimes tick an item, and five
 * belong to a run, which a later ten continues.
 */
function eventOf(id: string, number: number, { flowId, stepId }: Tour) {
  const [ten, place] = [Math.floor(number / 10), number % 10]
  const occurredAt = Date.now() - ((number * 7_919) % (oldestHours * hourMs))
  const userId = `user-${number % 70}`
  if (place === 0) return { id, occurredAt, kind: 'custom', name: 'did_first', userId: doerOf(id) }
  if (place < 5) return { id, occurredAt, kind: 'custom', name: 'x', userId }
  const kind = ['flow_started', 'step_viewed', 'flow_completed', 'flow_dismissed'][place % 4]
  const runId = `run-${place === 9 ? Math.max(0, ten - 30) : ten}`
  return { id, occurredAt, kind, flowId, runId, userId, ...(kind === 'step_viewed' && { stepId }) }
}

/** The person of an event that completes an item: one of its own, by whom the completed item is found. */
export const doerOf = (id: string) => `doer-of-${id}`

/** Whether an event ticks an item. */
export const ticksItem = (id: string) => id.endsWith('0')

/** The id of a new event that completes no item. */
export function newEventId(journal: Journal): string {
  const id = `event-${journal.newNumber()}`
  return ticksItem(id) ? newEventId(journal) : id
}

function newEvents(journal: Journal, tour: Tour, random: SeededRandom): Request {
  const count = random.chance(0.3) ? 1 : Math.ceil(random.between(1, 40))
  const numbers = Array.from({ length: count }, () => journal.newNumber())
  const events = numbers.map(number => eventOf(`event-${number}`, number, tour))
  // Repeats some on purpose: some that were acknowledged before, and one of this very batch.
  const known = [...journal.items.event.acknowledged].slice(-3)
  const again = known.map(id => eventOf(id, Number(id.slice('event-'.length)), tour))
  const sent = [...events, ...again, ...events.slice(0, Number(random.chance(0.3)))]
  return { kind: 'event', path: '/events', body: { events: sent }, names: sent.map(({ id }) => id) }
}

/** Enough runs for a column segment, begun long enough ago to be at rest. */
export const oldRuns = (journal: Journal, { flowId }: Tour): Request[] =>
  Array.from({ length: 90 }, () => {
    const names = Array.from({ length: 50 }, () => newEventId(journal))
    const about = { kind: 'flow_started', flowId, occurredAt: Date.now() - 2 * hourMs }
    const events = names.map(id => ({ ...about, id, runId: id, userId: id }))
    return { kind: 'event', path: '/events', body: { events }, names }
  })

const bodies: Record<Exclude<Kind, 'event'>, (name: string, tour: Tour) => [string, unknown]> = {
  completion: (userId, { flowId }) => [
    `/flows/${flowId}/complete`,
    { userId, completedAt: Date.now() },
  ],
  tick: (userId, { flowId }) => [
    `/flows/${flowId}/checklist-progress`,
    { userId, items: [{ key: 'second', completed: true }] },
  ],
  'health report': (name, { stepId }) => [
    `/steps/${stepId}/health`,
    { outcome: 'found', userId: name, message: name },
  ],
  fingerprint: (name, { stepId }) => [
    `/steps/${stepId}/fingerprint`,
    {
      fingerprint: { matchCount: 1, tag: 'button', id: 'new' },
      url: `https://app.example/${name}`,
    },
  ],
}

/** A request with items that nobody has sent before; mostly events, as from a page. */
export function newRequest(journal: Journal, tour: Tour, random: SeededRandom): Request {
  const kind = random.pick<Kind>([
    ...Array<Kind>(6).fill('event'),
    'completion',
    'tick',
    'health report',
    'fingerprint',
  ])
  if (kind === 'event') return newEvents(journal, tour, random)
  const name = `${kind.replace(' ', '-')}-${journal.newNumber()}`
  const [path, body] = bodies[kind](name, tour)
  return { kind, path, body, names: [name] }
}
