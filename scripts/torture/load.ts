import type { SeededRandom } from '../../src/cli/demo/random.ts'
import { hourMs } from '../../src/core/time/durations.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import { apiOf, type ListedFlow, type Server, type Workplace } from '../support/binary.ts'
import { type Journal, type Kind, kinds, type Publication, type Request } from './journal.ts'

/** An organisation with a published tour, and what its clients have recorded. */
export interface Tenant {
  id: string
  slug: string
  snippetKey: string
  /** A management token that may publish. */
  token: string
  journal: Journal
}

/** Something that goes on at a server. */
export interface Load {
  /** Resolves once all clients have the response to their last request, or know that none will come. */
  stop(): Promise<void>
}

export interface LoadOptions {
  random: SeededRandom
  /** How many clients of each organisation send at once. */
  clients?: number
  /** How the server acknowledges events. */
  ack?: 'commit' | 'buffer'
  /** How long each client rests after a response, milliseconds. */
  restMs?: number
  /** What they send; everything by default. */
  only?: Kind
}

/** The parts of a published tour that its clients name. */
export interface Tour extends Pick<ListedFlow, 'version'> {
  flowId: string
  stepId: string
}

type Ask = ReturnType<typeof apiOf>

/** The tour of `withTour`, as callers see it; other flows have no checklist. */
export async function tourOf(ask: Ask): Promise<Tour> {
  const { flows } = (await (await ask('GET', '/flows')).json()) as {
    flows: (ListedFlow & { checklist: unknown })[]
  }
  const { id, steps, version } = flows.find(({ checklist }) => checklist !== null)!
  return { flowId: id, stepId: steps[0]!.id, version }
}

/** The pause before a client tries again, milliseconds; a server that is down stays down for longer. */
const pauseMs = 10

/** How old events are at most, so that runs belong to several days and some are old enough for blocks. */
const oldestHours = 48

/** One in so many runs is begun by a visitor who becomes a user. */
const runsOfVisitor = 7

/** The person of an event that completes an item: one of its own, by whom the completed item is found. */
export const doerOf = (id: string) => `doer-of-${id}`

/** Whether an event ticks an item. */
export const ticksItem = (id: string) => id.endsWith('0')

/** The id of a new event that completes no item. */
export function newEventId(journal: Journal): string {
  const id = `event-${journal.newNumber()}`
  return ticksItem(id) ? newEventId(journal) : id
}

/**
 * The event with a number. Of ten in a row, five are custom ones, which sometimes tick an item, and five
 * belong to a run, which a later ten continues.
 */
function eventOf(number: number, { flowId, stepId }: Tour) {
  const id = `event-${number}`
  const [ten, place] = [Math.floor(number / 10), number % 10]
  const occurredAt = Date.now() - ((number * 7_919) % (oldestHours * hourMs))
  const userId = `user-${number % 70}`
  if (place === 0) return { id, occurredAt, kind: 'custom', name: 'did_first', userId: doerOf(id) }
  if (place < 5) return { id, occurredAt, kind: 'custom', name: 'x', userId }
  const kind = ['flow_started', 'step_viewed', 'flow_completed', 'flow_dismissed'][place % 4]
  const runId = `run-${place === 9 ? Math.max(0, ten - 30) : ten}`
  const isVisitor = ten % runsOfVisitor === 0 && place < 7
  const person = isVisitor ? { anonymousId: `visitor-${ten}` } : { userId }
  const step = kind === 'step_viewed' ? { stepId } : {}
  return { id, occurredAt, kind, flowId, runId, ...person, ...step }
}

function newEvents(journal: Journal, tour: Tour, random: SeededRandom): Request {
  const count = random.chance(0.3) ? 1 : Math.ceil(random.between(1, 40))
  const events = Array.from({ length: count }, () => eventOf(journal.newNumber(), tour))
  // Repeats some on purpose: some that were acknowledged before, and one of this very batch.
  const again = journal.recentEvents.map(id => eventOf(Number(id.slice('event-'.length)), tour))
  const sent = [...events, ...again, ...events.slice(0, Number(random.chance(0.3)))]
  return { kind: 'event', path: '/events', body: { events: sent }, names: sent.map(({ id }) => id) }
}

/** Enough runs for a block, begun long enough ago to be settled. */
export const oldRuns = (journal: Journal, { flowId }: Tour): Request[] =>
  Array.from({ length: 90 }, () => {
    const names = Array.from({ length: 50 }, () => newEventId(journal))
    const common = { kind: 'flow_started', flowId, occurredAt: Date.now() - 2 * hourMs }
    const events = names.map(id => ({ ...common, id, runId: id, userId: id }))
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

/** A request of a kind with an item that nobody has sent before. */
export function newItem(kind: Exclude<Kind, 'event'>, journal: Journal, tour: Tour): Request {
  const name = `${kind.replace(' ', '-')}-${journal.newNumber()}`
  const [path, body] = bodies[kind](name, tour)
  return { kind, path, body, names: [name] }
}

/** Mostly events, as from a page. */
const mix: readonly Kind[] = [...Array<Kind>(5).fill('event'), ...kinds]

interface Verdict {
  index: number
  status: 'duplicate' | 'rejected'
  code?: string
}

/** Whether the contract recognises an item of a kind when it is sent again. */
const hasIds = (kind: Kind) => kind !== 'health report' && kind !== 'fingerprint'

/** Sends a request once, and records what its response says. */
export async function send(journal: Journal, ask: Ask, request: Request, ack = 'commit') {
  const { kind, names, path, body } = request
  const items = journal.items[kind]
  // What is acknowledged by now must be known to the server too, whatever comes meanwhile.
  const known = names.map(name => items.acknowledged.has(name))
  const unsure = names.map(name => items.unsure.has(name))
  for (const name of names) {
    items.sent.add(name)
    items.rejected.delete(name)
  }
  const response = await ask('POST', path, body).catch(() => null)
  journal.responses.add(response)
  if (response === null || response.status >= 500) {
    for (const name of names) {
      if (response?.status !== 503) items.unsure.add(name)
      else if (!items.acknowledged.has(name) && !items.unsure.has(name)) items.rejected.add(name)
    }
    if (hasIds(kind)) journal.unacknowledged.push(request)
    return response
  }
  // A response counts from its first line on, even if the server dies before the last.
  const text = (await response.json().catch(() => null)) as { results?: Verdict[] } | null
  const results = text?.results ?? []
  if (!response.ok && results.length === 0) {
    journal.contradictions.push(`${kind} was answered by ${response.status}`)
    return response
  }
  const isBuffered = kind === 'event' && ack === 'buffer'
  const verdicts = new Map(results.map(verdict => [verdict.index, verdict]))
  const seen = new Set<string>()
  for (const [i, name] of names.entries()) {
    const { status, code } = verdicts.get(i) ?? {}
    if (status === 'rejected') {
      if (code !== 'storage') journal.contradictions.push(`${name} was rejected as ${code}`)
      // It is in the dead letters, and its id is free again.
      const { events } = body as { events: unknown[] }
      journal.responses.deadLetters++
      journal.unacknowledged.push({ ...request, names: [name], body: { events: [events[i]] } })
      continue
    }
    if (!isBuffered) items.acknowledged.add(name)
    else if (!known[i]) journal.buffered.add(name)
    if (isBuffered || !text?.results) continue
    const mustBeKnown = known[i] || seen.has(name)
    if (mustBeKnown && status !== 'duplicate') {
      journal.contradictions.push(`${name} was acknowledged, and sent again it was stored again`)
    } else if (!mustBeKnown && !unsure[i] && status === 'duplicate') {
      journal.contradictions.push(
        `${name} is a duplicate, and was never sent, or rejected with 503`,
      )
    }
    seen.add(name)
  }
  if (kind === 'event') {
    journal.recentEvents = names.filter(name => items.acknowledged.has(name)).slice(-3)
  }
  const id = response.headers.get('x-request-id')
  if (id !== null) journal.acknowledgedRequests?.set(id, request)
  return response
}

/** Starts work that goes on until it is stopped. */
function running(works: readonly ((isStopped: () => boolean) => Promise<void>)[]): Load {
  let isStopped = false
  const ended = Promise.all(works.map(work => work(() => isStopped)))
  return {
    async stop() {
      isStopped = true
      await ended
    },
  }
}

/**
 * Clients of one organisation. Each sends one request after another over real sockets, records what is
 * acknowledged, and sends again what is not: under the same id if the contract gives the item one, otherwise
 * (a health report, a fingerprint) as a new item.
 */
export function startClients(
  { snippetKey, journal }: Pick<Tenant, 'snippetKey' | 'journal'>,
  server: Pick<Server, 'url'>,
  { random, clients = 4, ack, restMs, only }: LoadOptions,
): Load {
  const ask = apiOf(server, snippetKey)
  const work = async (isStopped: () => boolean) => {
    let tour: Tour | null = null
    while (!isStopped()) {
      tour ??= await tourOf(ask).catch(() => null)
      if (tour === null) {
        await Bun.sleep(pauseMs)
        continue
      }
      const kind = only ?? random.pick(mix)
      const request =
        journal.unacknowledged.pop() ??
        (kind === 'event' ? newEvents(journal, tour, random) : newItem(kind, journal, tour))
      const response = await send(journal, ask, request, ack)
      if (response === null || response.status >= 500) await Bun.sleep(pauseMs)
      if (restMs) await Bun.sleep(restMs)
    }
  }
  return running(Array<typeof work>(clients).fill(work))
}

/** The flows that are published all the time; the load's tour is none of them. */
export const publishedKeys = ['a', 'b', 'c']

/** Two editors of one organisation, who publish over HTTP and through the socket of the command line. */
export function startEditors(
  { id, token, journal }: Tenant,
  place: Workplace,
  server: Pick<Server, 'url'>,
  { random, restMs = 0 }: LoadOptions,
): Load {
  const work = async (
    isStopped: () => boolean,
    via: Publication['via'],
    origin: string,
    { headers, ...init }: { headers: Record<string, string>; unix?: string },
  ) => {
    while (!isStopped()) {
      const text = `Publication ${journal.newNumber()}`
      const first = Math.floor(random.between(0, publishedKeys.length))
      const keys = [...publishedKeys.slice(first), ...publishedKeys.slice(0, first)]
      const sent = keys
        .slice(0, random.chance(0.3) ? keys.length : 1)
        .map((key): Publication => ({ key, text, via, version: null, requestId: null }))
      journal.publications.push(...sent)
      const steps = [{ key: 'only', title: text }]
      const flows = sent.map(({ key }) => ({ key, name: text, steps }))
      const response = await fetch(`${origin}/api/v1/manage/push`, {
        ...init,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ flows, publish: true, note: text }),
      } as RequestInit).catch(() => null)
      const body = response?.ok ? await response.json().catch(() => null) : null
      for (const one of body === null ? [] : sent) {
        const { flows } = body as { flows: { key: string; version: number }[] }
        one.version = flows.find(({ key }) => key === one.key)!.version
        one.requestId = response!.headers.get('x-request-id')
      }
      await Bun.sleep(body === null ? pauseMs : restMs)
    }
  }
  const headers = { 'cairn-operator': 'kit', 'cairn-organisation': id }
  const socket = { unix: socketFile(place.dataDir), headers }
  const withToken = { headers: { authorization: `Bearer ${token}` } }
  return running([
    isStopped => work(isStopped, 'token', server.url, withToken),
    isStopped => work(isStopped, 'command line', 'http://cairn', socket),
  ])
}
