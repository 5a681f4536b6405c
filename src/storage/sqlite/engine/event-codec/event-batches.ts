import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../../../core/event/event.ts'
import type { LedgerFact } from '../../projections/facts.ts'
import { HashIndex, type HashIndexPolicy, TextHash } from '../hash-index/hash-index.ts'
import { Segments } from '../hash-index/segments.ts'
import { TransactionParticipant } from '../participant.ts'
import {
  decodeFacts,
  decodeIds,
  type EventText,
  flowRowsIn,
  type StoredText,
} from './event-text.ts'

/**
 * The ledger: one row per batch of one organisation's events, in the order of their arrival. Small batches
 * that are stored together share a row.
 */

/** The most events of one row. The row's number times this, plus an event's place, is the event's own number. */
export const eventsPerBatch = 64

/** A row's texts are stored as bytes, because SQLite's own tools cut a text at its first NUL. */
export interface BatchRow {
  seq: number
  received_at: number
  /** How much later than the first each further batch of the row was received: milliseconds, space-separated. */
  later: string
  source: number
  /** The form of its texts. */
  codec: number
  events: number
  facts: Uint8Array
  details: Uint8Array
}

/** A row without what only exports show. */
export type FactsRow = Pick<BatchRow, 'seq' | 'source' | 'codec' | 'events' | 'facts'>

export const factsColumns = 'seq, source, codec, events, facts'
export const batchColumns = `${factsColumns}, received_at, later, details`

/**
 * The form that `event-text.ts` writes and reads, which a row has unless it says otherwise. A new form gets
 * the next number and is written from then on; earlier rows stay as they are and are read in theirs.
 */
const knownCodec = 1

const encoder = new TextEncoder()

/** Keeps a leading byte order mark, because an id may begin with that character. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

type CodedFacts = Pick<BatchRow, 'codec' | 'events' | 'facts'>

const factsTextOf = ({ codec, events, facts }: CodedFacts): Pick<EventText, 'count' | 'facts'> => {
  if (codec !== knownCodec)
    throw new Error(`The ledger has events in form ${codec}, of a newer Cairn`)
  return { count: events, facts: decoder.decode(facts) }
}

const sourceOf = ({ source }: Pick<BatchRow, 'source'>) => eventSources[source] as EventSource

/** What a row's events say, as far as anything follows from it. */
export const factsOf = (row: FactsRow, orgRow: number): LedgerFact[] =>
  decodeFacts(factsTextOf(row), orgRow, sourceOf(row))

/** The ids of a row's events. */
const eventIdsOf = (row: CodedFacts): string[] => decodeIds(factsTextOf(row))

/** The flows that a row's events name, each once. */
export const flowRowsOf = (row: CodedFacts): Set<number> => flowRowsIn(factsTextOf(row))

const receiptsIn = ({ received_at, later }: BatchRow): number[] => {
  if (later === '') return [received_at]
  return [received_at, ...later.split(' ').map(ms => received_at + Number(ms))]
}

/** When the last batch of a row was received. */
export const lastReceipt = ({ received_at, later }: Pick<BatchRow, 'received_at' | 'later'>) =>
  received_at + Number(later.slice(later.lastIndexOf(' ') + 1))

export const storedText = (row: BatchRow): StoredText => ({
  ...factsTextOf(row),
  details: decoder.decode(row.details),
  receivedAts: receiptsIn(row),
  source: sourceOf(row),
})

/** What published flows asked of an event when it was stored: its place, and an `Asked`. */
export type AskedEvent = readonly [place: number, most: number, goalOf: readonly number[]]

/** A row that is being filled. */
export class OpenBatch {
  count = 0
  facts = ''
  details = ''
  later = ''
  receivedAt = 0
  /** What published flows ask of its events. */
  readonly asked: AskedEvent[] = []

  constructor(
    readonly seq: number,
    readonly orgRow: number,
    readonly source: EventSource,
  ) {}

  add(text: EventText, receivedAt: number): void {
    if (text.count === 0) return
    if (this.count === 0) this.receivedAt = receivedAt
    else this.later += `${this.later && ' '}${receivedAt - this.receivedAt}`
    this.count += text.count
    this.facts += text.facts
    this.details += text.details
  }
}

/** Writes the ledger's rows. What was added is stored once it is flushed. */
export class EventBatches extends TransactionParticipant {
  private readonly insertBatch
  private open: OpenBatch[] = []
  /** The last open row of each organisation. */
  private readonly lastOf = new Map<number, OpenBatch>()

  constructor(database: Database) {
    super()
    this.insertBatch = database.query(
      `insert into event_batches
        (seq, org_id, received_at, later, source, events, asked, facts, details)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
  }

  /** An organisation's row with room for so many events: the one that is being filled, or a new one. */
  withRoom(orgRow: number, source: EventSource, events: number, newSeq: () => number): OpenBatch {
    const last = this.lastOf.get(orgRow)
    if (last?.source === source && last.count + events <= eventsPerBatch) return last
    const batch = new OpenBatch(newSeq(), orgRow, source)
    this.open.push(batch)
    this.lastOf.set(orgRow, batch)
    return batch
  }

  flush(): void {
    const { open } = this
    this.rollback()
    for (const batch of open) if (batch.count > 0) this.write(batch)
  }

  /** Forgets what was added and not flushed. What was added before a savepoint has been flushed. */
  override rollback(): void {
    this.open = []
    this.lastOf.clear()
  }

  write({ seq, orgRow, receivedAt, later, source, count, asked, facts, details }: OpenBatch): void {
    this.insertBatch.run(
      seq,
      orgRow,
      receivedAt,
      later,
      eventSources.indexOf(source),
      count,
      asked.length === 0 ? null : JSON.stringify(asked),
      bytesOf(facts),
      bytesOf(details),
    )
  }
}

/** Chunks of 1,024 ids; merges proceed four times as fast as they have to. */
export const defaultEventIdsPolicy: HashIndexPolicy = {
  entriesPerSegment: 65_536,
  segmentBits: 6,
  entriesPerMergeStep: 512,
}

const pageBatches = 128

interface BatchOfIds extends CodedFacts {
  seq: number
  org_id: number
  received_at: number
}

interface IdsOfBatch {
  orgRow: number
  ids: string[]
}

function statements(database: Database) {
  const columns = 'seq, org_id, received_at, codec, events, facts'
  return {
    batch: database.query<BatchOfIds, [number]>(
      `select ${columns} from event_batches where seq = ?`,
    ),
    after: database.query<BatchOfIds, [number]>(
      `select ${columns} from event_batches where seq > ? order by seq limit ${pageBatches}`,
    ),
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    setSealed: database.query("update server_state set value = ? where name = 'event_ids_sealed'"),
    lastSeq: database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from event_batches',
    ),
  }
}

/**
 * Knows which event ids are stored: strictly, over the whole ledger, by a hash index. Where the index finds
 * a hash, the ledger itself decides whether it is the id.
 */
export class EventIds extends TransactionParticipant<number> {
  private readonly sql: ReturnType<typeof statements>
  private readonly index: HashIndex
  private readonly hash: TextHash
  /** The row of the ledger that comes next. */
  private nextSeq: number
  /** The rows that are not written yet. */
  private readonly open = new Map<number, IdsOfBatch>()
  /** The last row that is committed. */
  committedSeq: number
  /** The batch that was read last, because what is sent again is mostly a whole batch. */
  private seen: (IdsOfBatch & { seq: number }) | null = null
  private knownReplacements: number
  private askedOrg = 0
  private askedId = ''

  constructor(
    private readonly database: Database,
    policy = defaultEventIdsPolicy,
  ) {
    super()
    this.sql = statements(database)
    this.index = new HashIndex(new Segments(database, 'event_id', policy), policy)
    const state = (name: string) => this.sql.state.get(name)?.value ?? 0
    this.hash = new TextHash(state('event_ids_seed_1'), state('event_ids_seed_2'))
    const sealed = state('event_ids_sealed')
    const stored = this.sql.lastSeq.get()?.seq ?? 0
    // A number is given only once, even if its row was deleted, or was never written because all of its
    // events were duplicates: whoever reads on from it, as the follower does, would miss a second row.
    this.committedSeq = Math.max(sealed, stored, state('ledger_deleted'), state('projected'))
    this.nextSeq = this.committedSeq + 1
    this.knownReplacements = state('rows_replaced')
    this.recover(sealed, lastSeq => this.sealRecovered(lastSeq))
  }

  /** An erasure gives events other ids, and the previous ones must go. */
  override externalChange(): void {
    const state = (name: string) => this.sql.state.get(name)?.value ?? 0
    // `rows_replaced` tells of rows that are in memory alone; any other row may have been rewritten too.
    this.forgetBatches()
    const replacements = state('rows_replaced')
    if (replacements === this.knownReplacements) return
    this.index.forgetRecent()
    this.recover(state('event_ids_sealed'), () => {})
    this.knownReplacements = replacements
  }

  /** The row of the ledger that comes next has at least this number. To be called between rows. */
  startAt(seq: number): void {
    this.nextSeq = seq
  }

  /** Begins a row of the ledger for one organisation's events. */
  openBatch(orgRow: number): number {
    const seq = this.nextSeq++
    this.open.set(seq, { orgRow, ids: [] })
    return seq
  }

  /** To be called once the rows that were begun are written. */
  closeBatches(): void {
    this.open.clear()
  }

  /**
   * Takes an id for the next event of a row that was begun.
   *
   * @param receivedAt epoch milliseconds
   * @returns false if the id is stored already
   */
  take(seq: number, id: string, receivedAt: number): boolean {
    const { orgRow, ids } = this.open.get(seq)!
    if (this.isTaken(orgRow, id)) return false
    const { high, low } = this.hash
    this.index.add(high, low, seq * eventsPerBatch + ids.length, receivedAt)
    ids.push(id)
    return true
  }

  /** Whether an id of an organisation's event is stored. */
  isTaken(orgRow: number, id: string): boolean {
    this.hash.of(orgRow, id)
    this.askedOrg = orgRow
    this.askedId = id
    return this.index.find(this.hash.high, this.hash.low, this.isAsked) !== 0
  }

  override savepoint(): number {
    return this.index.mark
  }

  /** Gives back ids of events that were not stored after all. */
  override rollbackTo(mark: number): void {
    this.index.takeBack(mark)
    this.forgetBatches()
  }

  /**
   * To be called when all rows of the ledger before one are deleted for good: their ids are left out when
   * segments are merged. Until then they are known by their hashes alone.
   */
  deletedBefore(seq: number): void {
    this.index.leaveOutBefore(seq * eventsPerBatch)
  }

  /** Whether there are segments with nothing but ids of events that were received before a moment. */
  hasOlder(before: number): boolean {
    return this.index.hasOlder(before)
  }

  /** Gives back some of those ids, within a transaction. */
  giveBackOlder(before: number): void {
    this.index.dropOlder(before)
  }

  /** Seals a segment if it is due, and moves merges on. */
  override beforeCommit(): void {
    if (this.index.isFull) this.seal()
    this.index.merge()
  }

  /** Within a transaction: saves the next start, or an erasure, from reading most ids again. */
  sealIfWorth(): void {
    if (this.index.isWorthSealing) this.seal()
  }

  override commit(): void {
    this.index.committed()
    this.committedSeq = this.nextSeq - 1
  }

  override rollback(): void {
    this.index.rolledBack()
    this.forgetBatches()
    this.nextSeq = this.committedSeq + 1
  }

  private forgetBatches(): void {
    this.open.clear()
    this.seen = null
  }

  private seal(): void {
    this.index.seal()
    this.sql.setSealed.run(this.nextSeq - 1)
  }

  /** Whether an event is the one that is asked for. If it is gone, its hash alone decides. */
  private readonly isAsked = (event: number): boolean => {
    const batch = this.batchOf(Math.floor(event / eventsPerBatch))
    if (!batch) return true
    return batch.orgRow === this.askedOrg && batch.ids[event % eventsPerBatch] === this.askedId
  }

  private batchOf(seq: number): IdsOfBatch | null {
    const open = this.open.get(seq)
    if (open) return open
    if (this.seen?.seq !== seq) {
      const batch = this.sql.batch.get(seq)
      if (!batch) return null
      this.seen = { seq, orgRow: batch.org_id, ids: eventIdsOf(batch) }
    }
    return this.seen
  }

  /** Reads the ids that no segment has: those of the last moments, or all of a ledger made by an older Cairn. */
  private recover(sealed: number, seal: (lastSeq: number) => void): void {
    for (let from = sealed; ; ) {
      const batches = this.sql.after.all(from)
      for (const batch of batches) {
        const { seq, org_id, received_at } = batch
        for (const [place, id] of eventIdsOf(batch).entries()) {
          this.hash.of(org_id, id)
          const { high, low } = this.hash
          this.index.add(high, low, seq * eventsPerBatch + place, received_at)
        }
      }
      from = batches.at(-1)?.seq ?? from
      const isLast = batches.length < pageBatches
      if (this.index.isHeaped || (isLast && this.index.isFull)) seal(from)
      if (isLast) break
    }
    this.index.committed()
  }

  private sealRecovered(lastSeq: number): void {
    const sealing = this.database.transaction(() => {
      this.index.seal()
      this.sql.setSealed.run(lastSeq)
    })
    sealing.immediate()
    this.index.committed()
  }
}
