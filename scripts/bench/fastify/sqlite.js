/**
 * Fastify with better-sqlite3: group commit with a sync, and the floor's table.
 *
 *     node sqlite.js DATABASE
 */
import Database from 'better-sqlite3'
import { serve } from './server.js'

const database = new Database(process.argv[2])
database.pragma('journal_mode = wal')
database.pragma('synchronous = full')
database.pragma('cache_size = -65536')
database.pragma('journal_size_limit = 67108864')
database.exec(`create table if not exists events (
  org_id integer not null, id text not null, kind text, user_id text, flow_id text, flow_version integer,
  step_id text, run_id text, session_id text, occurred_at text, received_at integer, url text, properties text
) strict;
create unique index if not exists events_by_id on events (org_id, id)`)

const insert = database.prepare(
  'insert into events values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing',
)

const store = database.transaction(rows => {
  for (const row of rows) insert.run(row)
})

// It commits on the thread that answers.
await serve(store.immediate, 1)
