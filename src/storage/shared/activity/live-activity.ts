import { AppError } from '../../../core/errors.ts'
import type { Activity, JudgedEvent } from '../../../modules/events/port.ts'

/** How much is remembered, and for how long. */
export const activityBounds = {
  /** Whoever has not asked for this long no longer watches, milliseconds. */
  watchMs: 30_000,
  /** Whoever has not asked for this long makes room for another organisation, milliseconds. */
  idleMs: 5_000,
  /** How much is remembered of an organisation. Its bytes are counted as characters of JSON. */
  mostEvents: 500,
  mostBytes: 256 * 1024,
}
const { watchMs, idleMs, mostEvents, mostBytes } = activityBounds

/** How many organisations can be watched at once. */
export const maxWatched = 16

export const tooManyWatched = 'The activity of too many organisations is watched: try later'

/** What has arrived for one organisation since somebody began to watch. */
class Ring {
  private readonly kept: { number: number; event: JudgedEvent; bytes: number }[] = []
  private bytes = 0
  /** All events that came, including those that are not kept. */
  private count = 0
  private readonly name = crypto.randomUUID().slice(0, 8)

  constructor(
    private readonly since: number,
    public askedAt: number,
  ) {}

  add(events: readonly JudgedEvent[], left: number): void {
    this.count += left
    for (const event of events) {
      const bytes = JSON.stringify(event).length
      this.kept.push({ number: ++this.count, event, bytes })
      this.bytes += bytes
    }
    while (this.kept.length > mostEvents || this.bytes > mostBytes) {
      this.bytes -= this.kept.shift()!.bytes
    }
  }

  /** What follows a cursor; everything if the cursor is of another ring. */
  after(cursor: string | null): Activity {
    const [name, place] = cursor?.split('.') ?? []
    const isAnew = name !== this.name
    const from = isAnew ? 0 : Number(place)
    const events = this.kept.filter(({ number }) => number > from).map(({ event }) => event)
    return {
      cursor: `${this.name}.${this.count}`,
      since: this.since,
      isAnew,
      missed: Math.max(0, this.count - from - events.length),
      events,
    }
  }
}

/**
 * What arrives for organisations that somebody watches, in memory. Nothing is written anywhere, and everything is
 * forgotten when nobody has asked for half a minute.
 */
export class LiveActivity {
  /** By the row of the organisation. */
  private readonly rings = new Map<number, Ring>()

  constructor(
    private readonly monotonic: () => number,
    private readonly now: () => number,
  ) {}

  isWatched(orgRow: number): boolean {
    return this.rings.has(orgRow)
  }

  /** Takes events that were judged, and ignores those of organisations that nobody watches. */
  note(orgRow: number, events: readonly JudgedEvent[], left: number): void {
    this.rings.get(orgRow)?.add(events, left)
  }

  /** Returns what arrived after a cursor. From now on the organisation is watched. @throws AppError `overloaded` */
  read(orgRow: number, after: string | null): Activity {
    const ring = this.rings.get(orgRow) ?? this.watch(orgRow)
    ring.askedAt = this.monotonic()
    return ring.after(after)
  }

  /** Forgets what nobody watches any more. To be called every so often. */
  expire(): void {
    if (this.rings.size === 0) return
    this.unwatch(ring => this.monotonic() - ring.askedAt > watchMs)
  }

  /** Somebody was erased: everyone who watches starts anew. */
  forget(): void {
    const now = this.now()
    for (const [orgRow, { askedAt }] of this.rings) this.rings.set(orgRow, new Ring(now, askedAt))
  }

  private watch(orgRow: number): Ring {
    const now = this.monotonic()
    if (this.rings.size >= maxWatched) this.unwatch(ring => now - ring.askedAt > idleMs)
    if (this.rings.size >= maxWatched) {
      throw new AppError('overloaded', tooManyWatched)
    }
    const ring = new Ring(this.now(), now)
    this.rings.set(orgRow, ring)
    return ring
  }

  private unwatch(isOver: (ring: Ring) => boolean): void {
    for (const [orgRow, ring] of this.rings) if (isOver(ring)) this.rings.delete(orgRow)
  }
}
