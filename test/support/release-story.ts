import { parse } from 'csv-parse/sync'

/**
 * A small history with something of every kind, told to a server through its API: what each release is
 * asked to store, and what a later one must answer about it.
 */

export const storyFlows = [
  {
    name: 'tour.yaml',
    text: `key: tour
steps:
  - { key: hello, kind: modal, title: Hello }
  - { key: menu, kind: tooltip, title: The menu, target: { selector: '#menu' } }
  - { key: bye, kind: modal, title: Bye }
checklist:
  items:
    - { key: first, title: First, completeOn: { event: did_first } }
    - { key: second, title: Second }
`,
  },
  {
    name: 'tour-again.yaml',
    text: `key: tour
steps:
  - { key: hello, kind: modal, title: Hello again }
  - { key: menu, kind: tooltip, title: The menu, target: { selector: '#menu' } }
checklist:
  items:
    - { key: first, title: First, completeOn: { event: did_first } }
    - { key: second, title: Second }
`,
  },
]

/** Everything that the story reports happened in the week that begins here. */
const weekBeganAt = Date.UTC(2026, 10, 14)
const storyRange = 'from=2026-11-14&to=2026-11-20'
/** Any later time was not reported but is a server's own, which no two stories share. */
const weekEnded = '2026-11-21'

const [secondMs, hourMs, dayMs] = [1_000, 3_600_000, 86_400_000]

export type Ask = (method: string, path: string, body?: unknown) => Promise<Response>

export interface StoryIds {
  flow: string
  steps: Record<string, string>
  items: Record<string, string>
}

interface FlowAnswer {
  id: string
  key: string
  steps: { id: string; key: string }[]
  checklist: { items: { id: string; key: string }[] }
}

/** @param flows what `GET /flows` says once the first version is published, which has all steps */
function idsIn({ flows }: { flows: FlowAnswer[] }): StoryIds {
  const flow = flows.find(({ key }) => key === 'tour')
  if (!flow) throw new Error('There is no tour')
  const byKey = (parts: { id: string; key: string }[]) =>
    Object.fromEntries(parts.map(({ id, key }) => [key, id]))
  return { flow: flow.id, steps: byKey(flow.steps), items: byKey(flow.checklist.items) }
}

export const storyIds = async (ask: Ask): Promise<StoryIds> =>
  idsIn((await (await ask('GET', '/flows')).json()) as { flows: FlowAnswer[] })

/** The events of a person's week. Nothing in it is random. */
function* eventsOf(person: number, { flow: flowId, steps, items }: StoryIds) {
  let count = 0
  const startedAt = weekBeganAt + (person % 6) * dayMs + person * 1_234_567
  const of = (kind: string, afterSeconds: number, more: object = {}) => ({
    id: `é-${person}-${count++}`,
    kind,
    ...(person % 5 === 4
      ? { anonymousId: `visitor ${person}` }
      : { userId: `user ${person % 50}` }),
    ...(kind === 'custom' ? {} : { flowId }),
    ...(person % 4 === 3 ? { sessionId: `s${person}` } : { runId: `run-${person}` }),
    ...(person % 3 === 0 ? {} : { flowVersion: person % 3 }),
    occurredAt: startedAt + afterSeconds * secondMs,
    url: `https://app.example/projects/${person}`,
    ...more,
  })
  yield of('flow_started', 0, { properties: { plan: 'größer', nested: { list: [person, null] } } })
  yield of('step_viewed', 1, { stepId: steps.hello })
  yield of('step_completed', 3 + person, { stepId: steps.hello })
  if (person % 2 === 0) yield of('step_viewed', 5 + person, { stepId: steps.menu })
  if (person % 7 === 0) yield of('target_missing', 6 + person, { stepId: steps.menu })
  if (person % 10 === 0)
    yield of('step_skipped', 7 + person, { stepId: steps.menu, reason: 'late' })
  if (person % 3 === 1) yield of('step_viewed', 9 + person, { stepId: steps.bye })
  if (person % 3 === 1) yield of('flow_completed', 20 + person * 3)
  if (person % 3 === 2) yield of('flow_dismissed', 25, { reason: 'esc' })
  if (person % 6 === 0) yield of('checklist_opened', 30)
  if (person % 6 === 0) yield of('custom', 40, { name: 'did_first' })
  if (person % 12 === 0) yield of('item_completed', 50, { itemId: items.second })
}

export const storyEvents = (ids: StoryIds) =>
  Array.from({ length: 60 }, (_, person) => [...eventsOf(person, ids)]).flat()

export function* batchesOf<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}

export const storyFingerprint = {
  fingerprint: { selector: '#menu', matchCount: 1, tag: 'nav', id: 'menu', role: 'navigation' },
  flowVersion: 2,
}

/** Sends the whole story; every request must be accepted. */
export async function tellStory(ask: Ask, ids: StoryIds): Promise<void> {
  const told = async (path: string, body: unknown) => {
    const response = await ask('POST', path, body)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  for (const events of batchesOf(storyEvents(ids), 37)) await told('/events', { events })
  // One event is already stored, and one is of an unknown flow. Neither may change a number.
  const [first] = storyEvents(ids)
  await told('/events', { events: [first, { ...first, id: 'lost', flowId: 'flow_of_nobody' }] })
  const flow = `/flows/${ids.flow}`
  const completedAt = (hours: number) => new Date(weekBeganAt + hours * hourMs).toISOString()
  // One belongs to a run, one to no run since the person has none, and one precedes all of the person's runs.
  await told(`${flow}/complete`, { userId: 'user 2', completedAt: completedAt(150) })
  await told(`${flow}/complete`, { userId: 'only completed', completedAt: completedAt(50) })
  await told(`${flow}/complete`, { userId: 'user 41', completedAt: completedAt(1) })
  const ticked = (key: string, completed: boolean) => ({ items: [{ key, completed }] })
  await told(`${flow}/checklist-progress`, { userId: 'user 8', ...ticked('first', true) })
  await told(`${flow}/checklist-progress`, { userId: 'user 9', ...ticked('second', true) })
  await told(`${flow}/checklist-progress`, { userId: 'user 9', ...ticked('second', false) })
  for (let person = 0; person < 8; person++) {
    const outcome = person % 4 === 0 ? 'not_found' : 'found'
    await told(`/steps/${ids.steps.menu}/health`, { outcome, userId: `user ${person}` })
  }
  await told(`/steps/${ids.steps.menu}/fingerprint`, storyFingerprint)
}

/** A server's answers about the story, with keys in place of its own ids, and without its own times. */
export async function storyAnswers(asked: Ask, asAnalyst: Ask, ids: StoryIds) {
  const names = new Map([
    [ids.flow, 'FLOW'],
    ...Object.entries(ids.steps).map(([key, id]) => [id, `STEP ${key}`] as const),
    ...Object.entries(ids.items).map(([key, id]) => [id, `ITEM ${key}`] as const),
  ])
  const neutral = (value: string) => {
    if (/^\d{4}-\d\d-\d\dT/.test(value) && value > weekEnded) return 'LATER'
    return names.get(value) ?? value
  }
  const ofFlow = async (ask: Ask, path: string) => {
    const response = await ask('GET', `/flows/${ids.flow}/${path}`)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.text()
  }
  const analytics = async (query: string) => {
    const text = await ofFlow(asAnalyst, `analytics?${storyRange}${query}`)
    const { definitions: _, ...numbers } = JSON.parse(text, (key, value) => {
      // It is about now, and not about the story's week.
      if (key === 'health') return undefined
      return typeof value === 'string' ? neutral(value) : value
    })
    return numbers
  }
  const rows = async (kind: string) => {
    const text = await ofFlow(asAnalyst, `analytics/export.csv?${storyRange}&rows=${kind}`)
    const records = parse(text, { columns: true }) as Record<string, string>[]
    return records.map(row => {
      const cells = Object.entries(row).map(([name, cell]) => {
        // An event that the server itself made from a completion or a tick has an id of its own.
        const isOwn = name === 'id' && !cell.startsWith('é-')
        return [name, isOwn ? 'OWN' : neutral(cell)]
      })
      return Object.fromEntries(cells)
    })
  }
  const progress = async (user: string) =>
    JSON.parse(
      await ofFlow(asked, `checklist-progress?userId=${encodeURIComponent(user)}`),
      (_key, value) => (typeof value === 'string' ? neutral(value) : value),
    )
  return {
    all: await analytics(''),
    ofVersion1: await analytics('&version=1'),
    inBerlin: await analytics('&timezone=Europe/Berlin'),
    runs: await rows('runs'),
    // Releases differ in the order in which they store what follows from an event.
    events: (await rows('events')).map(row => JSON.stringify(row)).sort(),
    progress: await Promise.all(['user 8', 'user 9', 'user 0', 'user 41'].map(progress)),
  }
}
