/**
 * The smallest program that stores events durably: `Bun.serve`, `bun:sqlite`, group commit with a sync,
 * `JSON.parse`, one unique index. It checks no credential, limit or field, and derives nothing.
 *
 *     bun floor.ts DATABASE
 */
import { Database } from 'bun:sqlite'

const database = new Database(Bun.argv[2], { create: true, strict: true })
database.run('pragma journal_mode = wal')
database.run('pragma synchronous = full')
database.run('pragma cache_size = -65536')
database.run('pragma journal_size_limit = 67108864')
database.run(`create table events (
  org_id integer not null, id text not null, kind text, user_id text, flow_id text, flow_version integer,
  step_id text, run_id text, session_id text, occurred_at text, received_at integer, url text, properties text
) strict`)
database.run('create unique index events_by_id on events (org_id, id)')
const insert = database.query(
  'insert into events values (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing',
)

type Text = 'id' | 'kind' | 'userId' | 'flowId' | 'runId' | 'sessionId' | 'occurredAt' | 'url'
type Event = Record<Text, string> & { flowVersion: number; stepId?: string; properties?: object }

let waiting: { events: Event[]; resolve(accepted: number): void }[] = []

function commit() {
  const group = waiting
  waiting = []
  const now = Date.now()
  database.run('begin immediate')
  for (const { events } of group) {
    for (const e of events) {
      insert.run(
        e.id,
        e.kind,
        e.userId,
        e.flowId,
        e.flowVersion,
        e.stepId ?? null,
        e.runId,
        e.sessionId,
        e.occurredAt,
        now,
        e.url,
        e.properties ? JSON.stringify(e.properties) : null,
      )
    }
  }
  database.run('commit')
  for (const { events, resolve } of group) resolve(events.length)
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { events } = (await request.json()) as { events: Event[] }
    const accepted = await new Promise<number>(resolve => {
      if (waiting.length === 0) setImmediate(commit)
      waiting.push({ events, resolve })
    })
    return Response.json({ accepted }, { status: 202 })
  },
})
console.log(`serving ${server.url.origin}`)
