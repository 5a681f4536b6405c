import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { EventSource } from '../../../../src/core/event/event.ts'
import { FlowPositions } from '../../../../src/core/flow/positions.ts'
import { dayMs } from '../../../../src/core/time/durations.ts'
import { LagBoard, PresenceBoard, ProgressBoard } from '../../../../src/storage/shared/boards.ts'
import { StoredCatalogue } from '../../../../src/storage/sqlite/catalogue/catalogue.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { ColumnSegments } from '../../../../src/storage/sqlite/engine/column-segments/column-segments.ts'
import {
  RunColumnsBuilder,
  RunPages,
} from '../../../../src/storage/sqlite/engine/column-segments/run-columns.ts'
import {
  defaultSealPolicy,
  Sealer,
} from '../../../../src/storage/sqlite/engine/column-segments/sealer.ts'
import { encodeSegment } from '../../../../src/storage/sqlite/engine/column-segments/segment-bytes.ts'
import {
  type BatchRow,
  defaultEventIdsPolicy,
  storedText,
} from '../../../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import {
  decodeEvents,
  encodeEvents,
} from '../../../../src/storage/sqlite/engine/event-codec/event-text.ts'
import {
  defaultRowIndexPolicy,
  noteReplacedRows,
} from '../../../../src/storage/sqlite/engine/hash-index/row-index.ts'
import {
  Participants,
  type TransactionParticipant,
} from '../../../../src/storage/sqlite/engine/participant.ts'
import { inSavepoint } from '../../../../src/storage/sqlite/engine/savepoint.ts'
import { erase } from '../../../../src/storage/sqlite/erasure/erase.ts'
import { ErasureTable } from '../../../../src/storage/sqlite/erasure/erasure-table.ts'
import { hashOfPerson } from '../../../../src/storage/sqlite/erasure/person-matcher.ts'
import { flowEvents } from '../../../../src/storage/sqlite/ledger/ledger.ts'
import { PresenceTable } from '../../../../src/storage/sqlite/organisations/presence-table.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import {
  CommandExecutor,
  type CommandResult,
  type StorageCommand,
} from '../../../../src/storage/sqlite/writer/commands.ts'
import { defaultWriterPolicy, Writer } from '../../../../src/storage/sqlite/writer/writer.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'

/**
 * Tests all that is in memory beside the database, through random transactions of the real writer: commits
 * that fail, are refused or taken apart, savepoints, other processes, crashes. It is compared with participants
 * that are new for every command that was kept, and so cannot remember anything wrong.
 */

/** Small enough that a few rows make segments, and segments of segments. */
const small = { entriesPerSegment: 8, segmentBits: 1, entriesPerMergeStep: 4 }
const policies = [defaultEventIdsPolicy, defaultRowIndexPolicy]
const usual = policies.map(policy => ({ ...policy }))

const folder = mkdtempSync(join(tmpdir(), 'cairn-participants-'))

afterAll(() => {
  for (const [i, policy] of policies.entries()) Object.assign(policy, usual[i])
  rmSync(folder, { recursive: true })
})

const now = Date.UTC(2026, 10, 20)
const sealing = {
  ...defaultSealPolicy,
  runsPerSegment: 2,
  changesToLook: 1,
  pauseMs: 0,
  settledMs: 0,
}

const flowKeys = ['list', 'tour'] as const
const users = ['ann', 'bob', 'cid']
const visitors = ['x', 'y']
const people = [...users.map(id => `u${id}`), ...visitors.map(id => `a${id}`)]
const runs = ['r1', 'r2', 'r3']
const sessions = ['s1', 's2']
const ids = Array.from({ length: 40 }, (_, n) => `event-${n}`)

function connect(file: string): Database {
  const database = new Database(file, { create: true, strict: true })
  database.run('pragma journal_mode = memory')
  database.run('pragma synchronous = off')
  database.run('pragma foreign_keys = on')
  return database
}

let files = 0
const newFile = () => join(folder, `${files++}.db`)

const template = newFile()
const stored = makeTemplate()

function makeTemplate(): StoredWorld {
  const database = connect(template)
  migrate(database, 0)
  const versions = (items: { key: string; completeOn: string | null }[]) => [
    { version: 1, publishedAt: 0, steps: [{ key: 'a' }], items },
    { version: 2, publishedAt: 20, steps: [{ key: 'b' }, { key: 'a' }], items },
  ]
  const items = [
    { key: 'one', completeOn: 'did_one' },
    { key: 'two', completeOn: null },
  ]
  const flows = [
    { key: 'list', versions: versions(items) },
    { key: 'tour', versions: versions([]) },
  ]
  const stored = storeFlows({ database, takeUp() {} }, flows)
  database.run(
    `update flow_versions set body = json_set(body, '$.goal.event', 'bought', '$.when.event', 'looked')`,
  )
  database.close()
  return stored
}

const { orgRow } = stored
const flowRows = flowKeys.map(key => stored.flowRows.get(key)!)

/** The disk is full, so the writer tries again. */
const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })

/** A process: what it has in memory, over a file that remains when the process is gone. */
class Process {
  readonly database: Database
  readonly catalogue: StoredCatalogue
  readonly segments: ColumnSegments
  readonly executor: CommandExecutor
  readonly presence: PresenceTable
  readonly boards = {
    now: () => now,
    lag: new LagBoard(LagBoard.memory()),
    progress: new ProgressBoard(ProgressBoard.memory()),
  }
  /** The clock skews of pages in what was committed since the process began. */
  readonly skews: number[] = []
  /** Thrown before the next commits. */
  faults: Error[] = []
  hasOtherWritten = false
  private readonly writer: Writer
  private readonly sealer: Sealer

  constructor(readonly file: string) {
    this.database = connect(file)
    this.database.run(
      `create temp trigger lethal before insert on main.event_batches begin
        select raise(abort, 'lethal') where instr(new.facts, cast('lethal' as blob)) > 0;
      end`,
    )
    this.catalogue = new StoredCatalogue(this.database)
    this.presence = new PresenceTable(this.database, new PresenceBoard(PresenceBoard.memory(2)))
    this.segments = new ColumnSegments(this.database, () => 0, sealing)
    this.executor = new CommandExecutor(
      this.database,
      this.catalogue,
      this.presence,
      this.segments,
      this.boards,
    )
    const historyOf = (org: number, flow: number) => this.catalogue.flowByRow(org, flow)
    this.sealer = new Sealer(this.database, this.segments, historyOf, () => now, sealing)
    const policy = { ...defaultWriterPolicy, tries: 2, retryPauseMs: 0 }
    this.writer = new Writer(this.database, this.executor, policy, {
      onBegin: () => this.notice(),
      beforeCommit: () => {
        const fault = this.faults.shift()
        if (fault) throw fault
      },
    })
  }

  /** As storage does at the beginning of each transaction, and between them. */
  notice(): void {
    if (!this.hasOtherWritten) return
    this.executor.participants.externalChange()
    this.hasOtherWritten = false
  }

  /** @returns the answer to each command; null if storage refused it */
  async group(commands: readonly StorageCommand[]): Promise<(CommandResult | Error | null)[]> {
    const results = commands.map((): CommandResult | Error | null => null)
    for (const [i, command] of commands.entries()) {
      this.writer.submit({
        command,
        isAwaited: true,
        resolve: result => {
          results[i] = result ?? new Error('nothing to say')
          this.noteSkew(command)
        },
        reject: error => {
          const isRefused = (error as { code?: string }).code === 'overloaded'
          results[i] = isRefused ? null : (error as Error)
        },
      })
    }
    await this.writer.flush()
    return results
  }

  noteSkew(command: StorageCommand): void {
    if (command.type === 'append' && command.skewMs !== null) this.skews.push(command.skewMs)
  }

  /** A transaction that is not one of commands alone. */
  alone<T>(work: () => T, committed?: (result: T) => void): Promise<T> {
    return this.writer.exclusively(work, committed)
  }

  /** As `Following` does it. @returns whether there was anything to project */
  async project(): Promise<boolean> {
    const { follower } = this.executor
    if (!follower.begin()) return false
    try {
      await this.alone(
        () => follower.step(),
        done => done(),
      )
    } catch (error) {
      if ((error as { code?: string }).code === 'SQLITE_FULL') throw error
      await this.alone(
        () => follower.stepApart(),
        done => done(),
      )
    }
    return true
  }

  async projectAll(): Promise<void> {
    while (await this.project());
  }

  /** As `Storage.seal` does it, to the end. @param meanwhile happens before each segment is written */
  async seal(meanwhile: () => Promise<unknown>): Promise<void> {
    for (const segment of this.sealer.work()) {
      if (!segment) continue
      await meanwhile()
      await this.alone(() => this.segments.write(segment.draft, segment))
    }
  }

  /** As before a stop, or while somebody is erased. */
  sealIndexes(): Promise<void> {
    return this.alone(() => {
      for (const index of this.executor.indexes) index.sealIfWorth()
    })
  }
}

/**
 * What the database says, apart from row numbers and ids that it has given itself, and from whom it marked
 * because they had unattributed events for a moment.
 */
function contents(database: Database): Record<string, unknown[]> {
  const tables = {
    runs: `org_id, flow_id, run_key, person, least_user_id, least_anonymous_id, started_at, last_at,
      named_version, version, completed_at, dismissed_at, steps, own_started_at, own_completed_at,
      loose_version, traits, answers`,
    run_people: '*',
    run_owners: '*',
    loose_facts: '*',
    ticks: '*',
    checklist_completions: '*',
    progress: '*',
    completions: 'org_id, flow_id, person, reported_at',
    held_out: '*',
    caused_events: '*',
    goals: '*',
    refusals: '*',
    dead_letters: 'org_id, at, error, event',
    step_health: '*',
    presence: 'org_id, snippet_version',
  }
  const all = Object.entries(tables).map(([table, columns]) => {
    const rows = database.query<object, []>(`select ${columns} from ${table}`).all()
    return [table, rows.map(row => withoutOwnIds(JSON.stringify(row))).sort()]
  })
  const events = database
    .query<BatchRow, []>('select * from event_batches')
    .all()
    .flatMap(row => {
      const { source } = storedText(row)
      return decodeEvents(storedText(row)).map(event => JSON.stringify(nameless(event, source)))
    })
  return Object.fromEntries([...all, ['events', events.sort()]])
}

const nameless = (event: { id: string }, source: EventSource) =>
  source === 'events' ? { source, ...event } : { source, ...event, id: '' }

/** Cairn gives random ids to its own events. */
const withoutOwnIds = (text: string) => text.replaceAll(/"event_[0-9A-Za-z]+"/g, '""')

/** What is told of one flow, and of one person. */
const ofFlow = (database: Database, flowRow: number) =>
  database
    .query(
      'select run_key, person, started_at, completed_at, steps from runs where flow_id = ? order by 1',
    )
    .all(flowRow)

const ofPerson = (database: Database, person: string) =>
  [
    'select flow_id, item_id, at, ticked from ticks where person = ? order by 1, 2, 3',
    'select flow_id, checklist_at, items from progress where person = ? order by 1',
    'select flow_id, reported_at from completions where person = ? order by 1',
    'select name, times from caused_events where person = ? order by 1',
  ].map(sql => database.query(sql).all(person))

// biome-ignore lint/suspicious/noExplicitAny: what participants remember is theirs alone
type Said = any

interface Seen {
  live: Process
  /** A process that has just begun, over a copy of the live database. */
  fresh: Process
  /** Another process, which has executed what was kept and has projected all of it. */
  reference: Process
}

/** Every run is found by its key. */
function expectAllFound(part: Said, { live }: Seen): void {
  const rows = live.database
    .query<{ id: number; flow_id: number; run_key: string }, []>(
      'select id, flow_id, run_key from runs',
    )
    .all()
  for (const { id, flow_id, run_key } of rows) {
    const isIt = (row: number) => row === id
    expect(part.find(flow_id, run_key, isIt)).toBe(id)
  }
}

const keys = [
  ...runs.map(id => `r${id}`),
  ...people.flatMap(person => [person, ...sessions.map(id => `s${id} ${person}`)]),
]

const inFlows = <T>(ask: (flowRow: number) => T): T[] => flowRows.map(ask)

const always = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER }

const projected = "(select value from server_state where name = 'projected')"

/** Which projected rows of the ledger have events of a flow, and of which time: as the table says. */
const spansIn = (database: Database) =>
  database
    .query<{ flow_id: number; seq: number; first_at: number; last_at: number }, []>(
      `select flow_id, seq, first_at, last_at from event_batch_flows where seq <= ${projected}
      order by flow_id, seq`,
    )
    .all()

/** The same by reading all of those rows. */
function spansOfLedger(database: Database): ReturnType<typeof spansIn> {
  const rows = database
    .query<BatchRow, []>(`select * from event_batches where seq <= ${projected} order by seq`)
    .all()
  return flowRows.toSorted().flatMap(flow =>
    rows.flatMap(row => {
      const events = decodeEvents(storedText(row)).filter(({ flowRef }) => flowRef === flow)
      const times = events.map(({ occurredAt }) => occurredAt)
      if (times.length === 0) return []
      const [first_at, last_at] = [Math.min(...times), Math.max(...times)]
      return [{ flow_id: flow, seq: row.seq, first_at, last_at }]
    }),
  )
}

/**
 * How to check that each kind of participant agrees with the database. A new kind has to be added here.
 * `part` is the one that has lived, `anew` a new one of the same kind.
 */
const covers: Record<string, (part: Said, anew: Said, seen: Seen) => void> = {
  EventIds: (part, anew, { live }) => {
    const taken = (ids_: Said) => ids.filter(id => ids_.isTaken(orgRow, id))
    expect(taken(part)).toEqual(taken(anew))
    const { last } = live.database
      .query<{ last: number }, []>('select coalesce(max(seq), 0) as last from event_batches')
      .get()!
    expect(part.committedSeq).toBeGreaterThanOrEqual(last)
  },
  EventBatches: part => {
    expect([part.open.length, part.lastOf.size]).toEqual([0, 0])
  },
  BatchFlows: (part, _, { live }) => {
    expect(part.noted).toEqual([])
    const of =
      (flow: number) =>
      ({ flowRef }: { flowRef: number | null }) =>
        flowRef === flow
    const found = (flow: number) => [...flowEvents(live.database, orgRow, flow, always)].flat()
    expect(inFlows(found)).toEqual(inFlows(flow => storedEvents(live.database).filter(of(flow))))
    expect(spansIn(live.database)).toEqual(spansOfLedger(live.database))
  },
  RowIndex: (part, _, seen) => expectAllFound(part, seen),
  RunTable: (part, anew) => {
    const told = (table: Said) =>
      inFlows(flow => [
        keys.map(key => table.get(orgRow, flow, key)),
        people.map(person => table.startsOf(orgRow, flow, person).sort()),
      ])
    expect(told(part)).toEqual(told(anew))
  },
  RunPeople: (part, anew) => {
    const told = (of: Said) =>
      inFlows(flow => people.map(person => of.partyOf(orgRow, flow, person).sort()))
    expect(told(part)).toEqual(told(anew))
  },
  UnattributedEvents: (part, anew, { live }) => {
    const unmarked = live.database.query(
      `select run_key from runs where has_loose = 0 and (flow_id, person) in (
        select flow_id, person from loose_facts
        union select flow_id, person from runs where has_loose = 1
      )`,
    )
    expect(unmarked.all()).toEqual([])
    const told = (events: Said) =>
      inFlows(flow => people.map(person => events.has(orgRow, flow, person)))
    expect(told(part)).toEqual(told(anew))
  },
  ChecklistCompletions: (part, anew) => {
    const told = (completions: Said) => inFlows(flow => completions.isWithout(orgRow, flow))
    expect(told(part)).toEqual(told(anew))
    expect(part.changed.size).toBe(0)
  },
  ColumnSegments: (part, anew) => {
    const told = (segments: Said) => inFlows(flow => segments.of(orgRow, flow))
    expect(told(part)).toEqual(told(anew))
  },
  Follower: (_, __, { live, reference }) => {
    const { lag } = live.boards
    for (const flow of flowRows) {
      if (lag.isFlowBehind(flow)) continue
      expect(ofFlow(live.database, flow)).toEqual(ofFlow(reference.database, flow))
    }
    for (const person of people) {
      const [userId, anonymousId] =
        person[0] === 'u' ? [person.slice(1), null] : [null, person.slice(1)]
      if (lag.isPersonBehind(orgRow, { userId, anonymousId })) continue
      expect(ofPerson(live.database, person)).toEqual(ofPerson(reference.database, person))
    }
  },
  Skews: (_, __, { live }) => {
    expect((live.presence as Said).skews.get(orgRow) ?? []).toEqual(live.skews)
  },
  WaitingTicks: part => {
    expect([part.since.size, part.flows.size]).toEqual([0, 0])
  },
}

/** All participants in a list, and in the lists within it. */
function partsOf(of: TransactionParticipant): TransactionParticipant[] {
  return of instanceof Participants ? of.parts.flatMap(partsOf) : [of]
}

test('every participant of the command executor is covered here', () => {
  const { executor, database } = new Process(template)
  const kinds = new Set(partsOf(executor.participants).map(part => part.constructor.name))
  expect([...kinds].sort()).toEqual(Object.keys(covers).sort())
  database.close()
})

/** Each segment holds what its runs give now. */
function expectSegmentsRight({ database, catalogue }: Process): void {
  const segments = database
    .query<
      { flow_id: number; from_at: number; to_at: number; runs: number; columns: Uint8Array },
      []
    >('select flow_id, from_at, to_at, runs, columns from run_blocks')
    .all()
  const pages = new RunPages(database)
  for (const { flow_id, from_at, to_at, runs, columns } of segments) {
    const positions = new FlowPositions(catalogue.flowByRow(orgRow, flow_id)!)
    const builder = new RunColumnsBuilder(positions, from_at, runs, now - dayMs)
    for (const page of pages.between(orgRow, flow_id, from_at, to_at)) {
      for (const run of page) builder.add(run)
    }
    expect(encodeSegment(builder.finish())).toEqual(columns)
  }
}

const at = fc.integer({ min: 1, max: 40 })
const maybe = (among: readonly string[]) => fc.option(fc.constantFrom(...among), { freq: 2 })

const who = fc
  .record({ userId: maybe(users), anonymousId: maybe(visitors) })
  .map(ids => ((ids.userId ?? ids.anonymousId) ? ids : { ...ids, userId: 'ann' }))

const kinds = [
  'flow_started',
  'step_viewed',
  'flow_completed',
  'item_completed',
  'flow_held_out',
] as const

const event = fc
  .record({
    id: fc.constantFrom(...ids),
    who,
    flowKey: fc.constantFrom(...flowKeys),
    kind: fc.constantFrom(...kinds, 'custom' as const, 'custom' as const),
    name: fc.constantFrom('did_one', 'bought', 'looked', 'other'),
    itemKey: fc.constantFrom('one', 'two'),
    runId: maybe(runs),
    sessionId: maybe(sessions),
    at,
    isLethal: fc.nat(60).map(n => n === 0),
  })
  .map(({ id, who, isLethal, ...said }) => {
    const { kind, name, runId, sessionId, at } = said
    const isItem = kind === 'item_completed'
    const flowKey = isItem ? 'list' : said.flowKey
    return newEventOf(
      stored,
      {
        kind,
        at,
        userId: who.userId ?? undefined,
        anonymousId: who.anonymousId ?? undefined,
        runId: runId ?? undefined,
        sessionId: sessionId ?? undefined,
        ...(kind === 'custom' ? { name } : { flowKey }),
        ...(isItem ? { itemKey: said.itemKey } : {}),
        ...(kind === 'step_viewed' ? { stepKey: 'a' } : {}),
      },
      isLethal ? `lethal-${id}` : id,
    )
  })

const itemRows = ['one', 'two'].map(key => stored.itemRows.get(`list/${key}`)!)

const command: fc.Arbitrary<StorageCommand> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({ events: fc.array(event, { minLength: 1, maxLength: 5 }), skew: fc.nat(9), at })
      .map(({ events, skew, at: receivedAt }) => ({
        type: 'append' as const,
        orgRow,
        receivedAt,
        refusals: {},
        skewMs: skew < 3 ? skew : null,
        text: encodeEvents(events),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ who, flow: fc.constantFrom(...flowRows), runId: maybe(runs), at })
      .map(({ who, flow, runId, at }) => ({
        type: 'complete' as const,
        orgRow,
        ...who,
        flowRow: flow,
        runId,
        completedAt: at,
        receivedAt: at,
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ who, runId: maybe(runs), item: fc.constantFrom(...itemRows), on: fc.boolean(), at })
      .map(({ who, runId, item, on, at }) => ({
        type: 'tick' as const,
        orgRow,
        ...who,
        flowRow: flowRows[0]!,
        runId,
        items: [{ itemRow: item, completed: on }],
        receivedAt: at,
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<StorageCommand>(
      { type: 'refusal', orgRow, code: 'invalid', at: 1 },
      { type: 'snippet_version', orgRow, version: '1.2.3', at: 1 },
    ),
  },
)

const commands = fc.array(command, { minLength: 1, maxLength: 4 })
const fault = fc.constantFrom('none', 'none', 'none', 'once', 'refused', 'apart')

const damaged = [
  'runs',
  'run_people',
  'completions',
  'loose_facts',
  'checklist_completions',
] as const

type Action =
  | { type: 'group'; commands: StorageCommand[]; fault: string }
  | {
      type: 'apart'
      parts: { commands: StorageCommand[]; projects: boolean; fails: boolean }[]
      fails: boolean
    }
  | { type: 'seal'; meanwhile: StorageCommand[] }
  | { type: 'damage'; flow: number; table: (typeof damaged)[number] }
  | { type: 'erase'; person: string }
  | { type: 'crash'; commands: StorageCommand[] }
  | { type: 'fail to project'; passes: boolean }
  | { type: 'project' | 'rebuild' | 'other' | 'look' | 'stop' | 'give back' }

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant('group' as const), commands, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('apart' as const),
      parts: fc.array(fc.record({ commands, projects: fc.boolean(), fails: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      }),
      fails: fc.nat(3).map(n => n === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('seal' as const), meanwhile: commands }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('damage' as const),
      flow: fc.constantFrom(...flowRows),
      table: fc.constantFrom(...damaged),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('erase' as const),
      person: fc.constantFrom(...people),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('crash' as const), commands }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('fail to project' as const), passes: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        ...(['project', 'project', 'project', 'rebuild', 'other'] as const),
        ...(['look', 'look', 'stop', 'give back'] as const),
      ),
    }),
  },
)

/** An erasure leaves something of a name beside another's that a rebuild does not, so only one of them comes. */
const history = fc
  .tuple(fc.array(action, { maxLength: 60, size: 'max' }), fc.boolean())
  .map(([actions, erases]) =>
    actions.filter(({ type }) => (erases ? !/rebuild|damage/.test(type) : type !== 'erase')),
  )

/** A process, and a reference that never remembers anything. */
class Pair {
  live: Process
  private reference: string = newFile()
  /** What was told of each person's progress when it was last looked at. */
  private told = new Map<string, { version: string; said: string }>()

  constructor() {
    copyFileSync(template, this.reference)
    const file = newFile()
    copyFileSync(template, file)
    this.live = new Process(file)
  }

  /** Loses the memory, and what was not committed. */
  restart(): void {
    this.live.database.close()
    this.live = new Process(this.live.file)
    this.told.clear()
  }

  /** Each commit seals what is full. */
  private expectSealed(): void {
    for (const part of partsOf(this.live.executor.participants) as Said[]) {
      const indexes = part.indexes ?? (part.index ? [part.index] : [])
      for (const { recent } of indexes) {
        expect(recent?.size ?? 0).toBeLessThan(small.entriesPerSegment)
      }
    }
  }

  /** Executes the commands that were kept, with participants that have never seen anything. */
  async keep(kept: readonly StorageCommand[]): Promise<(CommandResult | Error | null)[]> {
    const results: (CommandResult | Error | null)[] = []
    if (kept.length > 0) this.expectSealed()
    for (const command of kept) {
      const other = new Process(this.reference)
      results.push(...(await other.group([command])))
      await other.projectAll()
      other.database.close()
    }
    return results
  }

  async run(action: Action): Promise<void> {
    const { live } = this
    switch (action.type) {
      case 'group': {
        const { fault } = action
        if (fault === 'once') live.faults = [full()]
        if (fault === 'refused') live.faults = [full(), full()]
        if (fault === 'apart') live.faults = [new Error('no')]
        const results = await live.group(action.commands)
        live.faults = []
        const kept = action.commands.filter((_, i) => results[i] !== null)
        expect(await this.keep(kept)).toEqual(results.filter(result => result !== null))
        return
      }
      case 'apart': {
        const kept: StorageCommand[] = []
        const work = () => {
          const { executor, database } = live
          for (const { commands, projects, fails } of action.parts) {
            const fault = inSavepoint(database, executor.participants, () => {
              for (const command of commands) executor.execute(command)
              executor.settle()
              if (projects) executor.follower.projectOwn()
              if (fails) throw new Error('taken back')
            })
            if (!fault) kept.push(...commands)
          }
          if (action.fails) throw new Error('taken back')
        }
        const isKept = await live.alone(work).then(
          () => true,
          () => false,
        )
        if (!isKept) return
        for (const command of kept) live.noteSkew(command)
        await this.keep(kept)
        return
      }
      case 'project':
        await live.project()
        return
      case 'give back':
        live.executor.follower.projector.giveBack()
        return
      case 'fail to project':
        live.faults = [action.passes ? full() : new Error('no')]
        await live.project().catch(() => {})
        live.faults = []
        return
      case 'seal': {
        let isFirst = true
        await live.seal(async () => {
          if (isFirst) await this.run({ type: 'group', commands: action.meanwhile, fault: 'none' })
          isFirst = false
        })
        return
      }
      case 'rebuild':
        this.outside(rebuild)
        return
      case 'damage':
        await live.projectAll()
        this.outside(database => {
          database.run(`delete from ${action.table} where flow_id = ${action.flow}`)
          noteReplacedRows(database)
        })
        this.look({ isDamaged: true })
        this.outside(rebuild)
        return
      case 'erase':
        await live.projectAll()
        await this.expectSame()
        this.outside(database => {
          const orgId = database
            .query<{ public_id: string }, []>('select public_id from organisations')
            .get()!.public_id
          const key = Buffer.alloc(32).toString('base64')
          const hashed = { orgRow, key, person: hashOfPerson(key, orgId, action.person) }
          const row = new ErasureTable(database).begin(hashed, now)
          for (const _ of erase(database, row));
        })
        copyFileSync(live.file, this.reference)
        this.look()
        return
      case 'other':
        this.outside(noteReplacedRows)
        live.notice()
        return
      case 'crash':
        live.database.run('begin immediate')
        try {
          for (const command of action.commands) live.executor.execute(command)
          live.executor.settle()
          live.executor.participants.beforeCommit()
        } catch {
          // Killed all the same.
        }
        this.restart()
        return
      case 'stop':
        await live.projectAll()
        await live.sealIndexes()
        this.restart()
        return
      case 'look':
        this.look()
    }
  }

  /** Another process writes. */
  private outside(work: (database: Database) => unknown): void {
    const database = connect(this.live.file)
    work(database)
    database.close()
    this.live.hasOtherWritten = true
    // A page that is open is not told what another process corrects.
    this.told.clear()
  }

  /** Checks that all participants agree with the database. */
  look({ isDamaged = false } = {}): void {
    const { live } = this
    live.notice()
    const copy = newFile()
    copyFileSync(live.file, copy)
    const fresh = new Process(copy)
    const reference = new Process(this.reference)
    try {
      const anew = partsOf(fresh.executor.participants)
      for (const [i, part] of partsOf(live.executor.participants).entries()) {
        // What others were told about flows and people is no longer true.
        if (isDamaged && part === live.executor.follower) continue
        covers[part.constructor.name]!(part, anew[i], { live, fresh, reference })
      }
      if (isDamaged) return
      expectSegmentsRight(live)
      this.expectProgressTold()
    } finally {
      fresh.database.close()
      reference.database.close()
      rmSync(copy)
    }
  }

  /** A person whose progress has changed is told so. */
  private expectProgressTold(): void {
    for (const person of people) {
      const version = this.live.boards.progress.version(orgRow, person)
      const said = JSON.stringify(ofPerson(this.live.database, person).slice(0, 3))
      const before = this.told.get(person)
      if (before && before.said !== said) expect(version).not.toBe(before.version)
      this.told.set(person, { version, said })
    }
  }

  /** Once everything is projected, the two databases say the same. */
  async expectSame(): Promise<void> {
    await this.live.projectAll()
    this.look()
    const reference = connect(this.reference)
    expect(contents(this.live.database)).toEqual(contents(reference))
    reference.close()
  }

  close(): void {
    this.live.database.close()
    for (const file of [this.live.file, this.reference]) rmSync(file)
  }
}

test('memory and database agree, whatever is committed, taken back, replaced or lost in between', async () => {
  for (const policy of policies) Object.assign(policy, small)
  await fc.assert(
    fc.asyncProperty(history, async actions => {
      const pair = new Pair()
      try {
        for (const action of actions) await pair.run(action)
        await pair.expectSame()
      } finally {
        pair.close()
      }
    }),
    // Leaves enough time to find the smallest example that fails.
    { numRuns: 25, interruptAfterTimeLimit: 100_000 },
  )
}, 300_000)
