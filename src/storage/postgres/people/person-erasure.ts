import { idsOf } from '../../../core/event/event.ts'
import type { ErasureProgress } from '../../../modules/people/port.ts'
import type { ErasureStep } from '../../sqlite/erasure/erase.ts'
import { eraseFacts, tablesByPerson } from '../../sqlite/erasure/erase-facts.ts'
import { rewriting } from '../../sqlite/erasure/erase-ledger.ts'
import { isConcerned, runEraser } from '../../sqlite/erasure/erase-runs.ts'
import type { ErasureRow } from '../../sqlite/erasure/erasure-table.ts'
import { type ErasedCounts, ErasureWork, summed } from '../../sqlite/erasure/erasure-work.ts'
import { isOf } from '../../sqlite/erasure/person-matcher.ts'
import { NamedRuns, type RunNaming } from '../../sqlite/erasure/traces.ts'
import { sharedRunsOf } from '../../sqlite/runs/run-people.ts'
import type { StoredRun } from '../../sqlite/runs/stored-run.ts'
import { asRows, type Queries } from '../database/connection.ts'
import { pages, piecesOf } from '../database/pages.ts'
import { type EventRow, eventColumns, eventOf, rowOf } from '../events/event-rows.ts'
import { bucketOf, idInText } from '../ledger/event-id.ts'
import { lockOrganisation } from '../ledger/lock.ts'
import { Scratch } from '../projections/scratch.ts'
import type { RunName, State } from '../projections/state.ts'
import { renumbered, writeChanges } from '../projections/write-changes.ts'
import type { Row, RowChange } from '../rows/tables.ts'
import { type Counts, eraseBeside, stepRows } from './erase-beside.ts'
import type { LongWorkParts, StillHeld } from './long-work.ts'

/** Rows that a statement reads. */
const pageRows = 5_000

/** Where an event is stored. */
interface Place {
  seq: number
  day: number
}

/** A run that names the person, or is named by an event of theirs. */
/** Those who are named together with somebody in a flow. */
const ofOthers = `org_id = $1 and flow_id = $2 and person in (
  select others.person from run_people own
  join run_people others using (org_id, flow_id, run_key)
  where org_id = $1 and flow_id = $2 and own.person = $3 and others.person <> $3)`

/** What decides whether the anonymous ids beside a user's stay, by table. */
const ofOthersIn: readonly (readonly [table: string, rows: string])[] = [
  ['run_people', `select * from run_people where ${ofOthers}`],
  ['progress', `select * from progress where ${ofOthers}`],
  ['ticks', `select distinct on (person) * from ticks where ${ofOthers}`],
  ['runs', `select distinct on (person) * from runs where ${ofOthers}`],
]

interface FoundRun extends RunName {
  least_user_id: string | null
  least_anonymous_id: string | null
  /** Whether the retention may have deleted events of it. */
  hasDeleted: boolean | null
  /** JSON: whom it names, if there are several. */
  people: string | null
}

/**
 * Rewrites what PostgreSQL holds of a person, by what `erase` of SQLite decides: their runs and events stay
 * under a name that nobody can trace, so that every count is as before, and everything else goes.
 *
 * The runs come first, because the ledger says which are theirs. An interrupted erasure is done again from its
 * beginning, with the same result.
 */
export class PersonErasure {
  private readonly scratch = new Scratch(
    () => {
      throw new Error('Nothing is projected here')
    },
    { next: () => 1 },
  )
  private readonly work: ErasureWork
  private readonly named: NamedRuns
  /** The column of events and runs that names the person. */
  private readonly column: 'user_id' | 'anonymous_id'
  private readonly id: string
  private erased!: ErasedCounts
  /** The last event that was searched for others in their runs. */
  private lookedUpTo = 0
  private readonly done = { 'reading events': 0, 'renaming runs': 0, 'rewriting events': 0 }

  constructor(
    private readonly parts: LongWorkParts,
    private readonly row: ErasureRow & { secret: string },
    /** As `personOf` names them. */
    private readonly name: string,
    private readonly asked: {
      stillHeld: StillHeld
      tell: (progress: ErasureProgress) => void
    },
  ) {
    this.work = new ErasureWork(this.scratch.database, row)
    this.named = new NamedRuns(this.work.person)
    const { userId, anonymousId } = idsOf(name)
    this.column = userId === null ? 'anonymous_id' : 'user_id'
    this.id = (userId ?? anonymousId)!
  }

  /**
   * @param before what it had counted before it was interrupted
   * @returns what it has counted
   */
  async run(before: ErasedCounts): Promise<ErasedCounts> {
    this.erased = before
    try {
      const places = await this.lookAtEvents()
      let runs = await this.lookAtRuns()
      const besides = await this.lookAtOthers()
      // Again, because the retention may meanwhile have deleted events before they were looked at.
      runs = await this.lookAtRuns()
      await this.eraseRuns(runs)
      const isGone = (name: string) => !this.named.others.get(name)?.isAnyoneLeft
      for (const [name, of] of besides) if (isGone(name)) places.push(...of)
      await eraseBeside({
        ...{ orgRow: this.row.orgRow, name: this.name, id: this.id, work: this.work },
        ...{ queries: this.parts.postgres, step: work => this.step(work) },
      })
      await this.rewriteEvents(places.sort((a, b) => a.seq - b.seq))
      return this.erased
    } finally {
      this.scratch.database.close()
    }
  }

  /** Runs a short transaction, because everybody else who writes for the organisation waits for it. */
  private async step(work: (transaction: Queries) => Promise<Counts>): Promise<void> {
    const { id, orgRow } = this.row
    await this.asked.stillHeld()
    this.erased = await this.parts.transactions.run(async transaction => {
      await lockOrganisation(transaction, orgRow)
      const erased = summed(this.erased, await work(transaction))
      await transaction.run(
        'update erasures set receipt = $1 where id = $2 and org_id = $3',
        ...[JSON.stringify(erased), id, orgRow],
      )
      return erased
    })
  }

  private tell(at: ErasureStep['at'], done: number): void {
    this.done[at] += done
    this.asked.tell({ at, done: this.done[at] })
  }

  /** Finds the events that are theirs, or that another user sent with their anonymous id. */
  private async lookAtEvents(): Promise<Place[]> {
    const places: Place[] = []
    type Found = Place & { user_id: string | null; anonymous_id: string | null } & {
      flow_id: number | null
      run_id: string | null
    }
    const next = ({ seq }: { seq: number }) =>
      this.parts.postgres.all<Found>(
        `select seq, day, user_id, anonymous_id, flow_id, run_id from events
        where org_id = $1 and ${this.column} = $2 and seq > $3 order by seq limit ${pageRows}`,
        ...[this.row.orgRow, this.id, seq],
      )
    for await (const page of pages(next, { seq: 0 }, pageRows)) {
      for (const { seq, day, ...row } of page) {
        places.push({ seq, day })
        const ids = { userId: row.user_id, anonymousId: row.anonymous_id }
        if (!isOf(this.work.person, ids)) continue
        this.named.addOwn({ ...ids, flowRow: row.flow_id, runId: row.run_id })
      }
      this.tell('reading events', page.length)
    }
    return places
  }

  /** Finds the runs that are theirs or name them. For some of them, only the rows say whose they are. */
  private async lookAtRuns(): Promise<RunName[]> {
    const { orgRow } = this.row
    const isNamed = `exists (
      select from run_people p where p.org_id = r.org_id and p.flow_id = r.flow_id
        and p.run_key = r.run_key and p.person = $2)`
    const found = await this.parts.postgres.all<FoundRun>(
      `with k as materialized (
        select * from json_to_recordset($4::text::json) as k(flow_id bigint, run_key text)
      )
      select r.org_id, r.flow_id, r.run_key, r.least_user_id, r.least_anonymous_id,
        left(r.run_key, 1) = 'r' and r.started_at <= d.last_at as "hasDeleted",
        (select json_agg(p.person)::text from run_people p
          where p.org_id = r.org_id and p.flow_id = r.flow_id and p.run_key = r.run_key) as people
      from runs r left join deleted_events d on d.org_id = r.org_id and d.flow_id = r.flow_id
      where r.org_id = $1 and (
        r.person = $2 or r.least_${this.column} = $3 or (r.flow_id, r.run_key) in (select * from k)
        or ${isNamed})
      order by r.flow_id, r.started_at, r.id`,
      ...[orgRow, this.name, this.id, asRows(this.namedRows('run_key', 'r'))],
    )
    for (const run of found) {
      if (run.hasDeleted) this.named.addRun(run, JSON.parse(run.people ?? '[]'))
    }
    this.tell('reading events', found.length)
    return found.map(({ org_id, flow_id, run_key }) => ({ org_id, flow_id, run_key }))
  }

  /** The runs that their events name. The flow is null if there is none. */
  private namedRows(column: string, before = '') {
    return [...this.named.namedRuns].map(name => {
      const space = name.indexOf(' ')
      const flow = name.slice(0, space)
      return {
        flow_id: flow === 'null' ? null : Number(flow),
        [column]: before + name.slice(space + 1),
      }
    })
  }

  /**
   * Finds out who else is in those runs.
   *
   * @returns where people who were erased before name them, by run
   */
  private async lookAtOthers(): Promise<Map<string, Place[]>> {
    const besides = new Map<string, Place[]>()
    await this.parts.postgres.begin(async snapshot => {
      const ledger = await snapshot.get<{ seq: number }>(
        'select seq from ledgers where org_id = $1',
        this.row.orgRow,
      )
      this.lookedUpTo = ledger?.seq ?? 0
      const names = this.namedRows('run_id')
      for await (const page of this.othersIn(snapshot, names, 0)) {
        for (const { seq, day, ...event } of page) {
          const name = this.named.addOther(event)
          if (name === null) continue
          const known = besides.get(name)
          if (known) known.push({ seq, day })
          else besides.set(name, [{ seq, day }])
        }
        this.tell('reading events', page.length)
      }
    }, 'read only')
    return besides
  }

  /** Events of others in some runs, within a transaction. */
  private async *othersIn(transaction: Queries, runs: readonly object[], after: number) {
    const isTheirs =
      this.column === 'user_id'
        ? 'e.user_id is not distinct from $2'
        : '(e.user_id is null and e.anonymous_id is not distinct from $2)'
    await transaction.run(
      `declare others no scroll cursor for
      select e.seq, e.day, e.flow_id as "flowRow", e.run_id as "runId", e.kind,
        e.user_id as "userId", e.anonymous_id as "anonymousId", e.occurred_at as "occurredAt", e.traits
      from events e
      join json_to_recordset($3::text::json) as k(flow_id bigint, run_id text)
        on e.run_id = k.run_id and coalesce(e.flow_id, 0) = coalesce(k.flow_id, 0)
      where e.org_id = $1 and e.seq > $4 and not ${isTheirs}`,
      ...[this.row.orgRow, this.id, asRows(runs), after],
    )
    for (let isMore = true; isMore; ) {
      const page = await transaction.all<Place & RunNaming>(`fetch ${pageRows} from others`)
      yield page
      isMore = page.length === pageRows
    }
    await transaction.run('close others')
  }

  /**
   * Renames their runs and everything else that is known of them. What is known in a flow is renamed in one step
   * with its last runs: otherwise others' reports in between would be counted together with only half of it.
   */
  private async eraseRuns(found: readonly RunName[]): Promise<void> {
    const runsOf = Map.groupBy(found, ({ flow_id }) => flow_id)
    const flows = new Set([...runsOf.keys(), ...(await this.flowsWithFacts())])
    for (const flowRow of [...flows].sort((a, b) => a - b)) {
      const runs = runsOf.get(flowRow) ?? []
      let from = 0
      do {
        const some = runs.slice(from, from + stepRows)
        from += stepRows
        const isLast = from >= runs.length
        await this.step(transaction => this.renameRuns(transaction, flowRow, some, isLast))
        this.tell('renaming runs', some.length)
      } while (from < runs.length)
    }
  }

  private async flowsWithFacts(): Promise<number[]> {
    const { orgRow } = this.row
    const flows = this.parts.reading
      .query<{ id: number }, [number]>('select id from flows where org_id = ?')
      .all(orgRow)
    const hasAny = tablesByPerson.map(
      ([table]) => `exists (
        select from ${table} t where t.org_id = $1 and t.flow_id = k.id and t.person = $2)`,
    )
    const rows = await this.parts.postgres.all<{ id: number }>(
      `select id from json_to_recordset($3::text::json) as k(id bigint)
      where ${hasAny.join(' or ')}`,
      ...[orgRow, this.name, asRows(flows)],
    )
    return rows.map(({ id }) => id)
  }

  private async renameRuns(
    transaction: Queries,
    flowRow: number,
    names: readonly RunName[],
    isLast: boolean,
  ): Promise<Counts> {
    const { work, named } = this
    // Somebody may have joined these runs since.
    const withIds = names.filter(({ run_key }) => run_key.startsWith('r'))
    const ids = withIds.map(({ flow_id, run_key }) => ({ flow_id, run_id: run_key.slice(1) }))
    for await (const page of this.othersIn(transaction, ids, this.lookedUpTo)) {
      for (const event of page) named.addOther(event)
    }
    const [runs, facts] = await Promise.all([
      this.readRuns(transaction, names),
      isLast ? this.readFacts(transaction, flowRow) : (new Map() as State),
    ])
    const counts: Counts = {}
    const changes = this.scratch.work([runs, facts], () => {
      const rewrite = runEraser(work, named)
      const whose = { orgRow: this.row.orgRow, flowRow, person: this.name }
      const shared = sharedRunsOf(this.scratch.database, whose)
      const own = (runs.get('runs') as unknown as readonly StoredRun[]).filter(run =>
        isConcerned(work, named, run, shared),
      )
      for (const { id } of own) rewrite(id)
      counts.runs = own.length
      if (isLast) Object.assign(counts, eraseFacts(work, named, this.name)(flowRow))
    })
    await writeChanges(transaction, await renumbered(transaction, changes))
    await this.forgetChanges(transaction, changes)
    return counts
  }

  /** Forgets when something changed for those who no longer stand beside the person. */
  private async forgetChanges(transaction: Queries, changes: readonly RowChange[]): Promise<void> {
    const gone = changes.flatMap(({ table, key, content }) =>
      table.name === 'run_people' && content === null ? [{ person: key.person }] : [],
    )
    if (gone.length === 0) return
    await transaction.run(
      `delete from person_changes c
      using json_to_recordset($2::text::json) as k(person text)
      where c.org_id = $1 and c.person = k.person`,
      ...[this.row.orgRow, asRows(gone)],
    )
  }

  /** What is kept of runs, by their keys. */
  private async readRuns(transaction: Queries, names: readonly RunName[]): Promise<State> {
    if (names.length === 0) return new Map([['runs', []]])
    const keys = asRows(names)
    const named =
      'json_to_recordset($1::text::json) as k(org_id bigint, flow_id bigint, run_key text)'
    const ofRuns = (table: string) =>
      transaction.all<Row>(
        `select t.* from ${named} join ${table} t using (org_id, flow_id, run_key)`,
        keys,
      )
    const tables = ['runs', 'run_people', 'run_owners', 'checklist_completions'] as const
    const [rows, ticks] = await Promise.all([
      Promise.all(tables.map(ofRuns)),
      transaction.all<Row>(
        `with named as (
          select org_id, flow_id, run_key, r.person
          from ${named} join runs r using (org_id, flow_id, run_key)
          union
          select org_id, flow_id, run_key, p.person
          from ${named} join run_people p using (org_id, flow_id, run_key)
        )
        select t.* from named join ticks t using (org_id, flow_id, person, run_key)`,
        keys,
      ),
    ])
    return new Map([...tables.map((table, i) => [table, rows[i]!] as const), ['ticks', ticks]])
  }

  /** What is kept of the person in a flow. */
  private async readFacts(transaction: Queries, flowRow: number): Promise<State> {
    const state = new Map<string, Row[]>()
    const read = async (table: string, query: string) => {
      const rows = await transaction.all<Row>(query, this.row.orgRow, flowRow, this.name)
      state.set(table, [...(state.get(table) ?? []), ...rows])
    }
    const own = tablesByPerson.map(([table]) =>
      read(table, `select * from ${table} where org_id = $1 and flow_id = $2 and person = $3`),
    )
    await Promise.all([...own, ...ofOthersIn.map(([table, rows]) => read(table, rows))])
    return state
  }

  /** Rewrites events without anything of the person. No event changes its place or its time. */
  private async rewriteEvents(places: readonly Place[]): Promise<void> {
    const rewrite = rewriting(this.work, this.named)
    for (const some of piecesOf(places, stepRows)) {
      await this.step(transaction => this.rewriteSome(transaction, some, rewrite))
      this.tell('rewriting events', some.length)
    }
  }

  private async rewriteSome(
    transaction: Queries,
    places: readonly Place[],
    rewrite: ReturnType<typeof rewriting>,
  ): Promise<Counts> {
    const { orgRow } = this.row
    const rows = await transaction.all<EventRow>(
      `select ${eventColumns} from json_to_recordset($2::text::json) as k(seq bigint, day integer)
      join events using (seq, day) where org_id = $1`,
      ...[orgRow, asRows(places)],
    )
    const events = rows.map(row => ({ seq: row.seq, event: eventOf(row) }))
    const own = events.filter(({ event }) => isOf(this.work.person, event))
    const rewritten = events.map(({ seq, event }) => rowOf(orgRow, seq, rewrite(event)))
    const columns = ['id', 'user_id', 'anonymous_id', 'run_id', 'session_id', 'reported_at', 'url']
    columns.push('name', 'reason', 'properties', 'traits', 'answer')
    await Promise.all([
      transaction.run(
        `update events e set ${columns.map(name => `${name} = k.${name}`).join(', ')}
        from json_populate_recordset(null::events, $2::text::json) k
        where e.org_id = $1 and e.seq = k.seq and e.day = k.day`,
        ...[orgRow, asRows(rewritten)],
      ),
      transaction.run(
        `delete from event_ids i
        using json_to_recordset($2::text::json) as k(bucket integer, id bytea)
        where i.org_id = $1 and i.bucket = k.bucket and i.id = k.id`,
        ...[
          orgRow,
          asRows(own.map(({ event: { id } }) => ({ bucket: bucketOf(id), id: idInText(id) }))),
        ],
      ),
    ])
    return { events: own.length }
  }
}
