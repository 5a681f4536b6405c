import { afterAll, beforeAll, expect } from 'bun:test'
import type { TimeRange } from '../../../../src/core/time/time-range.ts'
import { analyticsOver } from '../../../../src/storage/postgres/analytics/analytics-reader.ts'
import {
  asRows,
  isPassingFault,
  Postgres,
} from '../../../../src/storage/postgres/database/connection.ts'
import { readingPools } from '../../../../src/storage/postgres/database/pools.ts'
import { rowOf } from '../../../../src/storage/postgres/events/event-rows.ts'
import { makePartitions } from '../../../../src/storage/postgres/retention/partitions.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { runsOf } from '../../../support/run-columns.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

/** More runs than two pages of any reader hold. */
const lives = 9_400

const minute = 60_000

let server: PostgresServer
let url: string
let postgres: Postgres
let world: World
let ours: StoredWorld
let theirs: StoredWorld

const flow = {
  key: 'tour',
  versions: [1, 2].map(version => ({
    version,
    publishedAt: 0,
    steps: ['a', 'b', 'asked'].slice(0, version + 1).map(key => ({ key })),
    items: [{ key: 'item', completeOn: null }],
  })),
}

/** What people did: their runs, and for some an answer, a tick, or that they were held out. */
function eventsOf(stored: StoredWorld, from: number): NewEvent[] {
  return Array.from({ length: lives }, (_, life): NewEvent[] => {
    // Several runs start at the same moment, and people come again.
    const start = from + Math.floor(((life * 7_919) % lives) / 3) * minute
    const userId = life % 5 === 0 ? undefined : `u${life % 1_000}`
    const anonymousId = life % 5 === 1 ? undefined : `a${life % 700}`
    const who = { ...{ userId, anonymousId, flowKey: 'tour', flowVersion: 1 + (life % 2) } }
    const event = (kind: NewEvent['kind'], at: number, more: object = {}) => {
      const runId = `run ${life}`
      const of = { ...who, runId, kind, at: start + at, ...more }
      return newEventOf(stored, of, `${kind} ${life} ${at}`)
    }
    const traits = life % 4 === 0 ? { plan: `${life % 3}` } : undefined
    const events = [event('flow_started', 0, { traits })]
    if ((life % 1_000) % 9 === 0) return [event('flow_held_out', 0, { runId: undefined })]
    if (life % 3 > 0) events.push(event('step_viewed', 100, { stepKey: 'a' }))
    if (life % 3 > 1) events.push(event('step_viewed', 90 * minute, { stepKey: 'b' }))
    if (life % 7 === 0) events.push(event('flow_completed', 8_000))
    if (life % 11 === 0) events.push(event('flow_dismissed', 9_000))
    if (life % 6 === 0) events.push(event('item_completed', 10_000, { itemKey: 'item' }))
    if (life % 2 === 1) {
      const asked = event('question_answered', 5_000, { stepKey: 'asked', answer: '""' })
      events.push({ ...asked, properties: JSON.stringify({ answer: `It is ${life}` }) })
    }
    return events
  }).flat()
}

/** Copies the rows of the SQLite database. */
async function copyRows(): Promise<void> {
  for (const table of ['runs', 'progress', 'held_out', 'goals']) {
    await postgres.run(
      `insert into ${table} select * from json_populate_recordset(null::${table}, $1::text::json)`,
      asRows(world.database.query<object, []>(`select * from ${table}`).all()),
    )
  }
  for (const { orgRow } of [ours, theirs]) {
    const events = storedEvents(world.database, orgRow)
    const rows = events.map((event, place) => rowOf(orgRow, place + 1, event))
    await postgres.run(
      'insert into events select * from json_populate_recordset(null::events, $1::text::json)',
      asRows(rows),
    )
    await postgres.run(
      'insert into ledgers (org_id, seq) values ($1, $2)',
      ...[orgRow, events.length],
    )
  }
}

const always = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER } as TimeRange

let from: number
/** From within the first hours to within the last. */
let range: TimeRange

async function listOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) {
    expect(page.length).toBeGreaterThan(0)
    all.push(...page)
  }
  return all
}

describe('what is read from PostgreSQL', () => {
  beforeAll(async () => {
    world = new World()
    ours = storeFlows(world, [flow, { ...flow, key: 'other' }])
    theirs = storeFlows(world, [flow])
    from = world.clock.now() - 3 * 24 * 60 * minute
    range = {
      ...{ startMs: from + 200 * minute, endMs: from + 2_800 * minute + 1 },
    } as TimeRange
    for (const stored of [ours, theirs]) {
      const events = eventsOf(stored, from)
      for (let at = 0; at < events.length; at += 1_000) {
        await world.byRow.ledger.append({
          orgRef: stored.orgRow,
          receivedAt: world.clock.now(),
          events: events.slice(at, at + 1_000),
          refusals: {},
          skewMs: null,
        })
      }
    }
    await world.sealAll()
    world.database.run(
      `insert into goals select org_id, flow_id, person, 'won', max(started_at) + 60000 * (length(run_key) - 6)
      from runs where length(person) < 5 group by org_id, flow_id, person`,
    )
    server = await PostgresServer.open()
    url = await server.newDatabase()
    postgres = Postgres.open(url, { most: 2, plansAnew: true })
    await makePartitions(postgres, world.clock.now())
    // PostgreSQL has analysed the empty default table, and not yet the day's own table.
    await postgres.script('analyze events_default')
    await copyRows()
  })
  afterAll(async () => {
    await world.close()
    await postgres?.close()
    await server?.close()
  })

  const both = () =>
    [world.byRow.analytics, analyticsOver(postgres, world.reading, () => {})] as const
  const flowRow = () => ours.flowRows.get('tour')!
  const flowRuns = () => ({
    orgRef: ours.orgRow,
    flowRef: flowRow(),
    versions: flow.versions.map(({ version, steps }) => ({
      version,
      stepRefs: steps.map(({ key }) => ours.stepRows.get(`tour/${key}`)!),
    })),
  })

  for (const name of ['runs', 'answers', 'events'] as const) {
    test(`${name} of a range are those that SQLite has, page after page`, async () => {
      const [lite, full] = await Promise.all(
        both().map(reader => listOf<object>(reader[name](ours.orgRow, flowRow(), range))),
      )
      expect(full!.length).toBeGreaterThan(1_100)
      expect(full).toEqual(lite!)
    })
  }

  test('pages read hardly more rows than they return, even from tables without statistics', async () => {
    const own = Postgres.open(url, { ...readingPools.analytics, most: 1 })
    const rowsRead = async () => {
      await own.all('select pg_stat_force_next_flush()')
      const row = await own.get<{ count: number }>(
        `select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_user_tables
        where relname = 'runs' or relname like 'events%'`,
      )
      return Number(row!.count)
    }
    const before = await rowsRead()
    const reader = analyticsOver(own, world.reading, () => {})
    let handedOut = 0
    for (const name of ['runs', 'events'] as const) {
      handedOut += (await listOf<object>(reader[name](ours.orgRow, flowRow(), always))).length
    }
    const read = (await rowsRead()) - before
    await own.close()
    expect(handedOut).toBeGreaterThan(8 * 2_048)
    expect(read).toBeLessThan(1.1 * handedOut)
  })

  test('columns say the same about each run as those of SQLite', async () => {
    const late = { step: ours.stepRows.get('tour/b')!, afterMs: 60 * minute }
    for (const [within, beside] of [
      [always, undefined],
      [range, undefined],
      [range, { late, hasWays: true }],
    ] as const) {
      const [lite, full] = await Promise.all(
        both().map(async reader => {
          const runs: ReturnType<typeof runsOf> = []
          for await (const columns of reader.columns(flowRuns(), within, beside)) {
            // Segments list fewer runs in `lately`.
            runs.push(...runsOf(columns).map(run => ({ ...run, lately: undefined })))
          }
          return runs
        }),
      )
      expect(full!.length).toBeGreaterThan(within === always ? 8_192 : 1_100)
      expect(full).toEqual(lite!)
    }
  })

  test('columns are as of one moment, and a read that is given up leaves no transaction open', async () => {
    const read = () => analyticsOver(postgres, world.reading, () => {}).columns(flowRuns(), always)
    const count = async () => {
      let count = 0
      for await (const columns of read()) count += columns.count
      return count
    }
    const before = await count()
    let during = 0
    for await (const columns of read()) {
      if (during === 0) {
        await postgres.run(
          'update runs set started_at = started_at + 1 where org_id = $1',
          ours.orgRow,
        )
      }
      during += columns.count
    }
    expect(during).toBe(before)
    await postgres.run('update runs set started_at = started_at - 1 where org_id = $1', ours.orgRow)
    for (let i = 0; i < 5; i++) for await (const _ of read()) break
    expect(await count()).toBe(before)
    const open = await server.ask<{ state: string }>(
      "select state from pg_stat_activity where state like 'idle in transaction%'",
    )
    expect(open).toEqual([])
  })

  test('reading columns fails when the connection is lost, and can be repeated', async () => {
    const read = analyticsOver(postgres, world.reading, () => {})
    const reading = async (onFirst: () => Promise<unknown>) => {
      let count = 0
      for await (const columns of read.columns(flowRuns(), always)) {
        if (count === 0) await onFirst()
        count += columns.count
      }
      return count
    }
    const whole = await reading(async () => {})
    const cut = reading(() =>
      server.ask(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where xact_start is not null and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      ),
    )
    const fault: unknown = await cut.then(
      () => null,
      error => error,
    )
    expect(fault && isPassingFault(fault)).toBe(true)
    expect(await reading(async () => {})).toBe(whole)
  })
})
