import { AppError } from '../../../core/errors.ts'
import type { Activity, JudgedEvent } from '../../../modules/events/port.ts'
import { activityBounds, tooManyWatched } from '../../shared/activity/live-activity.ts'
import { mostWatched, type WatchBoard } from '../../shared/boards.ts'
import type { Postgres, Queries } from '../database/connection.ts'

/** How often to check which organisations are watched, through whichever node; milliseconds. */
const lookEveryMs = 500

/** Events that wait to be written, and how many were left out before the first of them. */
interface Noted {
  events: JudgedEvent[]
  left: number
}

interface Watched {
  name: string
  since: number
  count: number
}

/**
 * What arrives for organisations that somebody watches, across all nodes. Each node writes the events that it
 * has judged into tables that do not survive a crash, and any node can report all of them. `LiveActivity` does
 * the same for a server alone.
 */
export class SharedActivity {
  private readonly noted = new Map<number, Noted>()
  private lookedAt = Number.NEGATIVE_INFINITY
  private writing: Promise<void> = Promise.resolve()
  /** How many erasures there were, and for how many of them nothing is reported of those people any more. */
  private erasures = 0
  private forgottenUpTo = 0

  constructor(
    private readonly postgres: Postgres,
    private readonly board: WatchBoard,
    private readonly now: () => number,
  ) {}

  /** Takes events that were judged, and ignores those of organisations that nobody watches. */
  note(orgRow: number, events: readonly JudgedEvent[], left: number): void {
    if (!this.board.isWatched(orgRow)) return
    const noted = this.noted.get(orgRow) ?? { events: [], left: 0 }
    noted.left += left
    noted.events.push(...events)
    const tooMany = noted.events.length - activityBounds.mostEvents
    if (tooMany > 0) noted.left += noted.events.splice(0, tooMany).length
    this.noted.set(orgRow, noted)
  }

  /** Returns what arrived after a cursor. From now on the organisation is watched. @throws AppError `overloaded` */
  async read(orgRow: number, after: string | null): Promise<Activity> {
    await this.forgotten()
    await this.write()
    const watched = (await this.ask(orgRow)) ?? (await this.watch(orgRow))
    const [name, place] = after?.split('.') ?? []
    const isAnew = name !== watched.name
    const from = isAnew ? 0 : Number(place)
    const rows = await this.postgres.all<{ event: string }>(
      `select event from watched_events
      where org_id = $1 and number > $2 and number <= $3 order by number`,
      orgRow,
      from,
      watched.count,
    )
    return {
      cursor: `${watched.name}.${watched.count}`,
      since: watched.since,
      isAnew,
      missed: Math.max(0, watched.count - from - rows.length),
      events: rows.map(({ event }) => JSON.parse(event) as JudgedEvent),
    }
  }

  /** Writes what was noted, and checks who is watching by now. To be called every so often. */
  async turn(): Promise<void> {
    // Another node may have erased somebody while this one wrote what it had noted about them.
    await this.forgotten()
    await this.write()
    if (performance.now() - this.lookedAt < lookEveryMs) return
    this.lookedAt = performance.now()
    await this.look()
  }

  /** Somebody was erased: everyone who watches starts anew. */
  forget(): void {
    this.noted.clear()
    this.erasures++
  }

  /** Resolves once nothing is reported any more about people who were erased. */
  async forgotten(): Promise<void> {
    const erasures = this.erasures
    if (this.forgottenUpTo === erasures) return
    // The write under way may be about them.
    await this.writing
    await this.postgres.begin(async queries => {
      await queries.run('update watched set name = left(gen_random_uuid()::text, 8), count = 0')
      await queries.run('delete from watched_events')
    })
    this.forgottenUpTo = Math.max(this.forgottenUpTo, erasures)
  }

  private write(): Promise<void> {
    // One write after the other, because events are numbered in the order of arrival.
    const written = this.writing.then(async () => {
      const all = [...this.noted]
      this.noted.clear()
      for (const [orgRow, noted] of all) await this.append(orgRow, noted)
    })
    this.writing = written.catch(() => {})
    return written
  }

  private append(orgRow: number, { events, left }: Noted): Promise<void> {
    return this.postgres.begin(async queries => {
      const watched = await queries.get<{ count: number }>(
        'update watched set count = count + $2 where org_id = $1 returning count',
        orgRow,
        left + events.length,
      )
      if (watched === null) return
      const first = watched.count - events.length + 1
      await queries.run(
        `insert into watched_events (org_id, number, event)
        select $1, $2::bigint + place - 1, event
        from json_array_elements_text($3::text::json) with ordinality as e (event, place)`,
        orgRow,
        first,
        JSON.stringify(events.map(event => JSON.stringify(event))),
      )
      await dropOldest(queries, orgRow)
    })
  }

  private ask(orgRow: number): Promise<Watched | null> {
    return this.postgres.get<Watched>(
      `update watched set asked_at = clock_timestamp() where org_id = $1
      returning name, since, count`,
      orgRow,
    )
  }

  private async watch(orgRow: number): Promise<Watched> {
    const watched = await this.postgres.begin(async queries => {
      await queries.run('lock table watched in share row exclusive mode')
      if ((await countOf(queries)) >= mostWatched) await unwatch(queries, activityBounds.idleMs)
      if ((await countOf(queries)) >= mostWatched) throw new AppError('overloaded', tooManyWatched)
      return queries.get<Watched>(
        `insert into watched (org_id, name, since)
        values ($1, left(gen_random_uuid()::text, 8), $2)
        on conflict (org_id) do update set asked_at = clock_timestamp()
        returning name, since, count`,
        orgRow,
        this.now(),
      )
    })
    await this.look()
    return watched!
  }

  private async look(): Promise<void> {
    await unwatch(this.postgres, activityBounds.watchMs)
    const rows = await this.postgres.all<{ org_id: number }>(
      'select org_id from watched order by asked_at desc limit $1',
      mostWatched,
    )
    this.board.set(rows.map(({ org_id }) => org_id))
  }
}

async function countOf(queries: Queries): Promise<number> {
  return (await queries.get<{ count: number }>('select count(*) as count from watched'))!.count
}

/** Forgets organisations that nobody has asked about for that long, with all that arrived for them. */
const unwatch = (queries: Queries, idleMs: number) =>
  queries.run(
    `delete from watched where asked_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    idleMs,
  )

/** Keeps the newest events, within the bounds on their number and size. */
const dropOldest = (queries: Queries, orgRow: number) =>
  queries.run(
    `delete from watched_events as w using (
      select number, row_number() over newest as place,
        sum(length(event)) over newest as characters
      from watched_events where org_id = $1 window newest as (order by number desc)
    ) as kept
    where w.org_id = $1 and w.number = kept.number
      and (kept.place > $2 or kept.characters > $3)`,
    orgRow,
    activityBounds.mostEvents,
    activityBounds.mostBytes,
  )
