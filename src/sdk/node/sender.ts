import { type Connection, errorOf, sleep, tryOnce } from './requests.ts'

/** How many events the API takes in one request. */
const maxInRequest = 50

/** A waiting event. Its id stays the same however often it is sent, so that the server stores it once. */
export interface WaitingEvent {
  id: string
  kind: 'custom'
  userId: string
  name: string
  occurredAt: number
  userHash?: string
  properties?: Readonly<Record<string, unknown>>
}

/** Events that the server has not stored, and will not. */
export interface Rejection {
  /**
   * `overflow`: too many events wait already; `rejected`: the server has rejected this event;
   * `refused`: it has refused the whole request; `exit`: the process ended before the server took them.
   */
  reason: 'overflow' | 'rejected' | 'refused' | 'exit'
  message: string
  code: string | null
  events: readonly WaitingEvent[]
}

export interface SenderOptions {
  /** How many events make a batch, 50 at most. */
  flushAt: number
  /** How long the first of a batch waits, milliseconds. */
  flushAfterMs: number
  /** How many events may wait. */
  maxWaiting: number
  onRejected(rejection: Rejection): void
}

/** Sends events in batches, one request at a time, in their order. */
export function createSender(connection: Connection, options: SenderOptions) {
  const batchSize = Math.max(1, Math.min(options.flushAt, maxInRequest))
  let waiting: WaitingEvent[] = []
  let together = batchSize
  let failures = 0
  let pausedUntil = 0
  let sending: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Number.POSITIVE_INFINITY

  const reject = (rejection: Rejection) => {
    try {
      options.onRejected(rejection)
    } catch {
      // A failure in the callback is the caller's own.
    }
  }

  /** Of all requested times the earliest counts, but a pause is waited for first. */
  const sendIn = (ms: number) => {
    const at = Math.max(Date.now() + ms, pausedUntil)
    if (at >= dueAt) return
    dueAt = at
    clearTimeout(timer)
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY
      send()
    }, at - Date.now())
    // The timer does not keep the process alive: what waits is sent when the process ends.
    ;(timer as { unref?(): void }).unref?.()
  }

  const send = (): Promise<void> => {
    sending ??= sendBatch().finally(() => {
      sending = null
      if (waiting.length >= together) sendIn(0)
      else if (waiting.length > 0) sendIn(options.flushAfterMs)
    })
    return sending
  }

  async function sendBatch(): Promise<void> {
    const batch = waiting.slice(0, together)
    if (batch.length === 0) return
    const tried = await tryOnce(
      connection,
      '/events',
      { sentAt: Date.now(), events: batch },
      failures,
    )
    if (tried.waitMs !== null) {
      failures++
      pausedUntil = Date.now() + tried.waitMs
      return
    }
    failures = 0
    const { answer } = tried
    if (answer.status === 413 && batch.length > 1) {
      together = Math.ceil(batch.length / 2)
      return
    }
    together = Math.min(together * 2, batchSize)
    waiting = waiting.slice(batch.length)
    if (!answer.ok) {
      const { message, code } = await errorOf(answer)
      reject({ reason: 'refused', message, code, events: batch })
      return
    }
    const { results = [] } = (await answer.json().catch(() => ({}))) as { results?: Verdict[] }
    for (const { index, status, code = null, message = '' } of results) {
      const event = batch[index]
      if (status === 'rejected' && event)
        reject({ reason: 'rejected', message, code, events: [event] })
    }
  }

  return {
    add(event: WaitingEvent): void {
      if (waiting.length >= options.maxWaiting) {
        const message = `${options.maxWaiting} events wait already`
        reject({ reason: 'overflow', message, code: null, events: [event] })
        return
      }
      waiting.push(event)
      sendIn(waiting.length >= together ? 0 : options.flushAfterMs)
    },
    /** @returns whether all that waited was sent in that time */
    async flush(patienceMs: number): Promise<boolean> {
      const until = Date.now() + patienceMs
      while (waiting.length > 0) {
        const pauseMs = pausedUntil - Date.now()
        if (Date.now() + Math.max(0, pauseMs) > until) return false
        if (pauseMs > 0) await sleep(pauseMs)
        await send()
      }
      return true
    },
    /** Gives up: nothing will send what waits. */
    giveUp(): void {
      clearTimeout(timer)
      const events = waiting
      waiting = []
      const message = 'the process ended before the server took them'
      if (events.length > 0) reject({ reason: 'exit', message, code: null, events })
    },
    get waiting() {
      return waiting.length
    },
  }
}

interface Verdict {
  index: number
  status: string
  code?: string
  message?: string
}
