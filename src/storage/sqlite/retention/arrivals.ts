import type { Database } from 'bun:sqlite'

/** A row of a table that stores what arrives, in order of arrival. */
export interface Arrival {
  seq: number
  orgRow: number
  /** Epoch milliseconds. */
  receivedAt: number
}

/** A table of such rows. */
export interface Arrivals {
  /** Rows after one. */
  after(seq: number, most: number): readonly Arrival[]
  /** Within a transaction. */
  delete(row: Arrival): void
}

class ArrivalTable implements Arrivals {
  private readonly page
  private readonly deleteRow

  constructor(database: Database, name: string) {
    this.page = database.query<Arrival, [number, number]>(
      `select seq, org_id as orgRow, at as receivedAt from ${name}
      where seq > ? order by seq limit ?`,
    )
    this.deleteRow = database.query(`delete from ${name} where seq = ? and org_id = ?`)
  }

  after(seq: number, most: number): readonly Arrival[] {
    return this.page.all(seq, most)
  }

  delete({ seq, orgRow }: Arrival): void {
    this.deleteRow.run(seq, orgRow)
  }
}

/** Fingerprints that were judged. Baselines are stored elsewhere, and stay. */
export const fingerprintArrivals = (database: Database): Arrivals =>
  new ArrivalTable(database, 'step_fingerprints')

/** Events and reports that the database refused. */
export const deadLetterArrivals = (database: Database): Arrivals =>
  new ArrivalTable(database, 'dead_letters')

/** Health reports. A person's latest outcome is deleted with the report that it was made from. */
export function stepReportArrivals(database: Database): Arrivals {
  const reports = new ArrivalTable(database, 'step_reports')
  const deleteLatest = database.query(
    `delete from step_health
    where (org_id, step_id, version, person, at) in (
      select org_id, step_id, version, person, at from step_reports where seq = ? and org_id = ?
    )`,
  )
  return {
    after: (seq, most) => reports.after(seq, most),
    delete(row) {
      deleteLatest.run(row.seq, row.orgRow)
      reports.delete(row)
    },
  }
}
