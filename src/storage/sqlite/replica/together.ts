import type { Ticket } from '../../interfaces/tickets.ts'
import type { Member } from '../../log/log.ts'
import { LiveActivity } from '../../shared/live-activity.ts'
import { EventsCopy } from './events-copy.ts'
import { SharedActivity } from './shared-activity.ts'
import { SharedWork, type TogetherParts } from './shared-work.ts'
import { ShortLived } from './short-lived.ts'
import { Snapshots } from './snapshots.ts'

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
