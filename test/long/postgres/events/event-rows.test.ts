import { afterAll, beforeAll, expect } from 'bun:test'
import fc from 'fast-check'
import { eventKinds, eventSources } from '../../../../src/core/event/event.ts'
import { asRows, Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  type EventRow,
  eventColumns,
  eventOf,
  insertEvents,
  rowOf,
  unnumbered,
} from '../../../../src/storage/postgres/events/event-rows.ts'
import { mostByStatement } from '../../../../src/storage/postgres/rows/lines.ts'
import type { StoredEvent } from '../../../../src/storage/shared/in-rows.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

/** Texts as events have them: well-formed, without NUL. Some look like JSON that PostgreSQL might misread. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter(drawn => !drawn.includes('\0')),
  fc.constantFrom('', '\ufeff', '\\', '\\u0000', '"\\ud800"', "'", '\u{1f600}', '{"a":1.0}'),
)
const maybe = <T>(drawn: fc.Arbitrary<T>) => fc.option(drawn, { nil: null })
const moment = fc.integer({ min: -3e14, max: 3e14 })
const row = fc.integer({ min: 1, max: 2 ** 53 - 1 })

const event: fc.Arbitrary<StoredEvent> = fc.record({
  id: text,
  kind: fc.constantFrom(...eventKinds),
  source: fc.constantFrom(...eventSources),
  userId: maybe(text),
  anonymousId: maybe(text),
  flowRef: maybe(row),
  flowVersion: maybe(row),
  stepRef: maybe(row),
  itemRef: maybe(row),
  runId: maybe(text),
  sessionId: maybe(text),
  occurredAt: moment,
  reportedAt: maybe(moment),
  receivedAt: fc.integer({ min: 0, max: 1e14 }),
  url: maybe(text),
  name: maybe(text),
  reason: maybe(text),
  properties: maybe(text),
  traits: maybe(text),
  answer: maybe(text),
})

describe('an event', () => {
  let server: PostgresServer
  let postgres: Postgres
  beforeAll(async () => {
    server = await PostgresServer.open()
    postgres = Postgres.open(await server.newDatabase(), { most: 1 })
  })
  afterAll(async () => {
    await postgres.close()
    await server.close()
  })

  test.each([
    { how: 'a statement', times: 1 },
    { how: 'copy', times: mostByStatement + 1 },
  ])('is the same when its row is read again, stored by $how', async ({ times }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 5 }), async events => {
        const stored = Array.from({ length: times }, (_, i) => ({
          ...unnumbered(1, events),
          firstSeq: 1 + i * events.length,
        }))
        await insertEvents(postgres, stored)
        const read = await postgres.all<EventRow>(
          `select ${eventColumns} from events where org_id = 1 order by seq`,
        )
        await postgres.run('delete from events where org_id = 1')
        expect(read.map(({ seq }) => seq)).toEqual(read.map((_, place) => place + 1))
        expect(read.map(eventOf)).toEqual(stored.flatMap(({ events }) => events))
      }),
      { numRuns: Math.ceil(200 / times) },
    )
  })

  test('is the same when its row was written as JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 20 }), async events => {
        await postgres.run(
          'insert into events select * from json_populate_recordset(null::events, $1::text::json)',
          asRows(events.map((event, place) => rowOf(1, place + 1, event))),
        )
        const read = await postgres.all<EventRow>(
          `select ${eventColumns} from events where org_id = 1 order by seq`,
        )
        await postgres.run('delete from events where org_id = 1')
        expect(read.map(({ seq }) => seq)).toEqual(events.map((_, place) => place + 1))
        expect(read.map(eventOf)).toEqual(events)
      }),
    )
  })
})
