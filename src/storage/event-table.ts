import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { type EventSource, eventSources, kindCode } from '../core/event.ts'
import type { NewEvent } from '../core/ports.ts'

const columns = [
  ...[
    'seq',
    'org_id',
    'id',
    'kind',
    'user_id',
    'anonymous_id',
    'flow_id',
    'flow_version',
    'step_id',
  ],
  ...[
    'item_id',
    'run_id',
    'session_id',
    'occurred_at',
    'reported_at',
    'received_at',
    'url',
    'name',
  ],
  ...['reason', 'properties', 'source'],
]

/** Rows that one statement stores: a statement's own cost is as much as half a row's. */
const rowsAtOnce = 10

const insertOf = (database: Database, rows: number) => {
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => row).join(', ')
  return database.query(`insert into events (${columns.join(', ')}) values ${values}`)
}

/** Writes the ledger's rows, several at once. What was added is stored only once it is flushed. */
export class EventTable {
  private readonly insertMany
  private readonly insertOne
  private waiting: SQLQueryBindings[] = []

  constructor(database: Database) {
    this.insertMany = insertOf(database, rowsAtOnce)
    this.insertOne = insertOf(database, 1)
  }

  add(seq: number, orgRow: number, event: NewEvent, receivedAt: number, source: EventSource): void {
    this.waiting.push(
      seq,
      orgRow,
      event.id,
      kindCode[event.kind],
      event.userId,
      event.anonymousId,
      event.flowRow,
      event.flowVersion,
      event.stepRow,
      event.itemRow,
      event.runId,
      event.sessionId,
      event.occurredAt,
      event.reportedAt,
      receivedAt,
      event.url,
      event.name,
      event.reason,
      event.properties,
      eventSources.indexOf(source),
    )
    if (this.waiting.length === columns.length * rowsAtOnce) {
      this.insertMany.run(this.taken() as never)
    }
  }

  flush(): void {
    const waiting = this.taken()
    for (let at = 0; at < waiting.length; at += columns.length) {
      this.insertOne.run(waiting.slice(at, at + columns.length) as never)
    }
  }

  /** Forgets what was added and not flushed. */
  forget(): void {
    this.waiting = []
  }

  private taken(): SQLQueryBindings[] {
    const { waiting } = this
    this.waiting = []
    return waiting
  }
}
