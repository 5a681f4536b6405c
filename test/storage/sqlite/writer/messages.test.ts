import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import type { CommandResult } from '../../../../src/storage/sqlite/writer/commands.ts'
import {
  decodeResult,
  encodeResult,
  framed,
  framesIn,
} from '../../../../src/storage/sqlite/writer/messages.ts'

test('a message holds any texts, one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), texts => {
      expect([...framesIn(texts.map(framed).join(''))]).toEqual(texts)
    }),
  )
})

test('the outcome of a command is decoded as it was encoded, all stored or not', () => {
  const results: CommandResult[] = [
    { duplicates: [], deadLetters: [], erased: [] },
    { duplicates: [0, 2], deadLetters: [], erased: [] },
    { duplicates: [], deadLetters: [1], erased: [] },
    { duplicates: [], deadLetters: [], erased: [1] },
    { completedAt: 5, alreadyCompleted: false },
    null,
  ]
  for (const value of results) {
    expect(decodeResult(encodeResult(7, value))).toEqual({ number: 7, value })
  }
})
