import type { Database } from 'bun:sqlite'
import type { Ticket } from '../../interfaces/tickets.ts'
import type { Log, Member } from '../../log/log.ts'
import { LiveActivity } from '../../shared/live-activity.ts'
import type { LongWork } from '../writer/long-work.ts'
import { EventsCopy } from './events-copy.ts'
import { SharedActivity } from './shared-activity.ts'
import { SharedWork } from './shared-work.ts'
import { ShortLived } from './short-lived.ts'
import { Snapshots } from './snapshots.ts'

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

/** Tickets by id, over the rows of the table that all machines share. */
class TicketMap extends Map<string, Ticket> {
  constructor(held: readonly Ticket[]) {
    super(held.map(ticket => [ticket.id, ticket]))
  }

  get held(): Iterable<Ticket> {
    return this.values()
  }
}

/** What several machines do otherwise than a server alone, besides following the log. */
export class Together {
  readonly tickets: ShortLived<TicketMap>
  readonly activity: SharedActivity
  readonly snapshots: Snapshots
  readonly events: EventsCopy
  readonly work: SharedWork
  readonly member: Member | null

  constructor(parts: TogetherParts) {
    const { database, dataDir, log, member, work, now, change } = parts
    this.member = member
    const changed = <T>(work: () => T) => change(work)
    const tickets = (held: never[]) => new TicketMap(held)
    this.tickets = new ShortLived(database, 'ticket', tickets, changed)
    const activity = (held: never[]) => new LiveActivity(now, held)
    const inPassing = <T>(work: () => T) => change(work, true)
    this.activity = new SharedActivity(
      new ShortLived(database, 'activity', activity, inPassing),
      now,
    )
    this.snapshots = new Snapshots({ ...parts, log, write: work.snapshot })
    this.events = EventsCopy.open(dataDir, log.events)
    this.work = new SharedWork({
      ...parts,
      ...{ snapshots: this.snapshots, events: this.events },
      forget: () => this.activity.forget(),
    })
  }
}
