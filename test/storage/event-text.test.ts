import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { eventKinds } from '../../src/core/event.ts'
import type { NewEvent } from '../../src/core/ports.ts'
import { decodeCommand, encodeCommand } from '../../src/storage/messages.ts'

/** Any text that an event may have: all of Unicode but NUL. */
const text = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map(value => value.toWellFormed().replaceAll('\0', ''))
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const row = maybe(fc.integer({ min: 1, max: 2 ** 40 }))
const time = fc.integer({ min: -8.64e15, max: 8.64e15 })

const event: fc.Arbitrary<NewEvent> = fc.record({
  id: text.map(value => `i${value}`),
  kind: fc.constantFrom(...eventKinds),
  userId: maybe(text),
  anonymousId: maybe(text),
  flowRow: row,
  flowVersion: row,
  stepRow: row,
  itemRow: row,
  runId: maybe(text),
  sessionId: maybe(text),
  occurredAt: time,
  reportedAt: maybe(time),
  url: maybe(text),
  name: maybe(text),
  reason: maybe(text),
  properties: maybe(fc.json()),
})

test('a batch comes out on the other side as it went in, empty texts and line breaks too', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 5 }),
      fc.nat(),
      maybe(fc.integer()),
      (events, number, skewMs) => {
        const refusals = { invalid: 2 }
        const command = {
          type: 'append',
          orgRow: 1,
          receivedAt: 5,
          refusals,
          skewMs,
          events,
        } as const
        expect(decodeCommand(encodeCommand(number, command))).toEqual({ number, value: command })
      },
    ),
  )
})
