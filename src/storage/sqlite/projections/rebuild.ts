import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { runKeyOf } from '../../../core/run/run.ts'
import type { OperationAudit, RebuildProgress, Rebuilt } from '../../interfaces/operations.ts'
import { StoredCatalogue } from '../catalogue/catalogue.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import { pseudonymGlob } from '../erasure/pseudonyms.ts'
import { flowFacts } from '../ledger/ledger.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import { replayCaused } from '../people/replay-caused.ts'
import { toNobody } from '../runs/run-table.ts'
import { carryOver, deletedUntil } from './carry-over.ts'
import type { Fact, HistoryOf } from './facts.ts'
import { personOfFact } from './joined-facts.ts'
import { projectedOf } from './project-rest.ts'
import { Projector } from './projector.ts'
import { rebuildPeople } from './rebuild-people.ts'

/**
 * A flow's projections: the key that tells their rows apart within it, and the columns that mean something.
 * (Row numbers are internal.)
 */
const projections = {
  runs: {
    key: 'run_key',
    columns: `org_id, flow_id, run_key, person, least_user_id, least_anonymous_id, started_at,
      last_at, named_version, version, completed_at, dismissed_at, steps, own_started_at,
      own_completed_at, loose_version, traits, answers`,
  },
  run_people: {
    key: 'run_key, person',
    columns: 'org_id, flow_id, run_key, person',
  },
  loose_facts: {
    key: 'person, at, completes',
    columns: 'org_id, flow_id, person, at, completes, version',
  },
  ticks: {
    key: 'person, item_id, at, ticked',
    columns: 'org_id, flow_id, person, item_id, at, ticked, run_key',
  },
  checklist_completions: {
    key: 'person, at',
    columns: 'org_id, flow_id, person, at, named, run_key',
  },
  progress: {
    key: 'person',
    columns: 'org_id, flow_id, person, checklist_at, last_tick_at, items',
  },
  completions: {
    key: 'person',
    columns: 'org_id, flow_id, person, reported_at',
  },
  held_out: {
    key: 'person, version',
    columns: 'org_id, flow_id, person, version, at',
  },
} as const

/** Facts that are joined before they are written, so that a run whose events come in many batches is written once. */
const factsAtOnce = 5_000

const tables = Object.keys(projections) as (keyof typeof projections)[]

/** Makes empty temporary tables that hide the real ones from statements that name no schema. */
function makeSideTables(database: Database): void {
  for (const table of tables) {
    const made = database
      .query<{ sql: string }, [string]>(
        'select sql from main.sqlite_schema where tbl_name = ? and sql is not null order by type desc',
      )
      .all(table)
    for (const { sql } of made) {
      database.run(sql.replace(/^create (unique )?(table|index) /i, 'create $1$2 temp.'))
    }
  }
}

const whereOf = (orgRow: number, flowRow: number) =>
  `where org_id = ${orgRow} and flow_id = ${flowRow}`

/** How many rows of a flow the real table has, and how many the side table. */
const countsOf = (database: Database, table: string, ofFlow: string) =>
  database
    .query<{ here: number; beside: number }, []>(
      `select (select count(*) from main.${table} ${ofFlow}) as here,
        (select count(*) from temp.${table} ${ofFlow}) as beside`,
    )
    .get()!

/**
 * Notes the people and runs of events that a running server has stored and not projected yet, and everybody
 * who counts together with them. For these, the real tables may differ without being wrong.
 */
function noteBehind(database: Database, orgRow: number, flowRow: number): void {
  database.run('delete from temp.behind')
  const note = database.query('insert or ignore into temp.behind (name) values (?)')
  const { projected } = projectedOf(database)
  for (const facts of flowFacts(database, orgRow, flowRow, projected)) {
    for (const fact of facts) {
      for (const name of [personOfFact(fact), `a${fact.anonymousId}`, `:${runKeyOf(fact)}`]) {
        note.run(name)
      }
    }
  }
  const known = 'select name from temp.behind'
  database.run(
    `insert or ignore into temp.behind (name)
    select person from temp.run_people where run_key in (
      select run_key from temp.run_people where person in (${known}) or ':' || run_key in (${known})
    )`,
  )
}

/** Selects the people and runs for which nothing is behind. */
const notBehind = (columns: string) => {
  const named = columns.includes('run_key,') ? ["':' || run_key", 'person'] : ['person']
  return named.map(name => `and ${name} not in (select name from temp.behind)`).join(' ')
}

/**
 * Whether the real tables say exactly what the side tables say, except for what is behind. Runs within one
 * transaction, which writes nothing but `noteBehind`.
 */
function isRight(database: Database, orgRow: number, flowRow: number): boolean {
  const ofFlow = whereOf(orgRow, flowRow)
  const isNone = (sql: string) => database.query(`select 1 from ${sql} limit 1`).get() === null
  return tables.every(table => {
    const { columns } = projections[table]
    const compared = `${ofFlow} ${notBehind(columns)}`
    const [here, beside] = ['main', 'temp'].map(
      database => `select ${columns} from ${database}.${table} ${compared}`,
    )
    const counts = countsOf(database, table, compared)
    // The side table has no row twice.
    return (
      counts.here === counts.beside &&
      isNone(`(${here} except ${beside})`) &&
      isNone(`(${beside} except ${here})`)
    )
  })
}

/** Deletes the blocks of a flow’s runs, so that the server makes them again, a few at a time. */
const dropBlocks = (database: Database, orgRow: number, flowRow: number) =>
  database.run(`delete from run_blocks ${whereOf(orgRow, flowRow)}`)

/** Makes the real tables say what the side tables say, and returns whether that changed anything. */
function takeOver(database: Database, orgRow: number, flowRow: number): boolean {
  let isChanged = false
  const ofFlow = whereOf(orgRow, flowRow)
  for (const table of tables) {
    const { key, columns } = projections[table]
    const wrong = database.run(
      `delete from main.${table} ${ofFlow} and (${key}) in (
        select ${key} from (
          select ${columns} from main.${table} ${ofFlow}
          except select ${columns} from temp.${table} ${ofFlow}
        )
      )`,
    )
    if (wrong.changes > 0) isChanged = true
    const counts = countsOf(database, table, ofFlow)
    // All rows that are left here are right, so if the counts are equal, nothing is missing.
    if (counts.here === counts.beside) continue
    const rows = `select ${columns} from temp.${table} ${ofFlow}
      except select ${columns} from main.${table} ${ofFlow}`
    const missing = database.run(`insert into main.${table} (${columns}) ${rows}`)
    if (missing.changes > 0) isChanged = true
  }
  return isChanged
}

/** A flow's projections made anew, in tables that only this connection sees and that hide the real ones. */
class SideTables {
  // Its statements are prepared once the side tables exist, and therefore use them.
  private readonly projector: Projector

  constructor(
    private readonly database: Database,
    historyOf: HistoryOf,
  ) {
    makeSideTables(database)
    database.run('create temp table behind (name text primary key) without rowid')
    this.projector = new Projector(database, historyOf, toNobody)
  }

  /** Begins with nothing, or with what the real tables say until a moment: see `carryOver`. */
  begin(orgRow: number, flowRow: number, until: number | null): void {
    for (const table of tables) this.database.run(`delete from temp.${table}`)
    // What events reported of an erased user and a visitor beside them is gone.
    const ofFlow = whereOf(orgRow, flowRow)
    this.database.run(
      `insert into temp.run_people select * from main.run_people ${ofFlow} and run_key in (
        select run_key from main.run_people ${ofFlow} and person glob 'u${pseudonymGlob}'
      )`,
    )
    if (until !== null) carryOver(this.database, this.projector, { orgRow, flowRow, until })
  }

  /** @returns how many facts it projected */
  project(pages: Iterable<readonly Fact[]>): number {
    let count = 0
    let facts: Fact[] = []
    for (const page of pages) {
      facts.push(...page)
      if (facts.length < factsAtOnce) continue
      this.projectAtOnce(facts)
      count += facts.length
      facts = []
    }
    this.projectAtOnce(facts)
    return count + facts.length
  }

  private projectAtOnce(facts: readonly Fact[]): void {
    const attempt = (some: readonly Fact[]) =>
      inSavepoint(this.database, null, () => this.projector.project(some))
    // Facts that the server could not project either are among its dead letters already.
    if (attempt(facts)) for (const fact of facts) attempt([fact])
  }

  drop(): void {
    for (const table of [...tables, 'behind']) this.database.run(`drop table temp.${table}`)
  }
}

/**
 * Makes each person's latest report anew from all reports, in the order of their arrival whatever the clock
 * said. Each step is one short transaction.
 */
function replayHealth(database: Database): void {
  const steps = database
    .query<{ org_id: number; step_id: number }, []>(
      'select org_id, step_id from step_reports group by org_id, step_id',
    )
    .all()
  const clear = database.query('delete from step_health where org_id = ? and step_id = ?')
  const fill = database.query(
    `insert into step_health (org_id, step_id, version, person, at, outcome)
    select org_id, step_id, version, person, at, outcome from step_reports
    where org_id = ? and step_id = ? and person is not null order by seq
    on conflict do update set at = excluded.at, outcome = excluded.outcome`,
  )
  // Compared first, because writers wait while differences are corrected; mostly there are none.
  const stored = `select version, person, at, outcome from step_health
    where org_id = ?1 and step_id = ?2`
  const latest = `select version, person, at, outcome from (
    select version, person, at, outcome, max(seq) from step_reports
    where org_id = ?1 and step_id = ?2 and person is not null group by version, person
  )`
  const differs = database.query<unknown, [number, number]>(
    `select 1 where exists (${stored} except ${latest}) or exists (${latest} except ${stored})`,
  )
  for (const { org_id, step_id } of steps) {
    if (differs.get(org_id, step_id) === null) continue
    const one = database.transaction(() => {
      clear.run(org_id, step_id)
      fill.run(org_id, step_id)
    })
    one.immediate()
  }
}

/**
 * Makes every projection anew from the ledger.
 *
 * For times of which the retention has deleted events, the projections stay as they are.
 *
 * A flow is replayed into tables that only this connection sees, while a running server goes on writing,
 * and compared over a snapshot. The write lock is taken only if the flow differs: under it, what was stored
 * meanwhile is replayed and the rows that differ are written. That is one transaction, so an interrupted
 * rebuild leaves whole flows.
 *
 * @param audit the entry for each organisation's audit log, written with the last of its flows
 * @param note writes it
 */
export function rebuild(
  database: Database,
  tell: (progress: RebuildProgress) => void = () => {},
  audit: OperationAudit | null = null,
  note: (orgRow: number, entry: AuditEntry) => void = (orgRow, entry) =>
    writeAudit(database, orgRow, [entry]),
): Rebuilt {
  const flows = database
    .query<{ id: number; org_id: number; key: string }, []>(
      'select id, org_id, key from flows order by org_id, id',
    )
    .all()
  const catalogue = new StoredCatalogue(database)
  const sides = new SideTables(database, (orgRow, flowRow) => {
    const flow = catalogue.flowByRow(orgRow, flowRow)
    if (!flow) throw new Error(`No flow has row ${flowRow}`)
    return flow
  })
  try {
    const lastSeq = database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from event_batches',
    )
    const deletedUntilOf = deletedUntil(database)
    let events = 0
    let changed = 0
    const changedOf = new Map<number, number>()
    const flowsOf = Map.groupBy(flows, ({ org_id }) => org_id)
    /** Replays a flow as it is now; what is stored meanwhile may be missing. */
    const replay = (orgRow: number, flowRow: number) => {
      const upTo = lastSeq.get()?.seq ?? 0
      const until = deletedUntilOf(orgRow, flowRow)
      catalogue.refresh()
      sides.begin(orgRow, flowRow, until)
      events += sides.project(flowFacts(database, orgRow, flowRow, 0, upTo))
      return { upTo, until }
    }
    /** Replays what was stored meanwhile, and returns the row of the ledger that it has reached. */
    const catchUp = (orgRow: number, flowRow: number, after: number) => {
      // Events stored meanwhile may belong to a version published meanwhile.
      catalogue.refresh()
      const upTo = lastSeq.get()?.seq ?? 0
      events += sides.project(flowFacts(database, orgRow, flowRow, after, upTo))
      return upTo
    }
    /** Writes the line in an organisation's audit log once all of its flows are done. */
    const noteIfLast = (orgRow: number, flowRow: number) => {
      const ofOrganisation = flowsOf.get(orgRow)!
      if (audit === null || ofOrganisation.at(-1)!.id !== flowRow) return
      const after = { flows: ofOrganisation.length, changed: changedOf.get(orgRow) ?? 0 }
      note(orgRow, { ...audit, before: null, after })
    }
    /** Replays what was stored meanwhile, and takes everything over. */
    const finish = (orgRow: number, flowRow: number, upTo: number) => {
      catchUp(orgRow, flowRow, upTo)
      noteBehind(database, orgRow, flowRow)
      dropBlocks(database, orgRow, flowRow)
      if (!isRight(database, orgRow, flowRow) && takeOver(database, orgRow, flowRow)) {
        changed++
        changedOf.set(orgRow, (changedOf.get(orgRow) ?? 0) + 1)
      }
      noteIfLast(orgRow, flowRow)
    }
    const hasDeleted = (orgRow: number, flowRow: number, { until }: ReturnType<typeof replay>) =>
      until !== deletedUntilOf(orgRow, flowRow)
    /** Compares over a snapshot, which holds up nobody. If events were deleted meanwhile, there is no telling. */
    const compare = (orgRow: number, flowRow: number, replayed: ReturnType<typeof replay>) => {
      if (hasDeleted(orgRow, flowRow, replayed)) return false
      replayed.upTo = catchUp(orgRow, flowRow, replayed.upTo)
      noteBehind(database, orgRow, flowRow)
      return isRight(database, orgRow, flowRow)
    }
    const finishUnlessDeleted = (
      orgRow: number,
      flowRow: number,
      replayed: ReturnType<typeof replay>,
    ) => {
      if (hasDeleted(orgRow, flowRow, replayed)) return false
      finish(orgRow, flowRow, replayed.upTo)
      return true
    }
    for (const [i, { id, org_id, key }] of flows.entries()) {
      const replayed = replay(org_id, id)
      if (database.transaction(compare).deferred(org_id, id, replayed)) {
        // Whatever is stored from then on is added to rows that are right.
        dropBlocks(database, org_id, id)
        noteIfLast(org_id, id)
      } else if (!database.transaction(finishUnlessDeleted).immediate(org_id, id, replayed)) {
        // The replay may have seen neither the events deleted meanwhile nor what they had led to, so it is
        // repeated over a snapshot. That keeps checkpoints waiting, so it is not the usual way.
        const { upTo } = database.transaction(replay).deferred(org_id, id)
        database.transaction(finish).immediate(org_id, id, upTo)
      }
      tell({ flow: key, flows: flows.length, flowsDone: i + 1, events })
    }
    replayHealth(database)
    replayCaused(database, catalogue)
    rebuildPeople(database)
    return { flows: flows.length, events, changed }
  } finally {
    sides.drop()
  }
}
