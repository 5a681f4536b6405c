import type { Database } from 'bun:sqlite'

/** When a person was first reported to have completed a flow; null where they never were. */
export function firstCompletion(database: Database) {
  const query = database.query<{ reported_at: number }, [number, number, string]>(
    'select reported_at from completions where org_id = ? and flow_id = ? and person = ?',
  )
  return (orgRow: number, flowRow: number, person: string): number | null =>
    query.get(orgRow, flowRow, person)?.reported_at ?? null
}

/** When each person was first reported to have completed a flow. */
export class CompletionTable {
  private readonly report
  readonly firstAt

  constructor(database: Database) {
    this.firstAt = firstCompletion(database)
    this.report = database.query(
      `insert into completions (org_id, flow_id, person, reported_at) values (?, ?, ?, ?)
      on conflict do update set reported_at = excluded.reported_at
      where excluded.reported_at < reported_at`,
    )
  }

  /** Notes a report; the earliest stands. */
  add(orgRow: number, flowRow: number, person: string, at: number): void {
    this.report.run(orgRow, flowRow, person, at)
  }
}
