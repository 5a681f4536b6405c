import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { eventKinds, eventSources } from '../../../../src/core/event/event.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import {
  decodeEvents,
  EventBatches,
  encodeEvents,
} from '../../../../src/storage/sqlite/ledger/event-batches.ts'
import { storedEvents } from '../../../support/ledger.ts'

/** Any text that an event may have: all of Unicode but NUL. */
const anyText = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map(value => value.toWellFormed().replaceAll('\0', ''))

/** Often the same text again, as in the events of one page. */
const text = fc.oneof(anyText, fc.constantFrom('', 'u', '\ufeff', 'é', '漢'))
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const row = maybe(fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 2 ** 40 })))
const thousandsOfYears = 3e14
const time = fc.integer({ min: -thousandsOfYears, max: thousandsOfYears })

const event: fc.Arbitrary<NewEvent> = fc
  .record({
    id: text,
    kind: fc.constantFrom(...eventKinds),
    userId: maybe(text),
    anonymousId: maybe(text),
    flowRef: row,
    flowVersion: row,
    stepRef: row,
    itemRef: row,
    runId: maybe(text),
    sessionId: maybe(text),
    occurredAt: time,
    reportedAt: maybe(fc.integer({ min: -8.64e15, max: 8.64e15 })),
    url: maybe(text),
    name: maybe(text),
    reason: maybe(text),
    properties: maybe(fc.json()),
    traits: maybe(fc.constantFrom('{"plan":"pro"}', '{"plan":"\\u0000é"}')),
    answer: maybe(fc.constantFrom('9', '"a"', '""')),
  })
  // Traits belong to a start, and an answer belongs to a question.
  .map(event => ({
    ...event,
    traits: event.kind === 'question_answered' ? null : event.traits,
    answer: event.kind === 'question_answered' ? event.answer : null,
  }))

const events = fc.array(event, { maxLength: 8 })
const source = fc.constantFrom(...eventSources)

test('a batch is decoded as it was encoded, with empty texts and line breaks', () => {
  fc.assert(
    fc.property(events, source, (sent, source) => {
      const receivedAts = sent.map((_, place) => 5 + (place % 3))
      expect(decodeEvents(encodeEvents(sent, receivedAts), sent.length, source)).toEqual(
        sent.map((one, place) => ({ ...one, receivedAt: receivedAts[place]!, source })),
      )
    }),
  )
})

test('the ledger keeps batches to the character, even if they share a row', () => {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  const batches = new EventBatches(database)
  const batch = fc.record({ receivedAt: fc.integer({ min: 5, max: 9 }), sent: events })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 4 }), source, (all, source) => {
      database.run('delete from event_batches')
      for (const { receivedAt, sent } of all) {
        const row = batches.withRoom(1, source, sent.length, () => 1)
        row.add(sent, receivedAt, [])
      }
      batches.flush()
      expect(storedEvents(database)).toEqual(
        all.flatMap(({ receivedAt, sent }) => sent.map(one => ({ ...one, receivedAt, source }))),
      )
    }),
  )
})
