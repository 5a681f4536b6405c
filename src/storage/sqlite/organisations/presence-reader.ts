import type { Database } from 'bun:sqlite'
import { rejectionCodes } from '../../../core/event/event.ts'
import { buckets } from '../../../core/organisation/limits.ts'
import { summedHours } from '../../../core/organisation/verified-identity.ts'
import { least } from '../../../core/run/run.ts'
import { hourMs } from '../../../core/time/durations.ts'
import { presenceMarks } from '../../interfaces/gate.ts'
import type { CountedSince, Presence } from '../../interfaces/installation.ts'
import { countsKeptMs, limitReached, rejectedOrigin } from '../../shared/refusals.ts'
import type { PresenceTable } from './presence-table.ts'
import { identityHours } from './user-hashes.ts'

/** The counts of some words, each stored under a code of its own; words never counted are left out. */
function countsIn<Word extends string>(
  refusals: ReadonlyMap<string, number>,
  words: readonly Word[],
  codeOf: (word: Word) => string,
): Partial<Record<Word, number>> {
  const counted = words.filter(word => refusals.has(codeOf(word)))
  const entries = counted.map(word => [word, refusals.get(codeOf(word))])
  return Object.fromEntries(entries) as Partial<Record<Word, number>>
}

const statements = (database: Database) => ({
  presence: database.query<Record<string, number | string | null>, number[]>(
    'select * from presence where org_id = $1',
  ),
  refusals: database.query<{ code: string; count: number }, number[]>(
    `select code, sum(count) as count from refusals
    where org_id = $1 and hour > $2 group by code`,
  ),
  // The first hour of the latest period without a gap of a day.
  rejectedSince: database.query<{ code: string; hour: number }, number[]>(
    `select code, max(hour) as hour from (
      select code, hour, lag(hour) over (partition by code order by hour) as before
      from refusals where org_id = $1 and hour > $2) as refused
    where before is null or hour - before > 24 group by code`,
  ),
  wrongHashesSince: database.query<{ hour: number | null }, number[]>(
    `select max(hour) as hour from (
      select hour, lag(hour) over (order by hour) as before from (
        select distinct hour from identity_counts
        where org_id = $1 and hour > $2 and verdict in ('invalid', 'missing')) as wrong) as hours
    where before is null or hour - before > 24`,
  ),
})

/** What is reported about an installation: what is stored, and what this process has seen since. */
export class PresenceReader {
  private readonly sql
  private readonly identityHours

  constructor(
    database: Database,
    private readonly marks: Pick<PresenceTable, 'seen'>,
  ) {
    this.sql = statements(database)
    this.identityHours = identityHours(database)
  }

  read(orgRow: number, now: number): Presence {
    const { sql } = this
    const [row] = sql.presence.all(orgRow)
    const refused = sql.refusals.all(orgRow, Math.floor(now / hourMs) - 24)
    const seen = {} as { -readonly [Mark in keyof Presence['seen']]: Presence['seen'][Mark] }
    for (const mark of presenceMarks) {
      const here = this.marks.seen(orgRow, mark)
      const first = (row?.[`${mark}_first`] ?? null) as number | null
      const last = (row?.[`${mark}_last`] ?? null) as number | null
      const firstAt = least(first, here?.firstAt ?? null)
      // The clock may have been set back since.
      const lastAt = Math.min(Math.max(last ?? 0, here?.lastAt ?? 0), now)
      seen[mark] = firstAt === null ? null : { firstAt: Math.min(firstAt, lastAt), lastAt }
    }
    const refusals = new Map(refused.map(({ code, count }) => [code, count]))
    return {
      seen,
      snippetVersion: (row?.snippet_version as string | null) ?? null,
      skews: row ? (JSON.parse(row.skews as string) as number[]) : [],
      rejections: countsIn(refusals, rejectionCodes, code => code),
      erased: refusals.get('erased') ?? 0,
      rejectedOrigins: refusals.get(rejectedOrigin) ?? 0,
      limitedMinutes: countsIn(refusals, buckets, limitReached),
      userHashes: summedHours(this.identityHours(orgRow, now)),
    }
  }

  /** See `PresenceBook.since`. */
  since(orgRow: number, now: number): CountedSince {
    const kept = Math.floor((now - countsKeptMs) / hourMs)
    const refused = this.sql.rejectedSince.all(orgRow, kept)
    const [wrong] = this.sql.wrongHashesSince.all(orgRow, kept)
    const since = new Map(refused.map(({ code, hour }) => [code, hour * hourMs]))
    const wrongHour = wrong?.hour ?? null
    return {
      rejections: countsIn(since, rejectionCodes, code => code),
      rejectedOrigins: since.get(rejectedOrigin) ?? null,
      limited: countsIn(since, buckets, limitReached),
      wrongHashes: wrongHour === null ? null : wrongHour * hourMs,
    }
  }
}
