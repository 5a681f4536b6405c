import type { Database } from 'bun:sqlite'
import type { Group, LogBatch, LogRow, Page, Position } from '../../log/log.ts'
import { eventsPerBatch, factsOf, flowsOf, insertBatch } from '../ledger/event-batches.ts'
import type { EventIds } from '../ledger/event-ids.ts'
import type { Follower } from '../projections/follower.ts'
import { SharedRows } from './shared-rows.ts'

/** The position of a database that has taken up nothing yet. */
export const beginning: Position = { seq: 0, mark: '', at: 0 }

/** Tables whose rows nobody waits for. */
const reported: ReadonlySet<string> = new Set([
  'presence',
  'refusals',
  'identity_counts',
  'dead_letters',
  'step_reports',
  'step_health',
  'step_baselines',
  'step_fingerprints',
  'deliveries',
  'retained',
])

const isChange = (rows: readonly LogRow[]) => rows.some(({ table }) => !reported.has(table))

/** The log that a database follows, and how far it has come; null for that of a server alone. */
export const positionIn = (database: Database): (Position & { log: string }) | null =>
  database
    .query<Position & { log: string }, []>('select log, seq, mark, at from log_position')
    .get()

/** In place of a log that a database follows: it is being moved into that, which may not have it yet. */
export const movingInto = (log: string): string => `moving into ${log}`

/** In place of a log that a database follows: it is being moved out of that, which may have ended already. */
export const leaving = (log: string): string => `leaving ${log}`

/** Reads the batches of the ledger after a number. */
export const batchesAfter = (database: Database, most = -1) =>
  database.query<LogBatch, [number]>(
    `select seq, org_id as orgRow, received_at as receivedAt, source, events, asked, body
    from event_batches where seq > ? order by seq limit ${most}`,
  )

/** Sets the log that a database follows, and how far it has come. */
export const setPosition = (database: Database) =>
  database.query(
    `insert into log_position (only_one, log, seq, mark, at) values (1, ?, ?, ?, ?)
    on conflict do update set log = excluded.log, seq = excluded.seq, mark = excluded.mark,
      at = excluded.at`,
  )

/** Follows a log under another name, from the same position. */
export const renameLog = (database: Database, log: string) =>
  database.query('update log_position set log = ?').run(log)

function statements(database: Database) {
  return {
    insertBatch: insertBatch(database),
    batchesAfter: batchesAfter(database),
    setPosition: setPosition(database),
    noteErasures: database.query(
      "update server_state set value = value + 1 where name = 'erasures_changed'",
    ),
  }
}

/** A database that follows a log: takes up what others have appended, and gathers what this machine appends. */
export class Replica {
  /** Up to where everything is taken up. */
  position: Position
  private readonly sql: ReturnType<typeof statements>
  private readonly rows: SharedRows
  /** The position once the transaction under way is committed. */
  private next: Position
  /** Whether others have changed what management keeps since this was last reset. */
  hasChange = false

  /** @param database whose only writer of shared rows and of the ledger uses this connection */
  constructor(
    database: Database,
    private readonly log: string,
    private readonly ids: EventIds,
    private readonly follower: Follower,
  ) {
    this.sql = statements(database)
    this.rows = new SharedRows(database)
    this.position = positionIn(database) ?? beginning
    this.next = this.position
  }

  /** To be called at the beginning of each transaction that is to be appended. */
  begin(): void {
    this.next = this.position
    this.ids.startAt(this.position.seq + 1)
  }

  /** Takes up what others have appended, within a transaction. */
  takeUp({ rows, batches, to }: Page): void {
    for (const row of rows) this.rows.write(row)
    this.hasChange ||= isChange(rows)
    if (rows.some(({ table }) => table === 'erasures')) this.sql.noteErasures.run()
    for (const batch of batches) this.takeUpBatch(batch)
    this.rows.forget()
    if (to === null) return
    this.ids.startAt(to.seq + 1)
    this.moveTo(to)
  }

  private takeUpBatch(batch: LogBatch): void {
    const { seq, orgRow, receivedAt, source, events, asked, body } = batch
    const stored = factsOf({ seq, source, events, body }, orgRow)
    const ids = stored.map(({ id }) => id)
    this.ids.takeUp(orgRow, ids, seq * eventsPerBatch)
    this.ids.startAt(seq + 1)
    const { flows, firstAt, lastAt } = flowsOf(stored)
    this.sql.insertBatch.run(
      ...[seq, orgRow, receivedAt, source, events, flows, firstAt, lastAt, asked, body],
    )
    this.follower.note(stored)
    this.follower.noteAwaited(stored, asked)
  }

  /**
   * What the transaction under way has written that others have to take up; null if nothing.
   *
   * @param latest the latest time that the log takes now, epoch milliseconds
   */
  collect(now: number, latest: number): Group | null {
    const { seq, at } = this.position
    const batches = this.sql.batchesAfter.all(seq)
    const rows = this.rows.take()
    if (batches.length === 0 && rows.length === 0) return null
    const last = batches.at(-1)?.seq ?? seq + 1
    const receipts = batches.map(({ receivedAt }) => receivedAt)
    // What was acknowledged while this machine's clock was wrong may seem to have arrived in the future.
    const receivedAt = Math.min(Math.max(...receipts), latest)
    const to = { seq: last, mark: crypto.randomUUID(), at: Math.max(at, now, receivedAt) }
    this.ids.startAt(to.seq + 1)
    this.moveTo(to)
    return { batches, rows, to, isChange: isChange(rows) }
  }

  private moveTo(to: Position): void {
    this.sql.setPosition.run(this.log, to.seq, to.mark, to.at)
    this.next = to
  }

  /** To be called once the transaction is committed. */
  committed(): void {
    this.position = this.next
  }
}
