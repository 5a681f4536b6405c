/**
 * The least program that could store events durably: `Bun.serve`, `bun:sqlite`, group commit with a
 * sync, `JSON.parse`, one unique index. No credential, no limit, no check, no verdict, no projection.
 * What Cairn takes beyond this is the price of all that.
 *
 *     bun floor.ts PORT DATABASE
 */
import { Database } from 'bun:sqlite'

const [port = '0', file = 'floor.db'] = Bun.argv.slice(2)

const database = new Database(file, { create: true, strict: true })
database.run('pragma journal_mode = wal')
database.run('pragma synchronous = full')
database.run('pragma cache_size = -65536')
database.run('pragma journal_size_limit = 67108864')
database.run(`create table if not exists events (
  org_id integer not null, id text not null, kind text, user_id text, flow_id text, flow_version integer,
  step_id text, run_id text, session_id text, occurred_at text, received_at integer, url text, properties text
) strict`)
database.run('create unique index if not exists events_by_id on events (org_id, id)')

const insert = database.query(
  `insert into events values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
)

interface Sent {
  id: string
  kind: string
  userId: string
  flowId: string
  flowVersion: number
  stepId?: string
  runId: string
  sessionId: string
  occurredAt: string
  url: string
  properties?: object
}

let waiting: { events: Sent[]; org: number; resolve(accepted: number): void }[] = []

function commit() {
  const group = waiting
  waiting = []
  const now = Date.now()
  database.run('begin immediate')
  for (const { events, org } of group) {
    for (const e of events) {
      insert.run(
        org,
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
  port: Number(port),
  hostname: '127.0.0.1',
  async fetch(request) {
    const { events } = (await request.json()) as { events: Sent[] }
    // Organisations are told apart by their key's last characters: any integer will do.
    const org = Number.parseInt(request.headers.get('authorization')?.slice(-6) ?? '', 36)
    const accepted = await new Promise<number>(resolve => {
      if (waiting.length === 0) setImmediate(commit)
      waiting.push({ events, org, resolve })
    })
    return Response.json({ accepted }, { status: 202 })
  },
})
console.log(`serving ${server.url}`)
