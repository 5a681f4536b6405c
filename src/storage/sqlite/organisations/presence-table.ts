import type { Database } from 'bun:sqlite'
import { presenceMarks } from '../../../core/organisation/presence.ts'
import type { PresenceMarks } from '../../shared/presence-marks.ts'

/** How many of the latest clock skews are kept. */
const skewsKept = 101

/** Writes from time to time what requests and batches have shown of each organisation. */
export class PresenceTable {
  /** Those that are not written yet. */
  private readonly skews = new Map<number, number[]>()
  private readonly readSkews
  private readonly writeSkews
  private readonly writeVersion
  private readonly writeMark

  constructor(
    database: Database,
    private readonly marks: PresenceMarks,
  ) {
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
    return this.skews.size > 0 || this.marks.hasNews
  }

  /**
   * Writes all that has changed since the last time, within a transaction.
   *
   * @returns to be called once that is committed: notes what need not be written again
   */
  write(): () => void {
    const { seen, written } = this.marks.takeNews()
    for (const [orgRow, skews] of this.skews) {
      const stored = JSON.parse(this.readSkews.get(orgRow)?.skews ?? '[]') as number[]
      const latest = [...stored, ...skews].slice(-skewsKept)
      this.writeSkews.run(orgRow, JSON.stringify(latest))
    }
    for (const { orgRow, mark, firstAt, lastAt } of seen) {
      this.writeMark.get(mark)!.run(orgRow, firstAt, lastAt)
    }
    return () => {
      this.skews.clear()
      written()
    }
  }
}
