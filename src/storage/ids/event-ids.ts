import type { Database } from 'bun:sqlite'
import { IdHash } from './id-hash.ts'
import { IdRuns } from './id-runs.ts'
import { RecentIds } from './recent-ids.ts'

export interface EventIdsPolicy {
  /** Ids that make a run. They are in memory until then, and read again at a start. */
  idsPerRun: number
  /** Bits of the hash that choose one of a new run's chunks. */
  runBits: number
  /** A merge moves one chunk each time that so many ids came in. */
  idsPerMergeStep: number
}

/** Chunks of 1,024 ids; merges go four times as fast as they have to. */
export const defaultEventIdsPolicy: EventIdsPolicy = {
  idsPerRun: 65_536,
  runBits: 6,
  idsPerMergeStep: 2_048,
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
 * Which event ids are stored: strict over the whole ledger, and as fast for random ids as for
 * ordered ones, which a unique index is not (at 20 million random ids it takes a twentieth of the
 * rate that ordered ones have).
 *
 * The latest ids are in memory; all others are in runs on disk, behind filters that answer "surely
 * new" without a read. A place where the hash is found is judged by the ledger's row itself.
 * Everything is written in the transaction that stores the events, so a crash cannot part the two.
 */
export class EventIds {
  private readonly sql: ReturnType<typeof statements>
  private readonly runs: IdRuns
  private readonly recent: RecentIds
  private readonly hash: IdHash
  private nextSeq: number
  private committedSeq: number
  private newestAt = 0
  /** The transaction under way has made a run of all recent ids. */
  private hasSealed = false
  /** Since the last step of each level's merge. */
  private readonly idsSinceStep = new Map<number, number>()
  private askedOrg = 0
  private askedId = ''

  constructor(
    private readonly database: Database,
    private readonly policy = defaultEventIdsPolicy,
  ) {
    this.sql = statements(database)
    this.recent = new RecentIds(policy.idsPerRun * 4)
    this.runs = new IdRuns(database)
    const state = (name: string) => this.sql.state.get(name)?.value ?? 0
    this.hash = new IdHash(state('event_ids_seed_1'), state('event_ids_seed_2'))
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
    if (this.recent.find(high, low, this.isAsked)) return null
    if (this.runs.has(high, low, this.isAsked)) return null
    const seq = this.nextSeq++
    this.recent.add(high, low, seq)
    if (receivedAt > this.newestAt) this.newestAt = receivedAt
    return seq
  }

  get mark(): number {
    return this.recent.mark
  }

  /** Gives back ids taken after a mark, of events that were not stored after all. */
  giveBack(mark: number): void {
    this.recent.takeBack(mark)
  }

  /** The last thing in a transaction: seals a run if it is due, and moves merges on. */
  beforeCommit(): void {
    const taken = this.recent.mark
    if (this.recent.size >= this.policy.idsPerRun) this.seal()
    for (const level of this.runs.mergesDue()) {
      const waiting = (this.idsSinceStep.get(level) ?? 0) + taken
      const isDue = waiting >= this.policy.idsPerMergeStep
      if (isDue) this.runs.mergeStep(level)
      this.idsSinceStep.set(level, isDue ? 0 : waiting)
    }
  }

  committed(): void {
    if (this.hasSealed) this.recent.clear()
    this.hasSealed = false
    this.recent.keep()
    this.runs.committed()
    this.committedSeq = this.nextSeq - 1
  }

  rolledBack(): void {
    this.hasSealed = false
    this.recent.takeBack(0)
    this.runs.rolledBack()
    this.nextSeq = this.committedSeq + 1
  }

  private seal(): void {
    this.runs.seal(this.recent, this.policy.runBits, this.newestAt)
    this.sql.setSealed.run(this.nextSeq - 1)
    this.hasSealed = true
  }

  /** Whether a row is the event that is asked for. A row that is gone can be told by its hash alone. */
  private readonly isAsked = (seq: number): boolean => {
    const row = this.sql.byRow.get(seq)
    return !row || (row.id === this.askedId && row.org_id === this.askedOrg)
  }

  /** Reads the ids that no run has: those of the last moments, or all of a ledger made by an older Cairn. */
  private recover(sealed: number): void {
    for (let from = sealed; ; ) {
      const rows = this.sql.after.all(from)
      for (const { seq, org_id, id, received_at } of rows) {
        this.hash.of(org_id, id)
        this.recent.add(this.hash.high, this.hash.low, seq)
        this.newestAt = Math.max(this.newestAt, received_at)
      }
      this.recent.keep()
      from = rows.at(-1)?.seq ?? from
      if (this.recent.size >= this.policy.idsPerRun) this.sealRecovered(from)
      if (rows.length < pageRows) return
    }
  }

  private sealRecovered(lastSeq: number): void {
    const sealing = this.database.transaction(() => {
      this.runs.seal(this.recent, this.policy.runBits, this.newestAt)
      this.sql.setSealed.run(lastSeq)
    })
    sealing.immediate()
    this.runs.committed()
    this.recent.clear()
  }
}
