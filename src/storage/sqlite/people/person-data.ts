import type { Database } from 'bun:sqlite'
import { msOf } from '../../../core/event/caused.ts'
import { namesOf } from '../../../core/event/event.ts'
import { unpackTraits } from '../../../core/run/run.ts'
import { isoTime, isoTimeOrNull } from '../../../core/time/clock.ts'
import type { NamedPerson, StoredSection } from '../../interfaces/people.ts'
import type { InRows, NewEvent, StoredEvent } from '../../shared/in-rows.ts'
import { pages } from '../database/pages.ts'
import { type BuriedCommand, letterIn } from '../ledger/dead-letter-text.ts'
import { namesIn } from '../ledger/dead-letters.ts'
import { type BatchRow, batchColumns, eventsOf } from '../ledger/event-batches.ts'
import { pairIn, pairPrefix } from '../runs/run-people.ts'
import { unpackSteps } from '../runs/run-rows.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import { causedReader } from './caused-events.ts'
import { type PersonRow, personColumns, seenIn } from './people-table.ts'

/**
 * Everything that is stored of a person, in sections named as in the API. Each page is a statement of its
 * own, so that even a slow reader holds nothing up.
 */

type Rows = Generator<object | null>

const pageRows = 200
const pageBatches = 4

/** The ids that callers know, by row. */
function publicIdsOf(database: Database, orgRow: number) {
  const ids = (sql: string) =>
    new Map(
      database
        .query<{ id: number; public_id: string }, [number]>(sql)
        .all(orgRow)
        .map(row => [row.id, row.public_id]),
    )
  const parts = (table: 'steps' | 'items') =>
    ids(`select p.id, p.public_id from flows f join ${table} p on p.flow_id = f.id
      where f.org_id = ?`)
  const maps = {
    flow: ids('select id, public_id from flows where org_id = ?'),
    step: parts('steps'),
    item: parts('items'),
  }
  const idOf = (kind: keyof typeof maps) => (row: number | null) =>
    row === null ? null : (maps[kind].get(row) ?? null)
  return { flows: maps.flow, flowId: idOf('flow'), stepId: idOf('step'), itemId: idOf('item') }
}

type Names = ReturnType<typeof publicIdsOf>

const eventOf = (event: NewEvent, { flowId, stepId, itemId }: Names) => ({
  id: event.id,
  kind: event.kind,
  userId: event.userId,
  anonymousId: event.anonymousId,
  flowId: flowId(event.flowRef),
  flowVersion: event.flowVersion,
  stepId: stepId(event.stepRef),
  itemId: itemId(event.itemRef),
  runId: event.runId,
  sessionId: event.sessionId,
  occurredAt: isoTime(event.occurredAt),
  reportedAt: isoTimeOrNull(event.reportedAt),
  url: event.url,
  name: event.name,
  reason: event.reason,
  properties: event.properties === null ? null : JSON.parse(event.properties),
  traits: event.traits === null ? null : JSON.parse(event.traits),
})

/** A report that did not arrive in a batch of events. */
function reportOf(command: BuriedCommand, { flowId, stepId, itemId }: Names) {
  const { orgRow, ...report } = command
  if (report.type === 'complete') {
    const { flowRow, completedAt, receivedAt, ...rest } = report
    return { ...rest, flowId: flowId(flowRow), completedAt: isoTime(completedAt) }
  }
  if (report.type === 'tick') {
    const { flowRow, items, receivedAt, ...rest } = report
    const ticks = items.map(({ itemRow, completed }) => ({ itemId: itemId(itemRow), completed }))
    return { ...rest, flowId: flowId(flowRow), items: ticks }
  }
  const { stepRow, at, ...rest } = report
  return { ...rest, stepId: stepId(stepRow) }
}

const storedEventOf = (event: StoredEvent, names: Names) => ({
  ...eventOf(event, names),
  receivedAt: isoTime(event.receivedAt),
  source: event.source,
})

function* events(database: Database, requested: InRows<NamedPerson>, names: Names): Rows {
  const { orgRef: orgRow, person } = requested
  const page = database.query<BatchRow, [number, number]>(
    `select ${batchColumns} from event_batches
    where seq > ? and org_id = ? order by seq limit ${pageBatches}`,
  )
  for (const rows of pages(({ seq }) => page.all(seq, orgRow), { seq: 0 }, pageBatches)) {
    for (const row of rows) {
      const own = eventsOf(row).filter(event => namesOf(event).includes(person))
      for (const event of own) yield storedEventOf(event, names)
      yield null
    }
  }
}

/** Whose rows are requested, and where they are. */
interface RequestedData {
  database: Database
  orgRow: number
  /** As `personOf` names them. */
  name: string
  names: Names
}

/**
 * Goes through an organisation's rows in order of their number. It yields what `tell` makes of the person's
 * rows, and null after each page.
 */
function* numbered<Row extends { number: number }>(
  { database, orgRow }: RequestedData,
  [table, number]: readonly [table: string, number: string],
  tell: (row: Row) => object | null,
): Rows {
  const page = database.query<Row, [number, number]>(
    `select *, ${number} as number from ${table}
    where ${number} > ? and org_id = ? order by ${number} limit ${pageRows}`,
  )
  const next = (last: { number: number }) => page.all(last.number, orgRow)
  for (const rows of pages(next, { number: 0 }, pageRows)) {
    for (const row of rows) {
      const shown = tell(row)
      if (shown !== null) yield shown
    }
    yield null
  }
}

const stepOf = (names: Names) => (step: ReturnType<typeof unpackSteps>[number]) => ({
  stepId: names.stepId(step.stepId),
  viewedAt: isoTimeOrNull(step.viewedAt),
  completedAt: isoTimeOrNull(step.completedAt),
  skippedAt: isoTimeOrNull(step.skippedAt),
  missingAt: isoTimeOrNull(step.missingAt),
})

function runs(requested: RequestedData) {
  const { name, names } = requested
  return numbered<StoredRun & { number: number }>(requested, ['runs', 'id'], run => {
    const ids = { userId: run.least_user_id, anonymousId: run.least_anonymous_id }
    if (run.person !== name && !namesOf(ids).includes(name)) return null
    return {
      flowId: names.flowId(run.flow_id),
      key: run.run_key,
      ...ids,
      version: run.version,
      startedAt: isoTime(run.started_at),
      lastAt: isoTime(run.last_at),
      completedAt: isoTimeOrNull(run.completed_at),
      dismissedAt: isoTimeOrNull(run.dismissed_at),
      traits: unpackTraits(run.traits),
      steps: unpackSteps(run.steps).map(stepOf(names)),
    }
  })
}

/** A section of rows found by flow and person: each has the flow's id and what `tell` makes of the row. */
function inFlows<Row>(table: string, tell: (row: Row, names: Names) => object) {
  return function* ({ database, orgRow, name, names }: RequestedData): Rows {
    const ofPerson = database.query<Row, [number, number, string]>(
      `select * from ${table} where org_id = ? and flow_id = ? and person = ?`,
    )
    for (const [flowRow, flowId] of names.flows) {
      for (const row of ofPerson.all(orgRow, flowRow, name)) {
        yield { flowId, ...tell(row, names) }
      }
    }
  }
}

function* causedEvents({ database, orgRow, name: person }: RequestedData): Rows {
  for (const [name, times] of causedReader(database)(orgRow, person)) {
    yield { name, times: times.map(time => isoTime(msOf(time))) }
  }
}

function stepReports(requested: RequestedData) {
  type Row = Record<string, number | string | null> & { number: number; at: number }
  return numbered<Row>(requested, ['step_reports', 'seq'], row => {
    if (row.person !== requested.name) return null
    return {
      stepId: requested.names.stepId(row.step_id as number),
      version: row.version,
      outcome: row.outcome,
      at: isoTime(row.at),
      url: row.url,
      selector: row.selector,
      matchCount: row.match_count,
      waitMs: row.wait_ms,
      snippetVersion: row.snippet_version,
      message: row.message,
    }
  })
}

function deadLetters(requested: RequestedData) {
  const { name, names } = requested
  type Row = { number: number; at: number; error: string; event: string }
  return numbered<Row>(requested, ['dead_letters', 'seq'], ({ at, error, event }) => {
    const letter = letterIn(event)
    const ids = namesIn(letter)
    if ((ids.userId ?? ids.anonymousId) === null || !namesOf(ids).includes(name)) return null
    const content =
      'type' in letter ? { report: reportOf(letter, names) } : { event: eventOf(letter, names) }
    return { at: isoTime(at), error, ...content }
  })
}

function* profile({ database, orgRow, name }: RequestedData): Rows {
  const row = database
    .query<PersonRow, [number, string]>(
      `select ${personColumns} from people where org_id = ? and person = ?`,
    )
    .get(orgRow, name)
  if (row === null) return
  const { firstAt, lastAt, traits, pages } = seenIn(row)
  yield {
    firstSeenAt: isoTime(firstAt),
    lastSeenAt: isoTime(lastAt),
    traits: Object.fromEntries([...traits].map(([trait, { value }]) => [trait, value])),
    pages: pages.map(({ url, at }) => ({ url, lastSeenAt: isoTime(at) })),
  }
}

/** The sections that follow the events, in their order. */
const sections: Record<string, (requested: RequestedData) => Rows> = {
  profile,
  runs,
  completions: inFlows<{ reported_at: number }>('completions', row => ({
    completedAt: isoTime(row.reported_at),
  })),
  ticks: inFlows<{ item_id: number; at: number; ticked: number; run_key: string }>(
    'ticks',
    ({ item_id, at, ticked, run_key: run }, { itemId }) => ({
      itemId: itemId(item_id),
      at: isoTime(at),
      ticked: ticked === 1,
      run,
    }),
  ),
  progress: inFlows<{ checklist_at: number | null; last_tick_at: number | null; items: string }>(
    'progress',
    ({ checklist_at, last_tick_at, items }, { itemId }) => ({
      everTicked: items === '' ? [] : items.split(',').map(item => itemId(Number(item))),
      checklistCompletedAt: isoTimeOrNull(checklist_at),
      lastTickAt: isoTimeOrNull(last_tick_at),
    }),
  ),
  looseFacts: inFlows<{ at: number; completes: number; version: number | null }>(
    'loose_facts',
    ({ at, completes, version }) => ({
      at: isoTime(at),
      completes: completes === 1,
      flowVersion: version,
    }),
  ),
  checklistCompletions: inFlows<{ at: number; run_key: string }>(
    'checklist_completions',
    ({ at, run_key: run }) => ({ at: isoTime(at), run }),
  ),
  sharedRuns: inFlows<{ run_key: string }>('run_people', ({ run_key: key }) => {
    if (!key.startsWith(pairPrefix)) return { run: key }
    const [user, visitor] = pairIn(key)
    return { userId: user.slice(1), anonymousId: visitor.slice(1) }
  }),
  causedEvents,
  heldOut: inFlows<{ version: number; at: number }>('held_out', ({ version, at }) => ({
    version,
    at: isoTime(at),
  })),
  goals: inFlows<{ name: string; last_at: number }>('goals', ({ name, last_at }) => ({
    event: name,
    lastAt: isoTime(last_at),
  })),
  stepReports,
  deadLetters,
}

/** Everything that holds a person's id. */
export function* personData(
  database: Database,
  requested: InRows<NamedPerson>,
): Generator<StoredSection> {
  const { orgRef: orgRow, person: name } = requested
  const names = publicIdsOf(database, orgRow)
  yield { section: 'events', rows: events(database, requested, names) }
  for (const [section, rowsOf] of Object.entries(sections)) {
    yield { section, rows: rowsOf({ database, orgRow, name, names }) }
  }
}
