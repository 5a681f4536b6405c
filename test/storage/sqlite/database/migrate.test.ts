import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { eventKinds, eventSources, kindCode } from '../../../../src/core/event/event.ts'
import type { TimeRange } from '../../../../src/core/time/time-range.ts'
import type { StoredEvent } from '../../../../src/storage/shared/in-rows.ts'
import { CompletionTable } from '../../../../src/storage/sqlite/checklists/completion-table.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import {
  migrate,
  SchemaMismatch,
  schemaState,
} from '../../../../src/storage/sqlite/database/migrate.ts'
import { EventIds } from '../../../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import { RowIndex } from '../../../../src/storage/sqlite/engine/hash-index/row-index.ts'
import { Readers } from '../../../../src/storage/sqlite/readers.ts'
import { RunTable, toNobody } from '../../../../src/storage/sqlite/runs/run-table.ts'
import { firstRelease } from '../../../support/first-release.ts'
import { storedEvents } from '../../../support/ledger.ts'

let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-migrate-'))
  database = openForWriting(folder)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const schemaOf = (of: Database) =>
  of.query("select sql from sqlite_schema where name not like 'sqlite_%' order by name").values()

describe('the schema', () => {
  test('is made step by step, and a second migration does nothing', () => {
    migrate(database, 1)
    const { applied, known, differing } = schemaState(database)
    expect([applied, differing]).toEqual([known, []])
    const before = schemaOf(database)
    migrate(database, 2)
    expect(schemaOf(database)).toEqual(before)
  })

  test('of a new database is made as a whole or not at all', () => {
    const stopped = () =>
      migrate(database, 1, ({ id, share }) => {
        if (id === 5 && share === 1) throw new Error('the power is gone')
      })
    expect(stopped).toThrow('the power is gone')
    expect(schemaOf(database)).toEqual([])
    migrate(database, 2)
    expect(schemaState(database).due).toEqual([])
  })

  test('is recognised as up to date without a lock, so a command does not wait for a writer', () => {
    migrate(database, 1)
    const writing = new Database(join(folder, 'cairn.db'))
    writing.run('begin immediate')
    database.run('pragma busy_timeout = 0')
    expect(() => migrate(database, 2)).not.toThrow()
    writing.run('rollback')
    writing.close()
  })

  test('of a newer release is refused, and nothing is changed', () => {
    migrate(database, 1)
    database.run("insert into migrations values (999, 'later', 'x', 1)")
    expect(() => migrate(database, 2)).toThrow(SchemaMismatch)
    expect(() => migrate(database, 2)).toThrow('run the newer release')
  })

  test('with a step that differs from this release is refused', () => {
    migrate(database, 1)
    database.run("update migrations set sha256 = 'other' where id = 1")
    expect(() => migrate(database, 2)).toThrow('step 1 (initial) of the database')
  })

  test('of the first release is brought up to date with its data', () => {
    firstRelease(database)
    database.run(
      "insert into organisations (id, public_id, slug, name, created_at) values (1, 'o', 's', 'n', 1)",
    )
    database.run(
      "insert into events (org_id, id, kind, occurred_at, received_at) values (1, 'a', 0, 1, 1)",
    )
    database.run(
      `insert into runs (org_id, flow_id, run_key, person, started_at, last_at, version, steps)
      values (1, 1, 'rone', 'uu', 1, 1, 1, '[]'), (1, 1, 'rtwo', 'uv', 1, 1, 1, '[]')`,
    )
    database.run("insert into loose_facts values (1, 1, 'uv', 1, 1, 1)")
    database.run(
      `insert into progress values (1, 1, 'uu', 5, null, null), (1, 1, 'uv', 7, 8, 9),
        (1, 1, 'uw', null, 8, 9)`,
    )
    migrate(database, 2)
    expect(database.query('select id from organisations').values()).toEqual([[1]])
    // Ids that an index knew are still known.
    const ids = new EventIds(database)
    const batch = ids.openBatch(1)
    expect([ids.take(batch, 'a', 2), ids.take(batch, 'b', 2)]).toEqual([false, true])

    // Runs and completions that B-trees knew are still found.
    const runs = new RunTable(database, () => ({ versions: [] }), toNobody, new RowIndex(database))
    expect(runs.get(1, 1, 'rone')).toMatchObject({ person: 'uu' })
    expect(runs.get(2, 1, 'rone')).toBeNull()
    expect(database.query('select run_key from runs where has_loose').values()).toEqual([['rtwo']])
    const completions = new CompletionTable(database)
    const first = (person: string) => completions.firstAt(1, 1, person)
    expect([first('uu'), first('uv'), first('uw')]).toEqual([5, 7, null])
    expect(database.query('select * from progress').values()).toEqual([
      [1, 1, 'uv', 8, 9, ''],
      [1, 1, 'uw', 8, 9, ''],
    ])

    const fresh = new Database(':memory:', { strict: true })
    migrate(fresh, 2)
    expect(schemaOf(database)).toEqual(schemaOf(fresh))
  })

  test('of the first release keeps every event in order, and knows their ids', async () => {
    firstRelease(database)
    const events = fc.sample(oldEvent, 600).map((event, i) => ({ ...event, id: `é${i}` }))
    database.transaction(() => {
      for (const [i, event] of events.entries()) insertOldEvent(database, i * 2 + 1, event)
    })()
    migrate(database, 2)
    for (const org of [1, 2]) {
      const ofOrg = events
        .filter(({ orgRow }) => orgRow === org)
        .map(({ orgRow, ...event }) => event)
      expect(storedEvents(database, org)).toEqual(ofOrg)
      const exported: StoredEvent[] = []
      const readers = new Readers(database)
      const always = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER } as TimeRange
      for await (const page of readers.events(org, 5, always)) exported.push(...page)
      expect(exported).toEqual(ofOrg.filter(({ flowRef }) => flowRef === 5))
    }
    const ids = new EventIds(database)
    const isTaken = (org: number, id: string) => !ids.take(ids.openBatch(org), id, 2)
    expect(events.every(({ orgRow, id }) => isTaken(orgRow, id))).toBe(true)
    expect(isTaken(3, events[0]!.id)).toBe(false)
    const { batches } = database.query('select count(*) as batches from event_batches').get() as {
      batches: number
    }
    expect(batches).toBeLessThan(events.length / 2)
  })
})

/** An event as the first release stored it: whole batches were received at one moment. */
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const word = fc.constantFrom('', 'u', 'é漢', '\ufeffx')
const row = fc.constantFrom(5, 6)
const oldEvent: fc.Arbitrary<StoredEvent & { orgRow: number }> = fc.record({
  orgRow: fc.oneof(
    { arbitrary: fc.constant(1), weight: 9 },
    { arbitrary: fc.constant(2), weight: 1 },
  ),
  id: fc.constant(''),
  // The first release knew no questions.
  kind: fc.constantFrom(...eventKinds.filter(kind => kind !== 'question_answered')),
  userId: maybe(word),
  anonymousId: maybe(word),
  flowRef: maybe(row),
  flowVersion: maybe(row),
  stepRef: maybe(row),
  itemRef: maybe(row),
  runId: maybe(word),
  sessionId: maybe(word),
  occurredAt: fc.integer({ min: 0, max: 4e12 }),
  reportedAt: maybe(fc.integer({ min: 0, max: 4e12 })),
  receivedAt: fc.oneof(
    { arbitrary: fc.constant(7), weight: 9 },
    { arbitrary: fc.constant(8), weight: 1 },
  ),
  url: maybe(word),
  name: maybe(word),
  reason: maybe(word),
  properties: maybe(fc.json()),
  traits: fc.constant(null),
  answer: fc.constant(null),
  source: fc.oneof(
    { arbitrary: fc.constant('events' as const), weight: 20 },
    { arbitrary: fc.constantFrom(...eventSources), weight: 1 },
  ),
})

function insertOldEvent(database: Database, seq: number, event: StoredEvent & { orgRow: number }) {
  database
    .query(`insert into events values (${Array(20).fill('?').join(', ')})`)
    .run(
      seq,
      event.orgRow,
      event.id,
      kindCode[event.kind],
      event.userId,
      event.anonymousId,
      event.flowRef,
      event.flowVersion,
      event.stepRef,
      event.itemRef,
      event.runId,
      event.sessionId,
      event.occurredAt,
      event.reportedAt,
      event.receivedAt,
      event.url,
      event.name,
      event.reason,
      event.properties,
      eventSources.indexOf(event.source),
    )
}
