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

function arrivalsIn(database: Database, table: string): Arrivals {
  const page = database.query<Arrival, [number, number]>(
    `select seq, org_id as orgRow, at as receivedAt from ${table}
    where seq > ? order by seq limit ?`,
  )
  const remove = database.query(`delete from ${table} where seq = ? and org_id = ?`)
  return {
    after: (seq, most) => page.all(seq, most),
    delete({ seq, orgRow }) {
      remove.run(seq, orgRow)
    },
  }
}

/** Fingerprints that were judged. Baselines are stored elsewhere, and stay. */
export const fingerprintArrivals = (database: Database): Arrivals =>
  arrivalsIn(database, 'step_fingerprints')

/** Events and reports that the database refused. */
export const deadLetterArrivals = (database: Database): Arrivals =>
  arrivalsIn(database, 'dead_letters')

/** Health reports. A person's latest outcome is deleted with the report that it was made from. */
export function stepReportArrivals(database: Database): Arrivals {
  const reports = arrivalsIn(database, 'step_reports')
  const deleteLatest = database.query(
    `delete from step_health
    where (org_id, step_id, version, person, at) in (
      select org_id, step_id, version, person, at from step_reports where seq = ? and org_id = ?
    )`,
  )
  return {
    ...reports,
    delete(row) {
      deleteLatest.run(row.seq, row.orgRow)
      reports.delete(row)
    },
  }
}
