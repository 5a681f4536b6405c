import { jsonIn } from '../natives.ts'
import type { BrowserStore } from '../parts.ts'
import type { Bucket, Transport } from '../transport.ts'

/** How many events are remembered for the panel. */
const maxEvents = 50

export interface TracedEvent {
  id: string
  kind: string
  /** What it is about, by name or id. */
  about: string
  at: number
  /** `waiting`, `stored`, or why the server has not kept it. */
  state: string
}

/** The last answer of a bucket: its status, or 0 where there was none. */
export interface LastAnswer {
  status: number
  at: number
}

/** Listens to what is sent and answered, from now on. */
export function traceTraffic(transport: Transport, store: BrowserStore) {
  const sent: TracedEvent[] = []
  const answers = new Map<Bucket, LastAnswer>()

  const judge = async (init: RequestInit, answer: Response) => {
    const { events } = JSON.parse(String(init.body)) as { events: Reported[] }
    const body = await jsonIn(answer).catch(() => null)
    const results: { index: number; status: string; code?: string }[] = body?.results ?? []
    const states = new Map(results.map(({ index, status, code }) => [index, code ?? status]))
    const traced = events.map((event, i) => tracedOf(event, states.get(i) ?? 'stored'))
    sent.unshift(...traced.reverse())
    sent.length = Math.min(sent.length, maxEvents)
  }
  transport.onResponse = (bucket, init, answer) => {
    answers.set(bucket, { status: answer?.status ?? 0, at: Date.now() })
    if (bucket === 'events' && answer?.ok) judge(init, answer.clone()).catch(() => {})
  }

  return {
    answers,
    /** The newest first: what still waits, then what was sent. */
    events(): TracedEvent[] {
      const waiting = store
        .names('out:')
        .flatMap(name => store.get<{ events: Reported[] }>(name)?.events ?? [])
      const done = new Set(sent.map(({ id }) => id))
      const open = waiting.filter(({ id }) => !done.has(id)).reverse()
      return [...open.map(event => tracedOf(event, 'waiting')), ...sent].slice(0, maxEvents)
    },
  }
}

interface Reported {
  id: string
  kind: string
  occurredAt: number
  name?: string
  stepId?: string
  itemId?: string
  flowId?: string
}

const tracedOf = (event: Reported, state: string): TracedEvent => ({
  id: event.id,
  kind: event.kind,
  about: event.name ?? event.stepId ?? event.itemId ?? event.flowId ?? '',
  at: event.occurredAt,
  state,
})
