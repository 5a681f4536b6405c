import type { Database } from 'bun:sqlite'
import { eventsPerBatch, textIn } from '../event-batches.ts'
import { decodeIds } from '../event-text.ts'
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

const pageBatches = 128

interface BatchOfIds {
  seq: number
  org_id: number
  received_at: number
  events: number
  facts: Uint8Array
}

interface IdsOfBatch {
  orgRow: number
  ids: string[]
}

const idsOf = ({ events, facts }: BatchOfIds) => decodeIds({ count: events, facts: textIn(facts) })

function statements(database: Database) {
  const columns = 'seq, org_id, received_at, events, facts'
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
 * Which event ids are stored: strict over the whole ledger, and as fast for random ids as for
 * ordered ones, which a unique index is not (at 20 million random ids it takes a twentieth of the
 * rate that ordered ones have).
 *
 * The latest ids are in memory; all others are in runs on disk, behind filters that answer "surely
 * new" without a read. A place where the hash is found is judged by the ledger itself.
 * Everything is written in the transaction that stores the events, so a crash cannot part the two.
 */
export class EventIds {
  private readonly sql: ReturnType<typeof statements>
  private readonly runs: IdRuns
  private readonly recent: RecentIds
  private readonly hash: IdHash
  /** The row of the ledger that comes next. */
  private nextSeq: number
  /** The rows that are not written yet. */
  private readonly open = new Map<number, IdsOfBatch>()
  private committedSeq: number
  /** The batch that was looked into last: what is sent again is mostly a whole batch. */
  private seen: (IdsOfBatch & { seq: number }) | null = null
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

  /** Begins a row of the ledger, of one organisation's events. */
  openBatch(orgRow: number): number {
    const seq = this.nextSeq++
    this.open.set(seq, { orgRow, ids: [] })
    return seq
  }

  /** The rows that were begun are written. */
  closeBatches(): void {
    this.open.clear()
  }

  /**
   * Takes an id for the next event of a row that was begun.
   *
   * @param receivedAt epoch milliseconds
   * @returns false where the id is stored already
   */
  take(seq: number, id: string, receivedAt: number): boolean {
    const { orgRow, ids } = this.open.get(seq)!
    this.hash.of(orgRow, id)
    this.askedOrg = orgRow
    this.askedId = id
    const { high, low } = this.hash
    if (this.recent.find(high, low, this.isAsked)) return false
    if (this.runs.has(high, low, this.isAsked)) return false
    this.recent.add(high, low, seq * eventsPerBatch + ids.length)
    ids.push(id)
    if (receivedAt > this.newestAt) this.newestAt = receivedAt
    return true
  }

  get mark(): number {
    return this.recent.mark
  }

  /** Gives back ids taken after a mark, of events that were not stored after all. */
  giveBack(mark: number): void {
    this.recent.takeBack(mark)
    this.open.clear()
    this.seen = null
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
    this.runs.rolledBack()
    this.giveBack(0)
    this.nextSeq = this.committedSeq + 1
  }

  private seal(): void {
    this.runs.seal(this.recent, this.policy.runBits, this.newestAt)
    this.sql.setSealed.run(this.nextSeq - 1)
    this.hasSealed = true
  }

  /** Whether an event is the one that is asked for. One that is gone can be told by its hash alone. */
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
      this.seen = { seq, orgRow: batch.org_id, ids: idsOf(batch) }
    }
    return this.seen
  }

  /** Reads the ids that no run has: those of the last moments, or all of a ledger made by an older Cairn. */
  private recover(sealed: number): void {
    for (let from = sealed; ; ) {
      const batches = this.sql.after.all(from)
      for (const batch of batches) {
        const { seq, org_id, received_at } = batch
        for (const [place, id] of idsOf(batch).entries()) {
          this.hash.of(org_id, id)
          this.recent.add(this.hash.high, this.hash.low, seq * eventsPerBatch + place)
        }
        this.newestAt = Math.max(this.newestAt, received_at)
      }
      this.recent.keep()
      from = batches.at(-1)?.seq ?? from
      if (this.recent.size >= this.policy.idsPerRun) this.sealRecovered(from)
      if (batches.length < pageBatches) return
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
