import { Postgres } from './connection.ts'

/** What the log's database holds, as far as its operator should know. */
export interface LogFacts {
  /** How many nodes are running. */
  nodes: number
  /** Batches that no snapshot has yet, roughly. */
  afterSnapshot: number
  /** When the newest snapshot was made, epoch milliseconds; null if there is none. */
  snapshotAt: number | null
  /** Of the ledger, of all snapshots, and of everything; bytes. */
  ledgerBytes: number
  snapshotBytes: number
  databaseBytes: number
}

/** Only reads. */
export async function readLogFacts(url: string): Promise<LogFacts> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    return (await postgres.get<LogFacts>(
      `select
        (select count(*) from cairn_nodes where lease_until > clock_timestamp())::float8 as nodes,
        (select seq - coalesce((select max(seq) from cairn_snapshots), 0) from cairn_clock)::float8
          as "afterSnapshot",
        (select max(made_at) from cairn_snapshots)::float8 as "snapshotAt",
        pg_total_relation_size('cairn_ledger')::float8 as "ledgerBytes",
        pg_total_relation_size('cairn_snapshot_parts')::float8 as "snapshotBytes",
        pg_database_size(current_database())::float8 as "databaseBytes"`,
    ))!
  } finally {
    await postgres.close()
  }
}
