import type { Database } from 'bun:sqlite'
import { HashIndex, type HashIndexPolicy } from '../hash-index/hash-index.ts'
import { Segments } from '../hash-index/segments.ts'
import { TextHash } from '../hash-index/text-hash.ts'

/** Chunks of 1,024 ids; merges go four times as fast as they have to. */
export const defaultEventIdsPolicy: HashIndexPolicy = {
  entriesPerSegment: 65_536,
  segmentBits: 6,
  entriesPerMergeStep: 2_048,
}

const pageRows = 8_192

interface StoredId {
  seq: number
  org_id: number
  id: string
  received_at: number
}

function statements(database: Database) {
  return {
    byRow: database.query<{ org_id: number; id: string }, [number]>(
      'select org_id, id from events where seq = ?',
    ),
    after: database.query<StoredId, [number]>(
      `select seq, org_id, id, received_at from events where seq > ? order by seq limit ${pageRows}`,
    ),
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    setSealed: database.query("update server_state set value = ? where name = 'event_ids_sealed'"),
    lastSeq: database.query<{ seq: number }, []>('select coalesce(max(seq), 0) as seq from events'),
  }
}

/**
 * Which event ids are stored: strict over the whole ledger, by a hash index. A place where the hash is
 * found is judged by the ledger's row itself.
 */
export class EventIds {
  private readonly sql: ReturnType<typeof statements>
  private readonly index: HashIndex
  private readonly hash: TextHash
  private nextSeq: number
  private committedSeq: number
  private askedOrg = 0
  private askedId = ''

  constructor(
    private readonly database: Database,
    policy = defaultEventIdsPolicy,
  ) {
    this.sql = statements(database)
    this.index = new HashIndex(new Segments(database, 'event_id', policy), policy)
    const state = (name: string) => this.sql.state.get(name)?.value ?? 0
    this.hash = new TextHash(state('event_ids_seed_1'), state('event_ids_seed_2'))
    const sealed = state('event_ids_sealed')
    this.committedSeq = Math.max(sealed, this.sql.lastSeq.get()?.seq ?? 0)
    this.nextSeq = this.committedSeq + 1
    this.recover(sealed)
  }

  /**
   * Takes an id for an event that is about to be stored.
   *
   * @param receivedAt epoch milliseconds
   * @returns the event's row, or null where the id is stored already
   */
  take(orgRow: number, id: string, receivedAt: number): number | null {
    this.hash.of(orgRow, id)
    this.askedOrg = orgRow
    this.askedId = id
    const { high, low } = this.hash
    if (this.index.find(high, low, this.isAsked) !== 0) return null
    const seq = this.nextSeq++
    this.index.add(high, low, seq, receivedAt)
    return seq
  }

  get mark(): number {
    return this.index.mark
  }

  /** Gives back ids taken after a mark, of events that were not stored after all. */
  giveBack(mark: number): void {
    this.index.takeBack(mark)
  }

  /** The last thing in a transaction: seals a segment if it is due, and moves merges on. */
  beforeCommit(): void {
    if (this.index.isFull) this.seal()
    this.index.merge()
  }

  /** In the last transaction: spares the next start reading most ids again. */
  beforeStop(): void {
    if (this.index.isWorthSealing) this.seal()
  }

  committed(): void {
    this.index.committed()
    this.committedSeq = this.nextSeq - 1
  }

  rolledBack(): void {
    this.index.rolledBack()
    this.nextSeq = this.committedSeq + 1
  }

  private seal(): void {
    this.index.seal()
    this.sql.setSealed.run(this.nextSeq - 1)
  }

  /** Whether a row is the event that is asked for. A row that is gone can be told by its hash alone. */
  private readonly isAsked = (seq: number): boolean => {
    const row = this.sql.byRow.get(seq)
    return !row || (row.id === this.askedId && row.org_id === this.askedOrg)
  }

  /** Reads the ids that no segment has: those of the last moments, or all of a ledger made by an older Cairn. */
  private recover(sealed: number): void {
    for (let from = sealed; ; ) {
      const rows = this.sql.after.all(from)
      for (const { seq, org_id, id, received_at } of rows) {
        this.hash.of(org_id, id)
        this.index.add(this.hash.high, this.hash.low, seq, received_at)
      }
      from = rows.at(-1)?.seq ?? from
      const isLast = rows.length < pageRows
      if (this.index.isHeaped || (isLast && this.index.isFull)) this.sealRecovered(from)
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
