import type { Activity, JudgedEvent } from '../../interfaces/events.ts'
import { type LiveActivity, maxEvents, watchMs } from '../../shared/live-activity.ts'
import type { ShortLived } from './short-lived.ts'

/** How often what was noted here is shared, and whoever watches elsewhere is looked for; milliseconds. */
const shareEveryMs = 1_000

/** What arrives for organisations that somebody watches, on all machines. */
export class SharedActivity {
  /** Events that wait to be shared, and how many were left out before the first of them; by organisation. */
  private readonly noted = new Map<number, { events: JudgedEvent[]; left: number }>()
  /** As far as is known here. */
  private watched: LiveActivity
  private sharedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly shared: ShortLived<LiveActivity>,
    private readonly now: () => number,
  ) {
    this.watched = shared.read()
  }

  isWatched(orgRow: number): boolean {
    return this.watched.isWatched(orgRow)
  }

  note(orgRow: number, events: readonly JudgedEvent[]): void {
    if (!this.isWatched(orgRow)) return
    const noted = this.noted.get(orgRow) ?? { events: [], left: 0 }
    noted.events.push(...events)
    const excess = Math.max(0, noted.events.length - maxEvents)
    noted.left += noted.events.splice(0, excess).length
    this.noted.set(orgRow, noted)
  }

  /** See `LiveActivity.read`. */
  async read(orgRow: number, cursor: string | null): Promise<Activity> {
    const known = [...this.shared.read().held].find(({ id }) => id === `${orgRow}`)
    // Otherwise each read would be a change that all machines take up.
    const isNoted = known !== undefined && this.now() - known.readAt < watchMs / 4
    if (!isNoted || this.noted.size > 0) {
      await this.shared.use(activity => {
        activity.expire()
        this.share(activity)
        activity.read(orgRow, null)
      })
    }
    this.watched = this.shared.read()
    return this.watched.read(orgRow, cursor)
  }

  /** Shares what was noted, and finds out who is watching by now. To be called every so often. */
  async turn(): Promise<void> {
    if (this.now() - this.sharedAt < shareEveryMs) return
    this.sharedAt = this.now()
    if (this.noted.size > 0) await this.shared.use(activity => this.share(activity))
    this.watched = this.shared.read()
    this.watched.expire()
  }

  /** Somebody is being erased: everyone who watches starts anew. To be called within a change. */
  forget(): void {
    this.shared.within(activity => activity.forget())
  }

  /** Forgets what is noted here and not shared yet. */
  forgetNoted(): void {
    this.noted.clear()
  }

  private share(activity: LiveActivity): void {
    for (const [orgRow, { events, left }] of this.noted) activity.note(orgRow, events, left)
    this.noted.clear()
  }
}
