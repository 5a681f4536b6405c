import { AppError } from '../../core/errors.ts'
import type { Activity, JudgedEvent } from '../interfaces/events.ts'

/** An organisation is no longer watched once nobody has read its activity for this long, milliseconds. */
export const watchMs = 30_000
/** Makes room for another organisation if nobody has read this one for so long, milliseconds. */
const idleMs = 5_000
/** How many organisations can be watched at once. */
const maxWatched = 16
/** How much is remembered of an organisation. Its bytes are counted as characters of JSON. */
export const maxEvents = 500
const maxBytes = 256 * 1024
/** How many events of an organisation are taken in a second: nobody reads more, and a flood must not cost twice. */
const maxEachSecond = 250

/** What has arrived for one organisation since somebody began to watch; JSON can carry it. */
export interface Ring {
  /** The organisation's row. */
  id: string
  name: string
  since: number
  readAt: number
  kept: { number: number; event: JudgedEvent; bytes: number }[]
  bytes: number
  /** All events that came, including those that are not kept. */
  count: number
  second: number
  inSecond: number
}

const newRing = (id: string, since: number, readAt: number): Ring => ({
  ...{ id, since, readAt, name: crypto.randomUUID().slice(0, 8) },
  ...{ kept: [], bytes: 0, count: 0, second: 0, inSecond: 0 },
})

function add(ring: Ring, events: readonly JudgedEvent[], left: number): void {
  const second = Math.floor(performance.now() / 1_000)
  if (ring.second !== second) ring.inSecond = 0
  ring.second = second
  const taken = events.slice(0, maxEachSecond - ring.inSecond)
  ring.inSecond += taken.length
  ring.count += left + events.length - taken.length
  for (const event of taken) {
    const bytes = JSON.stringify(event).length
    ring.kept.push({ number: ++ring.count, event, bytes })
    ring.bytes += bytes
  }
  while (ring.kept.length > maxEvents || ring.bytes > maxBytes) {
    ring.bytes -= ring.kept.shift()!.bytes
  }
}

/** What follows a cursor; everything if the cursor is of another ring. */
function after({ name, since, kept, count }: Ring, cursor: string | null): Activity {
  const [named, place] = cursor?.split('.') ?? []
  const isAnew = named !== name
  const from = isAnew ? 0 : Number(place)
  const events = kept.filter(({ number }) => number > from).map(({ event }) => event)
  const missed = Math.max(0, count - from - events.length)
  return { cursor: `${name}.${count}`, since, isAnew, missed, events }
}

/**
 * What arrives for organisations that somebody watches. A server alone has it in memory, and writes nothing of it
 * anywhere. Everything is dropped when nobody has read it for half a minute.
 */
export class LiveActivity {
  private readonly rings: Map<string, Ring>

  constructor(
    private readonly now: () => number,
    held: Iterable<Ring> = [],
  ) {
    this.rings = new Map([...held].map(ring => [ring.id, ring]))
  }

  get held(): Iterable<Ring> {
    return this.rings.values()
  }

  isWatched(orgRow: number): boolean {
    return this.rings.has(`${orgRow}`)
  }

  /**
   * Takes events that were judged, and ignores those of organisations that nobody watches.
   *
   * @param left how many were left out before them
   */
  note(orgRow: number, events: readonly JudgedEvent[], left = 0): void {
    const ring = this.rings.get(`${orgRow}`)
    if (ring) add(ring, events, left)
  }

  /** Returns what arrived after a cursor. From now on the organisation is watched. @throws AppError `overloaded` */
  read(orgRow: number, cursor: string | null): Activity {
    const ring = this.rings.get(`${orgRow}`) ?? this.watch(`${orgRow}`)
    ring.readAt = this.now()
    return after(ring, cursor)
  }

  /** Forgets what nobody watches any longer. To be called every so often. */
  expire(olderMs = watchMs): void {
    for (const [id, { readAt }] of this.rings) {
      if (this.now() - readAt > olderMs) this.rings.delete(id)
    }
  }

  /** Somebody was erased: everyone who watches starts anew. */
  forget(): void {
    for (const [id, { readAt }] of this.rings) {
      this.rings.set(id, newRing(id, this.now(), readAt))
    }
  }

  private watch(id: string): Ring {
    if (this.rings.size >= maxWatched) this.expire(idleMs)
    if (this.rings.size >= maxWatched) {
      throw new AppError(
        'overloaded',
        'Too many organisations are watching live events: try again later',
      )
    }
    const ring = newRing(id, this.now(), this.now())
    this.rings.set(id, ring)
    return ring
  }
}
