import type { Database } from 'bun:sqlite'
import { AppError } from '../../../core/errors.ts'
import type { Activity, JudgedEvent } from '../../../modules/events/port.ts'
import { activityBounds, maxWatched, tooManyWatched } from '../../shared/activity/live-activity.ts'

const { watchMs, idleMs, mostEvents, mostBytes } = activityBounds

/** Whoever watches is noted again after this long, milliseconds. */
const noteAgainMs = watchMs / 4

/** Events that wait to be written, and how many were left out before the first of them. */
interface Noted {
  events: JudgedEvent[]
  left: number
}

interface Watched {
  name: string
  since: number
  asked_at: number
  count: number
}

function statements(database: Database) {
  return {
    watched: database.query<Watched, [number]>('select * from watched where org_id = ?'),
    all: database.query<{ org_id: number }, [number, number]>(
      'select org_id from watched where asked_at > ? order by asked_at desc limit ?',
    ),
    number: database.query<{ watched: number }, []>('select count(*) as watched from watched'),
    begin: database.query(
      'insert into watched (org_id, name, since, asked_at, count) values (?, ?, ?, ?, 0)',
    ),
    ask: database.query('update watched set asked_at = ? where org_id = ?'),
    end: database.query('delete from watched where asked_at <= ?'),
    endEvents: database.query(
      'delete from watched_events where org_id not in (select org_id from watched)',
    ),
    rename: database.query('update watched set name = ?, count = 0'),
    forget: database.query('delete from watched_events'),
    grow: database.query('update watched set count = ? where org_id = ?'),
    add: database.query('insert into watched_events (org_id, number, event) values (?, ?, ?)'),
    events: database.query<{ event: string }, [number, number]>(
      'select event from watched_events where org_id = ? and number > ? order by number',
    ),
    // The newest ones stay, within the bounds on their number and size.
    drop: database.query(
      `delete from watched_events where org_id = ?1 and number in (
        select number from (
          select number, row_number() over newest as place, sum(length(event)) over newest as size
          from watched_events where org_id = ?1 window newest as (order by number desc)
        ) where place > ?2 or size > ?3)`,
    ),
  }
}

const newName = () => crypto.randomUUID().slice(0, 8)

/**
 * What arrives for organisations that somebody watches, on all machines: each writes what it has judged into
 * tables that all share. `LiveActivity` does the same for a server alone.
 */
export class SharedActivity {
  private readonly sql
  private readonly noted = new Map<number, Noted>()
  /** The organisations that are watched, as far as is known here. */
  private watched: ReadonlySet<number> = new Set()

  /** @param change makes a change that all machines take up */
  constructor(
    database: Database,
    private readonly now: () => number,
    private readonly change: <T>(work: () => T) => Promise<T>,
  ) {
    this.sql = statements(database)
  }

  isWatched(orgRow: number): boolean {
    return this.watched.has(orgRow)
  }

  /** Takes events that were judged, and ignores those of organisations that nobody watches. */
  note(orgRow: number, events: readonly JudgedEvent[], left: number): void {
    if (!this.isWatched(orgRow)) return
    const noted = this.noted.get(orgRow) ?? { events: [], left: 0 }
    noted.left += left
    noted.events.push(...events)
    const tooMany = noted.events.length - mostEvents
    if (tooMany > 0) noted.left += noted.events.splice(0, tooMany).length
    this.noted.set(orgRow, noted)
  }

  /** Returns what arrived after a cursor. From now on the organisation is watched. @throws AppError `overloaded` */
  async read(orgRow: number, after: string | null): Promise<Activity> {
    const known = this.sql.watched.get(orgRow)
    const isNoted = known !== null && this.now() - known.asked_at < noteAgainMs
    if (!isNoted || this.noted.size > 0) await this.change(() => this.write(orgRow))
    this.look()
    const watched = this.sql.watched.get(orgRow)!
    const [name, place] = after?.split('.') ?? []
    const isAnew = name !== watched.name
    const from = isAnew ? 0 : Number(place)
    const rows = this.sql.events.all(orgRow, from)
    return {
      cursor: `${watched.name}.${watched.count}`,
      since: watched.since,
      isAnew,
      missed: Math.max(0, watched.count - from - rows.length),
      events: rows.map(({ event }) => JSON.parse(event) as JudgedEvent),
    }
  }

  /** Writes what was noted, and finds out who is watching by now. To be called every so often. */
  async turn(): Promise<void> {
    if (this.noted.size > 0) await this.change(() => this.write(null))
    this.look()
  }

  /** Somebody is being erased: everyone who watches starts anew. To be called within a change. */
  forget(): void {
    this.sql.rename.run(newName())
    this.sql.forget.run()
  }

  /** Forgets what is noted here and not written yet. */
  forgetNoted(): void {
    this.noted.clear()
  }

  private look(): void {
    const rows = this.sql.all.all(this.now() - watchMs, maxWatched)
    this.watched = new Set(rows.map(({ org_id }) => org_id))
  }

  /** @param asker for which organisation somebody asks; null if nobody does */
  private write(asker: number | null): void {
    const now = this.now()
    if (asker !== null) {
      this.end(now - watchMs)
      if (this.sql.ask.run(now, asker).changes === 0) this.watch(asker, now)
    }
    for (const [orgRow, { events, left }] of this.noted) {
      const watched = this.sql.watched.get(orgRow)
      if (watched === null) continue
      const first = watched.count + left + 1
      for (const [i, event] of events.entries()) {
        this.sql.add.run(orgRow, first + i, JSON.stringify(event))
      }
      this.sql.grow.run(first + events.length - 1, orgRow)
      this.sql.drop.run(orgRow, mostEvents, mostBytes)
    }
    this.noted.clear()
  }

  private watch(orgRow: number, now: number): void {
    const isFull = () => this.sql.number.get()!.watched >= maxWatched
    if (isFull()) this.end(now - idleMs)
    if (isFull()) throw new AppError('overloaded', tooManyWatched)
    this.sql.begin.run(orgRow, newName(), now, now)
  }

  private end(before: number): void {
    if (this.sql.end.run(before).changes > 0) this.sql.endEvents.run()
  }
}
