import type { Database } from 'bun:sqlite'
import { isoTime } from '../../../core/time/clock.ts'
import {
  addToErasures,
  type ListedErasure,
  listedErasures,
  nameOfListed,
} from '../erasure/erasure-list.ts'
import { ErasureTable } from '../erasure/erasure-table.ts'
import { agree } from '../erasure/erasures.ts'

type Row = Pick<ListedErasure, 'org' | 'key' | 'person' | 'action'> & { at: number }

/**
 * The list of erasures that every machine has as a file, as a table in the log. A line that the file of a machine
 * has and the table lacks is from a history that the log has lost: after a restore, for example.
 */
export class SharedList {
  private readonly sql
  private seen = ''

  constructor(
    private readonly database: Database,
    private readonly dataDir: string,
  ) {
    this.sql = {
      state: database.query<{ state: string }, []>(
        "select count(*) || ' ' || coalesce(sum(at), 0) as state from listed_erasures",
      ),
      all: database.query<Row, []>('select org, key, person, action, at from listed_erasures'),
      put: database.query(
        `insert into listed_erasures (org, key, person, action, at) values (?, ?, ?, ?, ?)
        on conflict do update set action = excluded.action, at = excluded.at`,
      ),
    }
  }

  /** Adds to the file what the table has and the file lacks. */
  takeUp(): void {
    const { state } = this.sql.state.get()!
    if (state === this.seen) return
    const listed = new Map(listedErasures(this.dataDir).map(line => [nameOfListed(line), line]))
    const lines = this.sql.all.all().map(({ at, ...row }) => ({ ...row, at: isoTime(at) }))
    addToErasures(
      this.dataDir,
      lines.filter(line => {
        const known = listed.get(nameOfListed(line))
        return known === undefined || Date.parse(known.at) < Date.parse(line.at)
      }),
    )
    this.seen = state
  }

  /** Whether the file has what the table lacks. */
  get isAhead(): boolean {
    return this.missing().length > 0
  }

  /** Makes the log agree with the file, within a change. Whoever is on the list and not erased then is to be. */
  agree(): void {
    agree(this.database, this.dataDir, new ErasureTable(this.database))
    this.share()
  }

  /** Adds to the table what the file has and the table lacks, within a change. */
  share(): void {
    for (const { org, key, person, action, at } of this.missing()) {
      this.sql.put.run(org, key, person, action, Date.parse(at))
    }
  }

  private missing(): ListedErasure[] {
    const known = new Map(
      this.sql.all.all().map(row => [nameOfListed({ ...row, at: '' }), row.at] as const),
    )
    return listedErasures(this.dataDir).filter(
      line => (known.get(nameOfListed(line)) ?? 0) < Date.parse(line.at),
    )
  }
}
