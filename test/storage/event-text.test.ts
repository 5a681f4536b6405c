import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { eventKinds } from '../../src/core/event.ts'
import type { NewEvent } from '../../src/core/ports.ts'
import { framed, framesIn } from '../../src/storage/frames.ts'
import {
  decodeCommand,
  decodeResult,
  encodeCommand,
  encodeResult,
} from '../../src/storage/messages.ts'

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

test('a message holds any commands, one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), commands => {
      expect([...framesIn(commands.map(framed).join(''))]).toEqual(commands)
    }),
  )
})

test('what became of a batch comes back as it was said, all stored or not', () => {
  for (const value of [
    { duplicates: [], deadLetters: [] },
    { duplicates: [0, 2], deadLetters: [] },
    { duplicates: [], deadLetters: [1] },
    { completedAt: 5, alreadyCompleted: false },
    null,
  ]) {
    expect(decodeResult(encodeResult(7, value))).toEqual({ number: 7, value })
  }
})
