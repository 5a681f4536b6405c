import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type { OperationAudit, RebuildProgress, Rebuilt } from '../../interfaces/operations.ts'
import type {
  Erasure,
  ErasureAudit,
  ErasureProgress,
  NamedPerson,
} from '../../interfaces/people.ts'
import type { Log, Member } from '../../log/log.ts'
import { type LogBatch, LogUnavailable } from '../../log/log.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { stateIn } from '../database/server-state.ts'
import type { ErasedHere } from '../erasure/erase-whole.ts'
import { receiptOf } from '../erasure/erase-whole.ts'
import { type ErasureRow, ErasureTable } from '../erasure/erasure-table.ts'
import { allowAgain, beginErasure } from '../erasure/erasures.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import type { LongWork } from '../writer/long-work.ts'
import type { EventsCopy } from './events-copy.ts'
import { SharedList } from './shared-list.ts'
import type { Snapshots } from './snapshots.ts'

/** What makes a database one of several that follow a log. */
export interface Following {
  log: Log
  /** Null for a command, for which nobody waits. */
  member: Member | null
  /** Work in a thread of its own, on this machine's own files. */
  work: Pick<LongWork, 'eraseHere' | 'rebuildHere' | 'snapshot'>
}

/** What this machine does, for what several machines do together. */
export interface TogetherParts extends Following {
  database: Database
  dataDir: string
  now: () => number
  /** The position of this machine's database. */
  seq: () => number
  change: <T>(work: () => T, isInPassing?: boolean, committed?: () => void) => Promise<T>
  /** Changes what is about this machine alone. */
  here: (work: () => void) => Promise<void>
  /** Resolves once no transaction is open. */
  idle: () => Promise<void>
  /** Deletes from this machine's ledger what is due there. */
  retain: () => Promise<void>
}

/** For a rebuild that was requested on another machine, and notes. */
const nobodysAudit: OperationAudit = {
  at: 0,
  actor: { via: 'command line', name: '', requestId: null },
  action: 'rebuild',
  subject: '',
  note: null,
}

/** Notes the newest rebuild that this machine has made. */
function noteRebuilt(database: Database, id: number): void {
  database
    .query(
      `insert into server_state (name, value) values ('rebuilt', ?)
      on conflict do update set value = excluded.value`,
    )
    .run(id)
}

/** Shared tables whose rows name people. */
const namingPeople = ['step_reports', 'step_health', 'dead_letters']

/** Batches that are overwritten in one statement. */
const batchesAtOnce = 16

type Tell = (progress: ErasureProgress) => void

interface WorkParts extends TogetherParts {
  snapshots: Snapshots
  events: EventsCopy
  /** Forgets what was reported lately, within the change that begins an erasure. */
  forget: () => void
}

/**
 * Long work that every machine does on its own database, in the order of the requests.
 *
 * People are erased from each database, and then by one machine from the log, of which it makes a new snapshot first.
 */
export class SharedWork {
  private readonly table: ErasureTable
  private readonly list: SharedList
  private running: Promise<void> = Promise.resolve()
  /** The rebuild that somebody waits for here. */
  private awaited: {
    audit: OperationAudit
    tell: (progress: RebuildProgress) => void
    lines: [number, AuditEntry][]
    rebuilt: Rebuilt | null
  } | null = null
  /** What was erased here, for the machine that finishes it. */
  private readonly done = new Map<number, ErasedHere>()

  constructor(private readonly parts: WorkParts) {
    this.table = new ErasureTable(parts.database)
    this.list = new SharedList(parts.database, parts.dataDir)
  }

  async erase(
    person: InRows<NamedPerson>,
    audit: ErasureAudit | null,
    tell: Tell,
  ): Promise<Erasure> {
    const { database, dataDir, now, change, forget, seq } = this.parts
    let upTo = 0
    const row = await change(
      () => {
        forget()
        const row = beginErasure(database, dataDir, person, now(), audit)
        this.list.share()
        return row
      },
      false,
      () => {
        upTo = seq()
      },
    )
    return this.finish(row, upTo, tell)
  }

  /** Allows a person's reports again. @returns whether they had been erased */
  allow(person: InRows<NamedPerson>, audit: ErasureAudit): Promise<boolean> {
    const { database, dataDir, now, change } = this.parts
    return change(() => {
      const wasErased = allowAgain(database, dataDir, person, now(), audit)
      this.list.share()
      return wasErased
    })
  }

  /** Begins to erase whom the list of this directory has, and the log does not know: to be called at a start. */
  async agree(): Promise<void> {
    this.list.takeUp()
    if (this.list.isAhead) await this.parts.change(() => this.list.agree())
  }

  /** Does here whatever any machine has begun. */
  hereToo(tell: Tell = () => {}): Promise<void> {
    const next = this.running.then(() => this.doHere(tell))
    this.running = next.catch(() => {})
    return next
  }

  private async doHere(tell: Tell): Promise<void> {
    const { work, member, seq, idle, retain } = this.parts
    // The work beside this thread sees nothing of an open transaction: neither an erasure in it nor the events.
    await idle()
    const upTo = seq()
    const all = this.table.all()
    // Another machine has finished these.
    for (const { id, finishedAt } of all) if (finishedAt !== null) this.done.delete(id)
    const due = all.filter(({ secret }) => secret !== null)
    this.list.takeUp()
    // What goes with a person depends on the events that are left, which must be the same on all machines.
    if (due.length > 0) await retain()
    for (const row of due) this.done.set(row.id, await work.eraseHere(row, tell))
    const isRebuilt = await this.rebuildIfRequested()
    member?.hasDone(upTo, due.length > 0 || isRebuilt)
  }

  /** Computes the projections of all machines anew. @returns what was found here */
  async rebuild(
    audit: OperationAudit,
    tell: (progress: RebuildProgress) => void,
  ): Promise<Rebuilt> {
    const { change, member, seq, now, database } = this.parts
    let upTo = 0
    const lines: [number, AuditEntry][] = []
    this.awaited = { audit, tell, lines, rebuilt: null }
    try {
      await change(
        () => void database.query('insert into rebuilds (at) values (?)').run(now()),
        false,
        () => {
          upTo = seq()
        },
      )
      await this.hereToo()
      const { rebuilt } = this.awaited
      // The log may have the rebuild although this machine could not commit it, because its disk was full.
      if (rebuilt === null) {
        throw new LogUnavailable('The rebuild has begun, but not on this machine')
      }
      await change(() => {
        for (const [orgRow, entry] of lines) writeAudit(database, orgRow, [entry])
      })
      await member?.othersHaveDone(upTo)
      return rebuilt
    } finally {
      this.awaited = null
    }
  }

  private async rebuildIfRequested(): Promise<boolean> {
    const { database, work } = this.parts
    const newest = database
      .query<{ id: number }, []>('select coalesce(max(id), 0) as id from rebuilds')
      .get()!.id
    if (newest <= stateIn(database, 'rebuilt')) return false
    const { awaited } = this
    const audit = awaited?.audit ?? nobodysAudit
    const { audits, ...rebuilt } = await work.rebuildHere(audit, awaited?.tell ?? (() => {}))
    if (awaited) {
      awaited.rebuilt = rebuilt
      awaited.lines.push(...audits)
    }
    await this.parts.here(() => noteRebuilt(database, newest))
    return true
  }

  /** Finishes what a machine that died had begun. To be called now and then by the machine that has this job. */
  async finishOthers(): Promise<void> {
    for (const row of this.table.all()) {
      if (row.finishedAt === null) await this.finish(row, this.parts.seq(), () => {})
    }
  }

  /** @param upTo the number of the log with which the erasure began, or a later one */
  private async finish(row: ErasureRow, upTo: number, tell: Tell): Promise<Erasure> {
    const { member, log, snapshots, events, change, now } = this.parts
    await this.hereToo(tell)
    // The log may have the erasure although this machine could not commit it, because its disk was full.
    if (this.table.get(row)?.secret !== null) {
      throw new LogUnavailable('The erasure has begun, but not on this machine')
    }
    const done = this.done.get(row.id)
    await member?.othersHaveDone(upTo)
    await snapshots.make(true)
    for (const seqs of this.batchesOf(row.orgRow, upTo, done?.batches ?? null)) {
      await this.overwrite(row.orgRow, seqs)
      await events.rewrite(seqs)
    }
    await log.erased(upTo, namingPeople)
    await change(() => this.table.finishWhole(row, now()))
    this.done.delete(row.id)
    return {
      ...receiptOf(this.table.get(row)!),
      unfinished: done?.unfinished ?? null,
      copies: done?.copies ?? [],
    }
  }

  /** Batches that were written again, a few at once. @param seqs those that are concerned; null if it is not known */
  private *batchesOf(orgRow: number, upTo: number, seqs: readonly number[] | null) {
    const { database } = this.parts
    const known =
      seqs ??
      database
        .query<{ seq: number }, [number, number]>(
          'select seq from event_batches where org_id = ? and seq <= ? order by seq',
        )
        .all(orgRow, upTo)
        .map(({ seq }) => seq)
    for (let from = 0; from < known.length; from += batchesAtOnce) {
      yield known.slice(from, from + batchesAtOnce)
    }
  }

  private async overwrite(orgRow: number, seqs: readonly number[]): Promise<void> {
    const { database, log } = this.parts
    const body = database.query<Pick<LogBatch, 'seq' | 'body'>, [number, number]>(
      'select seq, body from event_batches where seq = ? and org_id = ?',
    )
    await log.overwrite(seqs.flatMap(seq => body.all(seq, orgRow)))
  }
}
