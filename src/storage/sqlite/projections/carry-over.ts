import type { Database } from 'bun:sqlite'
import { pages } from '../database/pages.ts'
import { pairPrefix } from '../runs/run-people.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import type { Projector } from './projector.ts'

/** Rows that a statement reads at once. */
const pageRows = 5_000

/** Until when the events of a flow occurred that the retention has deleted; null if it has deleted none. */
export function deletedUntil(
  database: Database,
): (orgRow: number, flowRow: number) => number | null {
  const query = database.query<{ last_at: number }, [number, number]>(
    'select last_at from main.deleted_events where org_id = ? and flow_id = ?',
  )
  return (orgRow, flowRow) => query.get(orgRow, flowRow)?.last_at ?? null
}

/**
 * Begins a rebuild of a flow in side tables that hide the real ones. They start with what the real tables
 * say about the time until a moment. That includes everything that deleted events have led to: a run starts
 * at its earliest event, and ticks, completions and unattributed events stand at the time of theirs. The
 * events that are left are replayed and joined into it; at most they repeat what it says already.
 *
 * What is only assigned (an unattributed completion to a run, a run to a person without one) is assigned
 * anew.
 */
export function carryOver(
  database: Database,
  projector: Projector,
  { orgRow, flowRow, until }: { orgRow: number; flowRow: number; until: number },
): void {
  const ofFlow = `org_id = ${orgRow} and flow_id = ${flowRow}`
  database.run(`insert into temp.ticks select * from main.ticks where ${ofFlow} and at <= ${until}`)
  database.run(
    `insert into temp.loose_facts select * from main.loose_facts where ${ofFlow} and at <= ${until}`,
  )
  database.run(
    `insert into temp.progress (org_id, flow_id, person, last_tick_at)
    select org_id, flow_id, person, last_tick_at
    from main.progress where ${ofFlow} and last_tick_at <= ${until}`,
  )
  database.run(
    `insert or ignore into temp.run_people select * from main.run_people
    where ${ofFlow} and (run_key glob '${pairPrefix}*' or run_key in (
      select run_key from main.runs where ${ofFlow} and started_at <= ${until}
    ))`,
  )
  database.run(
    `insert into temp.held_out select * from main.held_out where ${ofFlow} and at <= ${until}`,
  )
  database.run(
    `insert into temp.completions select * from main.completions
    where ${ofFlow} and reported_at <= ${until}`,
  )
  const runs = database.query<StoredRun, [number, number]>(
    `select * from main.runs
    where ${ofFlow} and (started_at, id) > (?, ?) and started_at <= ${until}
      and own_started_at <= ${until}
    order by started_at, id limit ${pageRows}`,
  )
  const first = { started_at: Number.MIN_SAFE_INTEGER, id: 0 }
  for (const page of pages(last => runs.all(last.started_at, last.id), first, pageRows)) {
    projector.keepRuns(page)
  }
  const moments = database.query<{ person: string; at: number }, [string, number]>(
    `select distinct person, at from temp.loose_facts
    where ${ofFlow} and (person, at) > (?, ?) order by person, at limit ${pageRows}`,
  )
  const nobody = { person: '', at: 0 }
  for (const page of pages(last => moments.all(last.person, last.at), nobody, pageRows)) {
    projector.assignKept(orgRow, flowRow, page, [])
  }
  const tickers = database.query<{ person: string }, [string]>(
    `select distinct person from temp.ticks
    where ${ofFlow} and person > ? order by person limit ${pageRows}`,
  )
  for (const page of pages(({ person }) => tickers.all(person), { person: '' }, pageRows)) {
    projector.assignKept(
      orgRow,
      flowRow,
      [],
      page.map(({ person }) => person),
    )
  }
}
