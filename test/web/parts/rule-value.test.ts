import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Plain } from '../../../src/core/flow/plain.ts'
import {
  readValue,
  valueForOp,
  writeValue,
} from '../../../src/web/dashboard/authoring/form/rule-value.ts'

/** Values of rules in one line, as people type them. */

test.each<[typed: string, op: string, value: Plain]>([
  ['free', 'eq', 'free'],
  ['10', 'gt', 10],
  ['"10"', 'eq', '10'],
  ['true', 'eq', true],
  ['007', 'eq', '007'],
  ['free, team', 'eq', 'free, team'],
  ['free, team,', 'in', ['free', 'team']],
  ['free, "10", "a, b", 3', 'in', ['free', '10', 'a, b', 3]],
  ['', 'in', []],
  ['"half', 'eq', '"half'],
])('%s for %s', (typed, op, value) => {
  expect(readValue(typed, op)).toEqual(value)
})

test('a written value is read back as it was', () => {
  const one = fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.integer(),
    fc.constantFrom('10', 'a,b', '"', ''),
  )
  fc.assert(
    fc.property(one, value => {
      expect(readValue(writeValue(value), 'eq')).toBe(value)
    }),
  )
  fc.assert(
    fc.property(fc.array(one), values => {
      expect(readValue(writeValue(values), 'in')).toEqual(values)
    }),
  )
})

test('another operator keeps as much of the value as fits', () => {
  expect(valueForOp('free', 'in')).toEqual(['free'])
  expect(valueForOp('', 'in')).toEqual([])
  expect(valueForOp(['free', 'team'], 'eq')).toBe('free')
  expect(valueForOp([], 'eq')).toBeUndefined()
  expect(valueForOp('free', 'exists')).toBeUndefined()
})
