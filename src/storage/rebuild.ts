import type { Database } from 'bun:sqlite'
import { eventSources } from '../core/event.ts'
import { StoredCatalogue } from './catalogue.ts'
import { factOf } from './commands.ts'
import { Projector } from './projector.ts'
import { type EventRecord, eventColumns, storedEvent } from './readers.ts'

/** How far a rebuild has come. */
export interface RebuildProgress {
  /** Key of the flow that was just done. */
  flow: string
  flows: number
  flowsDone: number
  events: number
}

const pageRows = 5_000

/** A flow's projections, and by what their rows are told apart. Row numbers of runs are ours alone. */
const projections = {
  runs: `run_key, person, least_user_id, least_anonymous_id, started_at, last_at, named_version,
    version, completed_at, dismissed_at, steps, own_started_at, own_completed_at`,
  loose_facts: 'person, at, opens, completes',
  ticks: 'person, item_id, at, ticked',
  completions: 'person, reported_at, checklist_at',
} as const

/** One number for all of a flow's projections, to see whether a rebuild has changed anything. */
function digest(database: Database, orgRow: number, flowRow: number): bigint {
  let sum = 0n
  for (const [table, columns] of Object.entries(projections)) {
    const rows = database
      .query<Record<string, unknown>, [number, number]>(
        `select ${columns} from ${table} where org_id = ? and flow_id = ?`,
      )
      .iterate(orgRow, flowRow)
    // A sum does not depend on the order of the rows.
    for (const row of rows) sum += BigInt(Bun.hash(`${table}${JSON.stringify(row)}`))
  }
  return sum
}

/** Makes one flow's projections anew from the ledger; the number of events read. */
function replay(database: Database, projector: Projector, orgRow: number, flowRow: number): number {
  for (const table of Object.keys(projections)) {
    database.query(`delete from ${table} where org_id = ? and flow_id = ?`).run(orgRow, flowRow)
  }
  const page = database.query<EventRecord, [number, number, number, number]>(
    `select ${eventColumns} from events
    where org_id = ? and flow_id = ? and (occurred_at, seq) > (?, ?)
    order by occurred_at, seq limit ${pageRows}`,
  )
  let events = 0
  let last = { occurred_at: Number.MIN_SAFE_INTEGER, seq: 0 }
  for (;;) {
    const rows = page.all(orgRow, flowRow, last.occurred_at, last.seq)
    const facts = rows.flatMap(row => {
      const event = storedEvent(row)
      return factOf(orgRow, event, eventSources.indexOf(event.source)) ?? []
    })
    projector.project(facts)
    events += rows.length
    if (rows.length < pageRows) return events
    last = rows.at(-1) as EventRecord
  }
}

/** Each person's latest report, anew from all reports. */
function replayHealth(database: Database): void {
  database.run('delete from step_health')
  database.run(
    `insert into step_health (org_id, step_id, version, person, at, outcome)
    select org_id, step_id, version, person, at, outcome from step_reports
    where person is not null order by at, seq
    on conflict do update set at = excluded.at, outcome = excluded.outcome`,
  )
}

/**
 * Makes every projection anew from the ledger. A flow is one transaction, so that a running
 * server writes in between, and an interrupted rebuild leaves whole flows.
 *
 * @returns `changed`: flows whose projections were not as the ledger says
 */
export function rebuild(
  database: Database,
  onProgress: (progress: RebuildProgress) => void = () => {},
): { flows: number; events: number; changed: number } {
  const catalogue = new StoredCatalogue(database)
  const projector = new Projector(database, (orgRow, flowRow) => {
    const flow = catalogue.flowByRow(orgRow, flowRow)
    if (!flow) throw new Error(`No flow has row ${flowRow}`)
    return flow
  })
  const flows = database
    .query<{ id: number; org_id: number; key: string }, []>(
      'select id, org_id, key from flows order by org_id, id',
    )
    .all()
  let events = 0
  let changed = 0
  for (const [i, flow] of flows.entries()) {
    const one = database.transaction(() => {
      const before = digest(database, flow.org_id, flow.id)
      events += replay(database, projector, flow.org_id, flow.id)
      if (digest(database, flow.org_id, flow.id) !== before) changed++
    })
    one.immediate()
    onProgress({ flow: flow.key, flows: flows.length, flowsDone: i + 1, events })
  }
  database.transaction(() => replayHealth(database)).immediate()
  return { flows: flows.length, events, changed }
}
