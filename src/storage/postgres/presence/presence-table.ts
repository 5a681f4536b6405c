import { presenceMarks } from '../../../core/organisation/presence.ts'
import { hourMs } from '../../../core/time/durations.ts'
import type { PresenceBoard } from '../../shared/boards.ts'
import { type IdentityBoard, IdentityNews } from '../../shared/identity-board.ts'
import { skewsKept } from '../../sqlite/organisations/presence-table.ts'
import { asRows, type Postgres, type Queries } from '../database/connection.ts'

const bounds = presenceMarks.flatMap(mark => [`${mark}_first`, `${mark}_last`])

/** Nodes write rows of the same organisations at once. A later write takes nothing away from an earlier one. */
const writeRows = `insert into presence (org_id, ${bounds.join(', ')}, skews)
  select org_id, ${bounds.join(', ')}, skews
  from json_populate_recordset(null::presence, $1::text::json) order by org_id
  on conflict (org_id) do update set
    ${presenceMarks
      .map(
        mark => `${mark}_first = least(presence.${mark}_first, excluded.${mark}_first),
    ${mark}_last = greatest(presence.${mark}_last, excluded.${mark}_last),`,
      )
      .join('\n    ')}
    skews = jsonb_path_query_array(
      presence.skews::jsonb || excluded.skews::jsonb, '$[last - ${skewsKept - 1} to last]'
    )::text`

const addIdentityCounts = `insert into identity_counts (org_id, hour, verdict, count)
  select org_id, hour, verdict, count
  from json_populate_recordset(null::identity_counts, $1::text::json)
  order by org_id, hour, verdict
  on conflict (org_id, hour, verdict) do update set count = identity_counts.count + excluded.count`

/**
 * Records with which version of the snippet organisations were last seen; in the order in which everyone writes
 * there, so that no two wait for each other.
 */
export async function recordSnippetVersions(
  queries: Queries,
  versions: ReadonlyMap<number, string>,
): Promise<void> {
  const rows = [...versions].map(([org_id, snippet_version]) => ({ org_id, snippet_version }))
  await queries.run(
    `insert into presence (org_id, snippet_version)
    select org_id, snippet_version
    from json_populate_recordset(null::presence, $1::text::json) order by org_id
    on conflict (org_id) do update set snippet_version = excluded.snippet_version`,
    asRows(rows),
  )
}

interface Row {
  org_id: number
  skews: string
  [bound: string]: number | string
}

/** What is written at once: all of it, or nothing. */
interface Batch {
  presence: readonly Row[]
  identity: readonly object[]
  /** Kept along with what must not be written twice. */
  receipt: string | null
  written(): void
}

/**
 * Writes what this node has seen of organisations, from time to time. There is one per process, because only it
 * knows what of the boards is written already.
 */
export class PresenceTable {
  private readonly identity: IdentityNews
  /** Clock skews that are not in a batch yet, the newest last. */
  private skews = new Map<number, number[]>()
  /** The last second that is written, by organisation and mark. */
  private readonly marked = new Map<number, number>()
  private writtenMarks = 0
  /** Marks are looked for from this second on. */
  private sinceSeconds = 1
  /** A batch that may or may not be written. It is written again before any other. */
  private unsure: Batch | null = null
  private running: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly postgres: Pick<Postgres, 'begin'>,
    private readonly board: PresenceBoard,
    identity: IdentityBoard,
  ) {
    this.identity = new IdentityNews(identity)
  }

  addSkew(orgRow: number, skewMs: number): void {
    const known = this.skews.get(orgRow) ?? []
    known.push(skewMs)
    if (known.length > skewsKept) known.shift()
    this.skews.set(orgRow, known)
  }

  /**
   * Writes everything that was noted before the call. If this rejects, the next call makes up for it: nothing is
   * lost, and nothing is counted twice.
   */
  write(now: number): Promise<void> {
    const written = this.running.then(() => this.writeAll(now))
    this.running = written.catch(() => {})
    return written
  }

  private async writeAll(now: number): Promise<void> {
    if (this.unsure) await this.writeBatch(this.unsure)
    this.unsure = this.gather(now)
    if (this.unsure) await this.writeBatch(this.unsure)
  }

  private async writeBatch({ presence, identity, receipt, written }: Batch): Promise<void> {
    await this.postgres.begin(async transaction => {
      if (receipt) {
        // Waits for the same receipt if its commit is still under way.
        const isNew = await transaction.run(
          'insert into receipts (id) values ($1) on conflict do nothing',
          receipt,
        )
        if (!isNew) return
      }
      if (presence.length > 0) await transaction.run(writeRows, asRows(presence))
      if (identity.length > 0) await transaction.run(addIdentityCounts, asRows(identity))
    })
    written()
    this.unsure = null
  }

  private gather(now: number): Batch | null {
    const { skews } = this
    const marks = this.board.marks()
    if (marks === this.writtenMarks && skews.size === 0 && !this.identity.hasNews()) return null
    const rows = new Map<number, Row>()
    const rowOf = (orgRow: number) => {
      const row = rows.get(orgRow) ?? { org_id: orgRow, skews: '[]' }
      rows.set(orgRow, row)
      return row
    }
    this.skews = new Map()
    for (const [orgRow, ofOrganisation] of skews) {
      rowOf(orgRow).skews = JSON.stringify(ofOrganisation)
    }
    const newest = this.board.newestSeconds()
    const seen: [place: number, lastAt: number][] = []
    // The last minute is looked through again each time, because a mark has the time at which its
    // request was received, and because the clock may have been set back.
    for (const { orgRow, mark, firstAt, lastAt } of this.board.seenSince(
      Math.min(this.sinceSeconds, newest - 60),
    )) {
      const place = orgRow * presenceMarks.length + presenceMarks.indexOf(mark)
      if (this.marked.get(place) === lastAt) continue
      seen.push([place, lastAt])
      Object.assign(rowOf(orgRow), { [`${mark}_first`]: firstAt, [`${mark}_last`]: lastAt })
    }
    const { added, written } = this.identity.gather()
    const hour = Math.floor(now / hourMs)
    return {
      presence: [...rows.values()],
      identity: added.map(({ orgRow, ...more }) => ({ org_id: orgRow, hour, ...more })),
      receipt: skews.size > 0 || added.length > 0 ? crypto.randomUUID() : null,
      written: () => {
        for (const [place, lastAt] of seen) this.marked.set(place, lastAt)
        this.sinceSeconds = Math.max(1, newest - 60)
        this.writtenMarks = marks
        written()
      },
    }
  }
}
