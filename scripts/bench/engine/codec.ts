import type { EventSource } from '../../../src/core/event/event.ts'
import type { NewEvent } from '../../../src/storage/shared/in-rows.ts'
import {
  type BatchRow,
  EventBatches,
  storedText,
} from '../../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import {
  decodeEvents,
  decodeFacts,
  encodeEvents,
  noEvent,
} from '../../../src/storage/sqlite/engine/event-codec/event-text.ts'
import { BatchFlows } from '../../../src/storage/sqlite/projections/pending-facts.ts'
import type { Figure } from '../figures.ts'
import { figure, put, Stage, type Store, scattered } from './stage.ts'

const orgRow = 1
const batch = 50
const perRun = 10
const source: EventSource = 'events'

/** An event of a run of ten, as pages send them. */
function eventOf(n: number): NewEvent {
  const run = Math.floor(n / perRun)
  const place = n % perRun
  return {
    ...noEvent,
    id: `${scattered(n, 9)}-${scattered(n, 10)}`,
    kind: place === 0 ? 'flow_started' : place % 2 ? 'step_viewed' : 'step_completed',
    userId: `user-${scattered(run, 11)}`,
    flowRef: 1,
    flowVersion: 3,
    stepRef: place === 0 ? null : place >> 1,
    runId: scattered(run, 12),
    sessionId: scattered(run, 13),
    occurredAt: 1_790_000_000_000 + n * 40,
    url: `https://app.example.com/projects/${run % 100}`,
    properties: place === 5 ? '{"plan":"team","seats":12}' : null,
  }
}

/** Stores all events from the text that the threads pass on, many events per row. */
class Batches implements Store {
  readonly stage = new Stage()
  readonly put

  constructor() {
    const { database } = this.stage
    const batches = new EventBatches(database)
    const flows = new BatchFlows(database)
    let seq = 0
    const store = database.transaction((from: number, to: number) => {
      for (let at = from; at < to; at += batch) {
        const events = Array.from({ length: batch }, (_, i) => eventOf(at + i))
        const text = encodeEvents(events)
        batches.withRoom(orgRow, source, batch, () => ++seq).add(text, at)
        flows.note(seq, decodeFacts(text, orgRow, source))
      }
      batches.flush()
      flows.writeOwn()
      flows.commit()
    })
    this.put = (from: number, to: number) => store.immediate(from, to)
  }

  read(): number {
    const page = this.stage.database.query<BatchRow, [number]>(
      'select * from event_batches where seq > ? order by seq limit 16',
    )
    let read = 0
    for (let after = 0; ; ) {
      const rows = page.all(after)
      for (const row of rows) read += decodeEvents(storedText(row)).length
      if (rows.length === 0) return read
      after = rows.at(-1)!.seq
    }
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

const columns = `seq, org_id, id, kind, user_id, anonymous_id, flow_id, flow_version, step_id, item_id,
  run_id, session_id, occurred_at, reported_at, received_at, url, name, reason, properties, traits,
  answer, source`

/** One row per event, with an index by flow and time, by which exports ask for them. */
class PlainEvents implements Store {
  readonly stage = new Stage(
    `create table plain_events (${columns}, primary key (seq)) without rowid`,
    'create index plain_events_by_flow on plain_events (org_id, flow_id, occurred_at)',
  )
  readonly put

  constructor() {
    const { database } = this.stage
    const insert = database.query(
      `insert into plain_events values (${Array(22).fill('?').join(', ')})`,
    )
    const store = database.transaction((from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const event = eventOf(n)
        insert.run(
          n + 1,
          orgRow,
          event.id,
          event.kind,
          event.userId,
          event.anonymousId,
          event.flowRef,
          event.flowVersion,
          event.stepRef,
          event.itemRef,
          event.runId,
          event.sessionId,
          event.occurredAt,
          event.reportedAt,
          n,
          event.url,
          event.name,
          event.reason,
          event.properties,
          event.traits,
          event.answer,
          0,
        )
      }
    })
    this.put = (from: number, to: number) => store.immediate(from, to)
  }

  read(): number {
    const page = this.stage.database.query<{ seq: number }, [number]>(
      'select * from plain_events where seq > ? order by seq limit 1000',
    )
    let read = 0
    for (let after = 0; ; ) {
      const rows = page.all(after)
      read += rows.length
      if (rows.length === 0) return read
      after = rows.at(-1)!.seq
    }
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

/** The cost of writing events to the ledger, and of reading them for an export. */
export function codec(events: number): Figure[] {
  const sides = [new Batches(), new PlainEvents()].map(store => {
    using _ = store
    const written = put(store, 0, events)
    const startedAt = process.cpuUsage()
    if (store.read() !== events) throw new Error('not every event is read')
    const { user, system } = process.cpuUsage(startedAt)
    return { written, read: (user + system) / events, bytes: store.stage.bytes() / events }
  })
  const [texts, plain] = sides as [(typeof sides)[0], (typeof sides)[0]]
  return [
    figure('an event written, encoding included: CPU', 'µs', texts.written.cpu, plain.written.cpu),
    figure('the same with syncs: time', 'µs', texts.written.wall, plain.written.wall),
    figure('an event read for an export: CPU', 'µs', texts.read, plain.read),
    figure('disk', 'B/event', texts.bytes, plain.bytes),
  ]
}
