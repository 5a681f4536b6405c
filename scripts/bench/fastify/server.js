/**
 * Fastify over PostgreSQL, which stores batches of events in the floor's table with group commit and a sync,
 * and checks nothing.
 *
 *     node server.js postgres://…
 */
import Fastify from 'fastify'
import pg from 'pg'

// With 1 or 2 connections it stored a quarter less, with 8 no more.
const maxConcurrent = 4
const pool = new pg.Pool({ connectionString: process.argv[2], max: maxConcurrent })

const names =
  'org_id id kind user_id flow_id flow_version step_id run_id session_id occurred_at received_at url properties'
const types = { org_id: 'bigint', received_at: 'bigint', flow_version: 'integer' }
const columns = names.split(' ').map(name => ({ name, type: types[name] ?? 'text' }))
await pool.query(`create table events (${columns.map(({ name, type }) => `${name} ${type}`)})`)
await pool.query('create unique index events_by_id on events (org_id, id)')
// An array a column, so that one prepared statement fits any number of rows.
const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`)
const text = `insert into events select * from unnest(${arrays}) on conflict do nothing`

function rowOf(e, now) {
  const properties = e.properties ? JSON.stringify(e.properties) : null
  const { id, kind, userId, flowId, flowVersion, stepId = null, runId, sessionId } = e
  const ids = [1, id, kind, userId, flowId, flowVersion, stepId, runId, sessionId]
  return [...ids, e.occurredAt, now, e.url, properties]
}

let waiting = []
let commits = 0

async function commit() {
  const group = waiting
  waiting = []
  commits++
  try {
    const rows = group.flatMap(waiting => waiting.rows)
    const values = columns.map((_, column) => rows.map(row => row[column]))
    await pool.query({ name: 'insert', text, values })
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
