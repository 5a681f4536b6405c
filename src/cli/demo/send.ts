import type { Flow } from '../../core/flow/flow.ts'
import type { DemoClient } from './client.ts'
import { type DemoEvent, dayMs, historyOfDay } from './history.ts'

/** Events of a request, as many as one may hold; and requests under way at once. */
const batchSize = 50
const concurrency = 6

/** Days of history, today included, where the retention is not shorter. */
export const historyDays = 30

export interface SendOptions {
  client: DemoClient
  flows: readonly Flow[]
  /** The day on which the history begins to grow, in days since 1970. */
  firstDay: number
  now: number
  /** How many days to send, today included. */
  days: number
  /** Whether an event has arrived at an earlier start. */
  isStored(id: string): boolean
  onProgress(done: { days: number; events: number }): void
}

/**
 * Sends the history of the last days through the API, in the order of its days. A day whose last
 * event is stored was sent at an earlier start; one that broke off midway is sent again, and the
 * server knows its events by their ids.
 */
export async function sendHistory(options: SendOptions): Promise<number> {
  const { client, flows, firstDay, now, days, isStored, onProgress } = options
  const today = Math.floor(now / dayMs)
  let events = 0
  for (let done = 1; done <= days; done++) {
    const day = today - days + done
    const happened = historyOfDay(day, { flows, firstDay }).filter(e => e.occurredAt <= now)
    const last = happened.at(-1)
    if (last && !isStored(last.id)) {
      await sendDay(client, happened)
      events += happened.length
    }
    onProgress({ days: done, events })
  }
  return events
}

async function sendDay(client: DemoClient, events: readonly DemoEvent[]): Promise<void> {
  const batches: DemoEvent[][] = []
  for (let i = 0; i < events.length; i += batchSize) batches.push(events.slice(i, i + batchSize))
  const last = batches.pop()
  while (batches.length > 0) {
    await Promise.all(batches.splice(0, concurrency).map(batch => send(client, batch)))
  }
  // Alone and last: it says that the day is whole.
  if (last) await send(client, last)
}

const send = (client: DemoClient, events: readonly DemoEvent[]) =>
  client.post('/events', { sentAt: Date.now(), events })
