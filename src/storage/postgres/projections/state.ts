import type { Database } from 'bun:sqlite'
import type { StoredRun } from '../../sqlite/runs/stored-run.ts'
import type { Queries } from '../database/connection.ts'
import { arrayOf, asDoubles, fromArrays, inArrays } from '../rows/arrays.ts'
import { type MovedTable, type Row, tableOf } from '../rows/tables.ts'

/**
 * What the projections keep of people and runs, and how to read as much of it as a few reports concern. It may be
 * read while nobody else writes it, by whoever has locked the organisation, or by whoever only looks.
 */

/** The tables of the projections, for which a scratch stands in for PostgreSQL. */
export const stateTables = (database: Database): readonly MovedTable[] => [
  tableOf(database, 'runs', ['org_id', 'flow_id', 'run_key']),
  tableOf(database, 'loose_facts'),
  tableOf(database, 'ticks'),
  tableOf(database, 'progress'),
  tableOf(database, 'checklist_completions'),
  tableOf(database, 'run_people'),
  tableOf(database, 'run_owners'),
  tableOf(database, 'caused_events'),
  // No rows of these need to be read, because the first moment stands, or the last.
  tableOf(database, 'completions', undefined, { reported_at: 'least' }),
  tableOf(database, 'held_out', undefined, { at: 'least' }),
  tableOf(database, 'goals', undefined, { last_at: 'greatest' }),
]

/** Tables in which a row means that a flow's runs do not say everything. */
const beyondRuns: ReadonlySet<string> = new Set([
  'loose_facts',
  'ticks',
  'progress',
  'checklist_completions',
  'run_people',
  'run_owners',
])

export const isBeyondRuns = ({ name }: MovedTable) => beyondRuns.has(name)

/** Rows by their table's name. */
export type State = ReadonlyMap<string, readonly Row[]>

export interface RunName {
  org_id: number
  flow_id: number
  run_key: string
}

export interface PersonInFlow {
  org_id: number
  flow_id: number
  person: string
}

export interface FlowName {
  org_id: number
  flow_id: number
}

/** `partyReader` leaves out a person who shares a run with this many people, or is in this many runs. */
const mostTogether = 17

/** Up to how many people away runs are followed to find out who counts together. */
const stepsAway = 3

const runKeys = { org_id: 'bigint', flow_id: 'bigint', run_key: 'text' } as const
const people = { org_id: 'bigint', flow_id: 'bigint', person: 'text' } as const
const causers = { org_id: 'bigint', person: 'text' } as const

/** The columns of runs, which are read most. */
const runColumns = [
  ...['run_key', 'person', 'least_user_id', 'least_anonymous_id'].map(name => `r.${name}`),
  ...['steps', 'traits', 'answers'],
  asDoubles('r', 'id', 'org_id', 'flow_id', 'started_at', 'last_at', 'named_version', 'version'),
  asDoubles('r', 'completed_at', 'dismissed_at', 'own_started_at', 'own_completed_at'),
  asDoubles('r', 'has_loose', 'loose_version'),
].join(', ')

const fromRuns = fromArrays(runKeys)
const fromPeople = fromArrays(people)

const named = ({ flow_id, run_key }: RunName) => `${flow_id} ${run_key}`
const personNamed = ({ flow_id, person }: PersonInFlow) => `${flow_id} ${person}`

/** Gathers things by name, each once, and tells which of them are new. */
class Gathered<T> {
  private readonly known = new Map<string, T>()

  constructor(private readonly nameOf: (one: T) => string) {}

  /** @returns those that were not known */
  add(some: Iterable<T>): T[] {
    const fresh: T[] = []
    for (const one of some) {
      const name = this.nameOf(one)
      if (this.known.has(name)) continue
      this.known.set(name, one)
      fresh.push(one)
    }
    return fresh
  }

  get all(): T[] {
    return [...this.known.values()]
  }
}

/**
 * Runs by their names. They are requested in the order of the primary key, because otherwise a plan may use a
 * worse index: one that was made while the table was empty looked through all runs of a flow. There are two
 * bounds, because with only one, PostgreSQL compares all remaining keys on the index's page.
 */
const runsByName = `select ${runColumns} from ${fromRuns} cross join lateral (
    select * from runs
    where org_id = k.org_id and flow_id = k.flow_id and run_key >= k.run_key and run_key <= k.run_key
    order by run_key limit 1
  ) r`

export const readRuns = (queries: Queries, names: readonly RunName[]): Promise<StoredRun[]> =>
  names.length === 0
    ? Promise.resolve([])
    : queries.all<StoredRun>(runsByName, ...inArrays(runKeys, names))

/** Which of some organisations' flows are in `joined_flows`. */
export const readJoinedFlows = (queries: Queries, orgRows: readonly number[]) =>
  queries.all<FlowName>(
    `select org_id, flow_id from joined_flows
    where org_id = any($1::text::bigint[])`,
    arrayOf(orgRows),
  )

/** Tables in which a row means that more counts for a person in a flow than what their runs' own events say. */
const ofEntangled = ['run_people', 'loose_facts', 'ticks', 'progress', 'checklist_completions']

/** `offset 0` makes each row be looked up by its key, whatever the planner assumes about the tables. */
const entangled = `select k.org_id, k.flow_id, k.person from ${fromArrays({ ...runKeys, person: 'text' })}
  where ${ofEntangled
    .map(
      table => `exists (select from ${table} t
        where t.org_id = k.org_id and t.flow_id = k.flow_id and t.person = k.person offset 0)`,
    )
    .join(' or ')}
    or exists (select from run_owners t
      where t.org_id = k.org_id and t.flow_id = k.flow_id and t.run_key = k.run_key offset 0)`

/** People of whom more is stored in a flow than the runs that are theirs by their own events. */
export const readEntangled = (
  queries: Queries,
  runs: readonly (RunName & { person: string })[],
): Promise<PersonInFlow[]> =>
  runs.length === 0
    ? Promise.resolve([])
    : queries.all(entangled, ...inArrays({ ...runKeys, person: 'text' } as const, runs))

/** What people have caused, by name of event. */
export const readCaused = (queries: Queries, whom: readonly Omit<PersonInFlow, 'flow_id'>[]) =>
  whom.length === 0
    ? Promise.resolve([])
    : queries.all<Row>(
        `select c.* from ${fromArrays(causers)} join caused_events c using (org_id, person)`,
        ...inArrays(causers, whom),
      )

/** Finds those who count together with people in flows, by the runs that they are in. */
async function readParties(
  queries: Queries,
  whom: readonly PersonInFlow[],
  runs: readonly RunName[] = [],
) {
  const known = new Gathered(personNamed)
  const names = new Gathered(named)
  const together = new Gathered<Row>(row => `${row.flow_id} ${row.run_key} ${row.person}`)
  let newPeople = known.add(whom)
  let newRuns = names.add(runs)
  for (let step = 0; step < stepsAway && newPeople.length + newRuns.length > 0; step++) {
    const theirs = await queries.all<Row & RunName & PersonInFlow>(
      `select k.org_id, k.flow_id, p.run_key, k.person
      from ${fromPeople}
      cross join lateral (
        select run_key from run_people p
        where p.org_id = k.org_id and p.flow_id = k.flow_id and p.person = k.person
        limit ${mostTogether}) p`,
      ...inArrays(people, newPeople),
    )
    newRuns = [...newRuns, ...names.add(theirs)]
    const others = await queries.all<Row & RunName & PersonInFlow>(
      `select k.org_id, k.flow_id, k.run_key, p.person
      from ${fromRuns}
      cross join lateral (
        select person from run_people p
        where p.org_id = k.org_id and p.flow_id = k.flow_id and p.run_key = k.run_key
        limit ${mostTogether}) p`,
      ...inArrays(runKeys, newRuns),
    )
    together.add([...theirs, ...others])
    newPeople = known.add(others)
    newRuns = []
  }
  return { people: known.all, names, together: together.all }
}

/** The rows that some people in flows have in each of these tables. */
function readOfPeople(
  queries: Queries,
  whom: readonly PersonInFlow[],
  tables: readonly string[],
): Promise<Row[][]> {
  const persons = inArrays(people, whom)
  return Promise.all(
    tables.map(table =>
      queries.all<Row>(
        `select t.* from ${fromPeople}
        join ${table} t using (org_id, flow_id, person)`,
        ...persons,
      ),
    ),
  )
}

/** What is kept of checklists and completions. Runs are left out, because there may be any number of them. */
export async function readProgress(
  queries: Queries,
  whom: readonly PersonInFlow[],
): Promise<State> {
  const { people, together } = await readParties(queries, whom)
  const tables = ['ticks', 'progress', 'completions']
  const rows = await readOfPeople(queries, people, tables)
  return new Map([
    ['run_people', together],
    ...tables.map((table, i) => [table, rows[i]!] as const),
  ])
}

/**
 * Everything that is kept of people in flows, and of those who count together with them, so that the projector
 * finds whatever it asks for.
 *
 * @param runs whose names are known, stored or not
 */
export async function readPeople(
  queries: Queries,
  whom: readonly PersonInFlow[],
  runs: readonly RunName[],
): Promise<State> {
  const { people, names, together } = await readParties(queries, whom, runs)
  const [theirRuns, loose, ticks, progress, completions, passes] = await readOfPeople(
    queries,
    people,
    ['runs', 'loose_facts', 'ticks', 'progress', 'completions', 'checklist_completions'],
  )
  names.add((theirRuns as (Row & RunName)[]).map(nameOf))
  for (const row of [...ticks!, ...passes!]) {
    const flow = { org_id: Number(row.org_id), flow_id: Number(row.flow_id) }
    for (const key of [row.run_key, row.named]) {
      if (typeof key === 'string' && key !== '') names.add([{ ...flow, run_key: key }])
    }
  }
  const allNames = inArrays(runKeys, names.all)
  const ofRuns = (table: string) =>
    queries.all<Row>(
      `select t.* from ${fromRuns}
      join ${table} t using (org_id, flow_id, run_key)`,
      ...allNames,
    )
  const [allRuns, owners, passesOfRuns] = await Promise.all(
    ['runs', 'run_owners', 'checklist_completions'].map(ofRuns),
  )
  return new Map([
    ['runs', [...theirRuns!, ...allRuns!]],
    ['loose_facts', loose!],
    ['ticks', ticks!],
    ['progress', progress!],
    ['completions', completions!],
    ['checklist_completions', [...passes!, ...passesOfRuns!]],
    ['run_people', together],
    ['run_owners', owners!],
  ])
}

const nameOf = ({ org_id, flow_id, run_key }: RunName): RunName => ({ org_id, flow_id, run_key })
