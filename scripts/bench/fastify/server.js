/**
 * Fastify, which stores batches of events in the floor's table with group commit and a sync, and checks
 * nothing.
 *
 *     node server.js FILE             with better-sqlite3
 *     node server.js postgres://…     with PostgreSQL
 */
import Fastify from 'fastify'

const [database] = process.argv.slice(2)

const names =
  'org_id id kind user_id flow_id flow_version step_id run_id session_id occurred_at received_at url properties'
const types = { org_id: 'bigint', received_at: 'bigint', flow_version: 'integer' }
const columns = names.split(' ').map(name => ({ name, type: types[name] ?? 'text' }))
const table = `create table events (${columns.map(({ name, type }) => `${name} ${type}`)})`
const index = 'create unique index events_by_id on events (org_id, id)'

function rowOf(e, now) {
  const properties = e.properties ? JSON.stringify(e.properties) : null
  const { id, kind, userId, flowId, flowVersion, stepId = null, runId, sessionId } = e
  const ids = [1, id, kind, userId, flowId, flowVersion, stepId, runId, sessionId]
  return [...ids, e.occurredAt, now, e.url, properties]
}

async function sqliteStore() {
  const { default: Sqlite } = await import('better-sqlite3')
  const sqlite = new Sqlite(database)
  sqlite.pragma('journal_mode = wal')
  sqlite.pragma('synchronous = full')
  sqlite.pragma('cache_size = -65536')
  sqlite.pragma('journal_size_limit = 67108864')
  sqlite.exec(`${table}; ${index}`)
  const values = columns.map(() => '?')
  const insert = sqlite.prepare(`insert into events values (${values}) on conflict do nothing`)
  const store = sqlite.transaction(rows => {
    for (const row of rows) insert.run(row)
  })
  return { store: store.immediate, maxConcurrent: 1 }
}

async function postgresStore() {
  const { default: pg } = await import('pg')
  // With 1 or 2 connections it stored a quarter less, with 8 no more.
  const maxConcurrent = 4
  const pool = new pg.Pool({ connectionString: database, max: maxConcurrent })
  await pool.query(table)
  await pool.query(index)
  // An array a column, so that one prepared statement fits any number of rows.
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`)
  const text = `insert into events select * from unnest(${arrays}) on conflict do nothing`
  const store = rows => {
    const values = columns.map((_, column) => rows.map(row => row[column]))
    return pool.query({ name: 'insert', text, values })
  }
  return { store, maxConcurrent }
}

const isPostgres = database.startsWith('postgres:')
const { store, maxConcurrent } = await (isPostgres ? postgresStore() : sqliteStore())

let waiting = []
let commits = 0

async function commit() {
  const group = waiting
  waiting = []
  commits++
  try {
    await store(group.flatMap(({ rows }) => rows))
    for (const { resolve } of group) resolve()
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
  commits--
  if (waiting.length > 0) setImmediate(commit)
}

const app = Fastify()
app.post('/*', async (request, reply) => {
  const now = Date.now()
  const { events } = request.body
  await new Promise((resolve, reject) => {
    if (waiting.length === 0 && commits < maxConcurrent) setImmediate(commit)
    waiting.push({ rows: events.map(event => rowOf(event, now)), resolve, reject })
  })
  reply.code(202)
  return { accepted: events.length }
})
console.log(`serving ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
