/**
 * Fastify with PostgreSQL: the floor's table, and one insert of many rows for all that waits.
 *
 *     node postgresql.js URL
 */
import pg from 'pg'
import { serve } from './server.js'

const types = 'bigint text text text text integer text text text text bigint text text'.split(' ')

/** While some insert, the next is made; with 8 no more was stored, with 1 or 2 a quarter less. */
const connections = 4

const pool = new pg.Pool({ connectionString: process.argv[2], max: connections })
await pool.query(`create table if not exists events (
  org_id bigint not null, id text not null, kind text, user_id text, flow_id text, flow_version integer,
  step_id text, run_id text, session_id text, occurred_at text, received_at bigint, url text, properties text
)`)
await pool.query('create unique index if not exists events_by_id on events (org_id, id)')

// An array a column, so that the statement is prepared once, however many rows there are. The same rows
// as one JSON text cost as much.
const arrays = types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')
const text = `insert into events select * from unnest(${arrays}) on conflict do nothing`

const store = rows => {
  const values = types.map((_, column) => rows.map(row => row[column]))
  return pool.query({ name: 'insert', text, values })
}

await serve(store, connections)
