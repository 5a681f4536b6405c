import type { Database } from 'bun:sqlite'
import type { Bucket } from '../../../core/organisation/limits.ts'
import { minuteMs } from '../../../core/time/durations.ts'
import { type PresenceMark, presenceMarks } from '../../interfaces/gate.ts'
import type { BeatBounds } from '../../interfaces/installation.ts'

/** How many of the latest clock skews are kept. */
const skewsKept = 101

/**
 * How far a mark that another request left meanwhile may lie ahead of a request, milliseconds. A mark further
 * ahead is from a clock that was set back since.
 */
const maxAheadMs = 120_000

/** If heartbeats are reserved this far ahead, many pages wait and more of them come. Milliseconds. */
const crowdMs = 40_000

/** When an organisation was first and last seen doing something since the process started, epoch milliseconds. */
interface Seen {
  readonly orgRow: number
  readonly mark: PresenceMark
  readonly firstAt: number
  lastAt: number
}

interface OfOrganisation {
  readonly seen: Partial<Record<PresenceMark, Seen>>
  /** By bucket: the last minute in which its limit was reached. */
  readonly limitedIn: Partial<Record<Bucket, number>>
  /** The moment from which on heartbeats are free, monotonic milliseconds. */
  nextBeatAt: number
}

/**
 * When each organisation was last seen, and what batches have shown of it. It is noted in memory, and written from time
 * to time. Whole seconds are enough for "seen within five minutes".
 */
export class PresenceTable {
  private readonly organisations = new Map<number, OfOrganisation>()
  /** What is not written yet. */
  private readonly unwritten = new Set<Seen>()
  private readonly skews = new Map<number, number[]>()
  private readonly readSkews
  private readonly writeSkews
  private readonly writeVersion
  private readonly writeMark

  constructor(database: Database) {
    this.readSkews = database.query<{ skews: string }, [number]>(
      'select skews from presence where org_id = ?',
    )
    this.writeSkews = database.query(
      `insert into presence (org_id, skews) values (?, ?)
      on conflict do update set skews = excluded.skews`,
    )
    this.writeVersion = database.query(
      `insert into presence (org_id, snippet_version) values (?, ?)
      on conflict do update set snippet_version = excluded.snippet_version`,
    )
    this.writeMark = new Map(
      presenceMarks.map(mark => [
        mark,
        database.query(
          `insert into presence (org_id, ${mark}_first, ${mark}_last) values (?, ?, ?)
          on conflict do update set
            ${mark}_first = min(coalesce(${mark}_first, excluded.${mark}_first), excluded.${mark}_first),
            ${mark}_last = excluded.${mark}_last`,
        ),
      ]),
    )
  }

  mark(orgRow: number, mark: PresenceMark, now: number): void {
    const at = Math.floor(now / 1_000) * 1_000
    const { seen } = this.of(orgRow)
    const before = seen[mark]
    if (before) {
      const aheadMs = before.lastAt - at
      if (aheadMs >= 0 && aheadMs < maxAheadMs) return
      before.lastAt = at
      this.unwritten.add(before)
    } else {
      const first = { orgRow, mark, firstAt: at, lastAt: at }
      seen[mark] = first
      this.unwritten.add(first)
    }
  }

  /** First and last time since the process started; null if never seen. */
  seen(orgRow: number, mark: PresenceMark): Readonly<Seen> | null {
    return this.organisations.get(orgRow)?.seen[mark] ?? null
  }

  /** Notes that a limit was reached. Returns whether that is the first time in its minute. */
  isNewlyLimited(orgRow: number, bucket: Bucket, now: number): boolean {
    const { limitedIn } = this.of(orgRow)
    const minute = Math.floor(now / minuteMs)
    const isNew = limitedIn[bucket] !== minute
    limitedIn[bucket] = minute
    return isNew
  }

  /**
   * Reserves moments for heartbeats, after those that are reserved already, so that all pages together stay
   * within the limit, however many they are.
   *
   * @param now monotonic milliseconds
   * @returns how far ahead the last one is, milliseconds; none is reserved as far ahead as `latestMs`
   */
  reserveBeat(orgRow: number, now: number, bounds: BeatBounds): number {
    const { moments, soonestMs, latestMs, remaining, resetInMs } = bounds
    const organisation = this.of(orgRow)
    const busyMs = Math.max(0, organisation.nextBeatAt - now)
    const apartMs = busyMs < crowdMs ? bounds.apartMs : bounds.apartInCrowdMs
    // This heartbeat, those that are promised, and two for pages that come.
    const isFull = 3 + Math.floor(Math.min(busyMs, resetInMs) / apartMs) > remaining
    const turnMs = busyMs + (moments - 1) * apartMs
    const waitMs = Math.max(soonestMs, turnMs, isFull ? resetInMs : 0)
    if (waitMs >= latestMs) return latestMs
    organisation.nextBeatAt = now + waitMs + apartMs
    return waitMs
  }

  recordSnippetVersion(orgRow: number, version: string): void {
    this.writeVersion.run(orgRow, version)
  }

  addSkew(orgRow: number, skewMs: number): void {
    const skews = this.skews.get(orgRow) ?? []
    skews.push(skewMs)
    if (skews.length > skewsKept) skews.shift()
    this.skews.set(orgRow, skews)
  }

  /** Whether there is anything to write since the last time. */
  get hasNews(): boolean {
    return this.skews.size > 0 || this.unwritten.size > 0
  }

  /**
   * Writes all that has changed since the last time, within a transaction.
   *
   * @returns to be called once that is committed: notes what need not be written again
   */
  write(): () => void {
    for (const [orgRow, skews] of this.skews) {
      const stored = JSON.parse(this.readSkews.get(orgRow)?.skews ?? '[]') as number[]
      const latest = [...stored, ...skews].slice(-skewsKept)
      this.writeSkews.run(orgRow, JSON.stringify(latest))
    }
    const written = [...this.unwritten].map(seen => ({ seen, lastAt: seen.lastAt }))
    for (const { seen } of written) {
      this.writeMark.get(seen.mark)!.run(seen.orgRow, seen.firstAt, seen.lastAt)
    }
    return () => {
      this.skews.clear()
      for (const { seen, lastAt } of written) {
        if (seen.lastAt === lastAt) this.unwritten.delete(seen)
      }
    }
  }

  private of(orgRow: number): OfOrganisation {
    let organisation = this.organisations.get(orgRow)
    if (organisation === undefined) {
      organisation = { seen: {}, limitedIn: {}, nextBeatAt: 0 }
      this.organisations.set(orgRow, organisation)
    }
    return organisation
  }
}
