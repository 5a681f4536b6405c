import type { Database } from 'bun:sqlite'
import type {
  Erased,
  ErasureAudit,
  ErasureProgress,
  NamedPerson,
} from '../../../modules/people/port.ts'
import type { Log, LogBatch, Member } from '../../log/log.ts'
import type { InRows } from '../../shared/in-rows.ts'
import type { ErasedHere } from '../erasure/erase-whole.ts'
import { receiptOf } from '../erasure/erase-whole.ts'
import { type ErasureRow, ErasureTable } from '../erasure/erasure-table.ts'
import { agree, beginErasure } from '../erasure/erasures.ts'
import type { Snapshots } from './snapshots.ts'

/** Shared tables whose rows name people. */
const namingPeople = ['step_reports', 'step_health', 'dead_letters', 'watched_events']

/** Batches that are overwritten in one statement. */
const batchesAtOnce = 200

type Tell = (progress: ErasureProgress) => void

interface ErasureParts {
  database: Database
  dataDir: string
  now: () => number
  /** The position of this machine's database. */
  seq: () => number
  change: <T>(work: () => T, isInPassing?: boolean, committed?: () => void) => Promise<T>
  log: Log
  member: Member | null
  snapshots: Snapshots
  /** Erases a person from the files of this machine. */
  here: (row: ErasureRow, tell: Tell) => Promise<ErasedHere>
  /** Forgets what was reported lately, within the change that begins an erasure. */
  forget: () => void
}

/**
 * Erases people on all machines: each from its own database, then one of them from the log, of which it makes a new
 * snapshot first.
 */
export class SharedErasures {
  private readonly table: ErasureTable
  private running: Promise<void> = Promise.resolve()
  /** What was done here, for the machine that finishes it. */
  private readonly done = new Map<number, ErasedHere>()

  constructor(private readonly parts: ErasureParts) {
    this.table = new ErasureTable(parts.database)
  }

  async erase(
    person: InRows<NamedPerson>,
    audit: ErasureAudit | null,
    tell: Tell,
  ): Promise<Erased> {
    const { database, dataDir, now, change, forget, seq } = this.parts
    let upTo = 0
    const row = await change(
      () => {
        forget()
        return beginErasure(database, dataDir, person, now(), audit)
      },
      false,
      () => {
        upTo = seq()
      },
    )
    return this.finish(row, upTo, tell)
  }

  /** Erases here everybody whom any machine has begun to erase. */
  hereToo(tell: Tell = () => {}): Promise<void> {
    const next = this.running.then(() => this.eraseHere(tell))
    this.running = next.catch(() => {})
    return next
  }

  private async eraseHere(tell: Tell): Promise<void> {
    const { database, dataDir, here, member, seq } = this.parts
    const upTo = seq()
    const due = this.table.all().filter(({ secret }) => secret !== null)
    if (due.length > 0) agree(database, dataDir, this.table)
    for (const row of due) this.done.set(row.id, await here(row, tell))
    member?.hasErased(upTo, due.length > 0)
  }

  /** Finishes what a machine that died had begun. To be called now and then by the machine that has this job. */
  async finishOthers(): Promise<void> {
    for (const row of this.table.all()) {
      if (row.finishedAt === null) await this.finish(row, this.parts.seq(), () => {})
    }
  }

  /** @param upTo the number of the log with which the erasure began, or a later one */
  private async finish(row: ErasureRow, upTo: number, tell: Tell): Promise<Erased> {
    const { member, log, snapshots, change, now } = this.parts
    await this.hereToo(tell)
    const done = this.done.get(row.id)
    await member?.othersHaveErased(upTo)
    await snapshots.make(true)
    await this.overwrite(row.orgRow, upTo, done?.batches ?? null)
    await log.erased(upTo, namingPeople)
    await change(() => this.table.finishWhole(row, now()))
    this.done.delete(row.id)
    return {
      receipt: receiptOf(this.table.get(row)!),
      unfinished: done?.unfinished ?? null,
      copies: done?.copies ?? [],
    }
  }

  /** @param seqs of the batches that are concerned; null if it is not known */
  private async overwrite(orgRow: number, upTo: number, seqs: readonly number[] | null) {
    const { database, log } = this.parts
    const next = database.query<LogBatch, [number, number, number]>(
      `select seq, facts, details from event_batches
      where seq > ? and seq <= ? and org_id = ? order by seq limit ${batchesAtOnce}`,
    )
    const one = database.query<LogBatch, [number, number]>(
      'select seq, facts, details from event_batches where seq = ? and org_id = ?',
    )
    if (seqs === null) {
      for (let after = 0; ; ) {
        const batches = next.all(after, upTo, orgRow)
        if (batches.length === 0) return
        await log.overwrite(batches)
        after = batches.at(-1)!.seq
      }
    }
    for (let from = 0; from < seqs.length; from += batchesAtOnce) {
      const piece = seqs.slice(from, from + batchesAtOnce)
      await log.overwrite(piece.flatMap(seq => one.all(seq, orgRow)))
    }
  }
}
