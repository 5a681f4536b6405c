import type { Member } from '../../log/log.ts'
import { AuthorSessions } from '../../shared/author-sessions.ts'
import { LiveActivity } from '../../shared/live-activity.ts'
import { PreviewLinks } from '../../shared/previews.ts'
import { EventsCopy } from './events-copy.ts'
import { SharedActivity } from './shared-activity.ts'
import { SharedWork, type TogetherParts } from './shared-work.ts'
import { ShortLived } from './short-lived.ts'
import { Snapshots } from './snapshots.ts'

/** What several machines do otherwise than a server alone, besides following the log. */
export class Together {
  readonly authors: ShortLived<AuthorSessions>
  readonly previews: ShortLived<PreviewLinks>
  readonly activity: SharedActivity
  readonly snapshots: Snapshots
  readonly events: EventsCopy
  readonly work: SharedWork
  readonly member: Member | null

  constructor(parts: TogetherParts) {
    const { database, dataDir, log, member, work, now, change } = parts
    this.member = member
    const changed = <T>(work: () => T) => change(work)
    const authors = (held: never[]) => new AuthorSessions(held)
    this.authors = new ShortLived(database, 'author session', authors, changed)
    const previews = (held: never[]) => new PreviewLinks(held)
    this.previews = new ShortLived(database, 'preview', previews, changed)
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
