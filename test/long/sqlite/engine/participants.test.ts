import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { EventSource } from '../../../../src/core/event/event.ts'
import { FlowPositions } from '../../../../src/core/run/positions.ts'
import { dayMs, minuteMs } from '../../../../src/core/time/durations.ts'
import { Lag, ProgressVersions } from '../../../../src/storage/shared/live-state.ts'
import { StoredCatalogue } from '../../../../src/storage/sqlite/catalogue/catalogue.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { encodeBlock } from '../../../../src/storage/sqlite/engine/run-blocks/block-bytes.ts'
import { BlockMaker } from '../../../../src/storage/sqlite/engine/run-blocks/block-maker.ts'
import { RunBlocks } from '../../../../src/storage/sqlite/engine/run-blocks/run-blocks.ts'
import {
  RunColumnsBuilder,
  RunPages,
} from '../../../../src/storage/sqlite/engine/run-blocks/run-columns.ts'
import { erase } from '../../../../src/storage/sqlite/erasure/erase.ts'
import { ErasureTable } from '../../../../src/storage/sqlite/erasure/erasure-table.ts'
import { hashOfPerson } from '../../../../src/storage/sqlite/erasure/person-matcher.ts'
import {
  type BatchRow,
  eventsOf,
  sourceOf,
} from '../../../../src/storage/sqlite/ledger/event-batches.ts'
import { PresenceTable } from '../../../../src/storage/sqlite/organisations/presence-table.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import type {
  CommandResult,
  StorageCommand,
} from '../../../../src/storage/sqlite/writer/command.ts'
import { CommandExecutor } from '../../../../src/storage/sqlite/writer/commands.ts'
import { defaultWriterPolicy } from '../../../../src/storage/sqlite/writer/group-commit.ts'
import { Writer } from '../../../../src/storage/sqlite/writer/writer.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'

/**
 * The memory that storage has beside the database never changes a result. In random histories of commits that fail,
 * are rejected or are split, of other processes, crashes and erasures, the running storage gives the same outcomes
 * and has the same data as a storage that is started again for every command, and so has no memory.
 */

const folder = mkdtempSync(join(tmpdir(), 'cairn-participants-'))

afterAll(() => rmSync(folder, { recursive: true }))

const now = Date.UTC(2026, 10, 20)
const blockPolicy = { minRuns: 1, maxRuns: 3, settledMs: 0 }

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
  migrate(database)
  const versions = (items: { key: string; completeOn: string | null }[]) => [
    { version: 1, publishedAt: 0, steps: [{ key: 'a' }], items },
    { version: 2, publishedAt: 100 * minuteMs, steps: [{ key: 'b' }, { key: 'a' }], items },
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
    `update flow_versions set
      page = json_set(page, '$.goal.event', 'bought', '$.when.event', 'looked'),
      definition = json_set(definition, '$.goal.event', 'bought')`,
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
  readonly executor: CommandExecutor
  /** Thrown before the next commits. */
  faults: Error[] = []
  private readonly writer: Writer
  private readonly blockMaker: BlockMaker

  constructor(readonly file: string) {
    this.database = connect(file)
    this.database.run(
      `create temp trigger lethal before insert on main.event_ids begin
        select raise(abort, 'lethal') where instr(new.id, 'lethal') > 0;
      end`,
    )
    this.catalogue = new StoredCatalogue(this.database)
    const presence = new PresenceTable(this.database)
    const blocks = new RunBlocks(this.database)
    this.executor = new CommandExecutor(this.database, this.catalogue, presence, blocks, {
      now: () => now,
      lag: new Lag(),
      progress: new ProgressVersions(),
    })
    const historyOf = (org: number, flow: number) => this.catalogue.flowByRow(org, flow)
    this.blockMaker = new BlockMaker(this.database, blocks, historyOf, () => now, blockPolicy)
    const policy = { ...defaultWriterPolicy, tries: 2, retryPauseMs: 0 }
    this.writer = new Writer(this.database, this.executor, policy, {
      beforeCommit: () => {
        const fault = this.faults.shift()
        if (fault) throw fault
      },
    })
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
        },
        reject: error => {
          const isRejected = (error as { code?: string }).code === 'overloaded'
          results[i] = isRejected ? null : (error as Error)
        },
      })
    }
    await this.writer.flush()
    return results
  }

  /** A transaction that is not one of commands alone. */
  alone<T>(work: () => T, committed?: (result: T) => void): Promise<T> {
    return this.writer.exclusively(work, committed)
  }

  /** As `Following` does it. @returns whether there was anything to project */
  async project(): Promise<boolean> {
    const { follower } = this.executor
    if (!follower.isBehind) return false
    try {
      await this.alone(
        () => follower.step(),
        done => done(),
      )
    } catch (error) {
      if ((error as { code?: string }).code === 'SQLITE_FULL') throw error
      await this.alone(
        () => follower.step(true),
        done => done(),
      )
    }
    return true
  }

  async projectAll(): Promise<void> {
    while (await this.project());
  }

  /** As `Housekeeping.makeBlocks` does it, to the end. @param meanwhile happens before each block is written */
  async seal(meanwhile: () => Promise<unknown>): Promise<void> {
    for (const write of this.blockMaker.work()) {
      if (!write) continue
      await meanwhile()
      await this.alone(write)
    }
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
      const source = sourceOf(row)
      return eventsOf(row).map(event => JSON.stringify(nameless(event, source)))
    })
  return Object.fromEntries([...all, ['events', events.sort()]])
}

const nameless = (event: { id: string }, source: EventSource) =>
  source === 'events' ? { source, ...event } : { source, ...event, id: '' }

/** Cairn gives random ids to its own events. */
const withoutOwnIds = (text: string) => text.replaceAll(/"event_[0-9A-Za-z]+"/g, '""')

/** Blocks do not overlap, and each holds what its runs give now. */
function expectBlocksRight({ database, catalogue }: Process): void {
  const blocks = database
    .query<{ flow_id: number; from_at: number; to_at: number; columns: Uint8Array }, []>(
      'select flow_id, from_at, to_at, columns from run_blocks order by flow_id, from_at',
    )
    .all()
  const pages = new RunPages(database)
  for (const [i, { flow_id, from_at, to_at, columns }] of blocks.entries()) {
    const before = blocks[i - 1]
    if (before?.flow_id === flow_id) expect(from_at).toBeGreaterThanOrEqual(before.to_at)
    const positions = new FlowPositions(catalogue.flowByRow(orgRow, flow_id)!)
    const { runs } = database
      .query<{ runs: number }, [number, number, number]>(
        'select count(*) as runs from runs where flow_id = ? and started_at >= ? and started_at < ?',
      )
      .get(flow_id, from_at, to_at)!
    const builder = new RunColumnsBuilder(positions, from_at, runs, now - dayMs)
    for (const page of pages.between(orgRow, flow_id, from_at, to_at)) {
      for (const run of page) builder.add(run)
    }
    expect(encodeBlock(builder.finish())).toEqual(columns)
  }
}

/** Far enough apart for several blocks. */
const at = fc.integer({ min: 1, max: 40 }).map(n => n * 5 * minuteMs)
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
        events,
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

type Action =
  | { type: 'group'; commands: StorageCommand[]; fault: string }
  | { type: 'seal'; meanwhile: StorageCommand[] }
  | { type: 'erase'; person: string }
  | { type: 'crash'; commands: StorageCommand[] }
  | { type: 'fail to project'; passes: boolean }
  /** A rebuild by another process, after the named table lost its rows of one flow. */
  | { type: 'rebuild'; flow: number; emptied: string | null }
  | { type: 'project' | 'compare' | 'stop' }

const actionOf = <Type extends string, More>(type: Type, more: fc.Arbitrary<More>) =>
  more.map(fields => ({ type, ...fields }))

const flow = fc.constantFrom(...flowRows)
const table = fc.constantFrom(
  ...['runs', 'run_people', 'completions', 'loose_facts', 'checklist_completions'],
)

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 12, arbitrary: actionOf('group', fc.record({ commands, fault })) },
  { weight: 2, arbitrary: actionOf('seal', fc.record({ meanwhile: commands })) },
  { weight: 1, arbitrary: actionOf('erase', fc.record({ person: fc.constantFrom(...people) })) },
  { weight: 1, arbitrary: actionOf('crash', fc.record({ commands })) },
  { weight: 1, arbitrary: actionOf('fail to project', fc.record({ passes: fc.boolean() })) },
  { weight: 2, arbitrary: actionOf('rebuild', fc.record({ flow, emptied: fc.option(table) })) },
  {
    weight: 7,
    arbitrary: fc
      .constantFrom(...(['project', 'project', 'project', 'compare', 'compare', 'stop'] as const))
      .map(type => ({ type })),
  },
)

/** An erasure leaves something of a name beside another's that a rebuild does not, so only one of them comes. */
const history = fc
  .tuple(fc.array(action, { maxLength: 60, size: 'max' }), fc.boolean())
  .map(([actions, erases]) => actions.filter(({ type }) => type !== (erases ? 'rebuild' : 'erase')))

/** A process, and a reference that never remembers anything. */
class Pair {
  live: Process
  private reference: string = newFile()

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
  }

  /** Executes the commands that were kept, with participants that have never seen anything. */
  async keep(kept: readonly StorageCommand[]): Promise<(CommandResult | Error | null)[]> {
    const results: (CommandResult | Error | null)[] = []
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
      case 'project':
        await live.project()
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
        await live.projectAll()
        this.outside(database => {
          if (action.emptied !== null) {
            database.run(`delete from ${action.emptied} where flow_id = ${action.flow}`)
          }
          rebuild(database)
        })
        return
      case 'erase':
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
        return
      case 'crash':
        live.database.run('begin immediate')
        try {
          for (const command of action.commands) live.executor.execute(command)
          live.executor.settle()
        } catch {
          // Killed all the same.
        }
        this.restart()
        return
      case 'stop':
        await live.projectAll()
        this.restart()
        return
      case 'compare':
        await this.expectSame()
    }
  }

  /** Another process writes. */
  private outside(work: (database: Database) => unknown): void {
    const database = connect(this.live.file)
    work(database)
    database.close()
  }

  /** Once everything is projected, the two databases say the same. */
  async expectSame(): Promise<void> {
    await this.live.projectAll()
    expectBlocksRight(this.live)
    const reference = connect(this.reference)
    expect(contents(this.live.database)).toEqual(contents(reference))
    reference.close()
  }

  close(): void {
    this.live.database.close()
    for (const file of [this.live.file, this.reference]) rmSync(file)
  }
}

test('storage returns and stores the same as storage without a memory, whatever fails or another process writes', async () => {
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
