import type { Database } from 'bun:sqlite'

/** Who was held back from a version of a flow, and when first. */
export class HeldOut {
  private readonly hold

  constructor(database: Database) {
    this.hold = database.query(
      `insert into held_out (org_id, flow_id, person, version, at) values (?, ?, ?, ?, ?)
      on conflict do update set at = min(at, excluded.at)`,
    )
  }

  /** Notes a report; the earliest stands. */
  add(orgRow: number, flowRow: number, person: string, version: number, at: number): void {
    this.hold.run(orgRow, flowRow, person, version, at)
  }
}
