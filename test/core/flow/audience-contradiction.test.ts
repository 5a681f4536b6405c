import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isInAudience } from '../../../src/core/flow/audience-match.ts'
import { contradictions } from '../../../src/core/flow/contradiction.ts'
import type { AudienceRule } from '../../../src/core/flow/flow.ts'
import { rounds } from '../../support/rounds.ts'

/** Rules as texts: the operator, the value as JSON, and the attribute unless it is `plan`. */
const rules = (...texts: string[]): AudienceRule[] =>
  texts.map(text => {
    const [, op, value, attribute = 'plan'] = /^(\w+)(?: (\S+))?(?: of (\w+))?$/.exec(text)!
    return { attribute, op: op as AudienceRule['op'], value: JSON.parse(value ?? 'null') }
  })
const found = (...texts: string[]) => contradictions({ match: 'all', rules: rules(...texts) })

describe('two rules that nobody satisfies', () => {
  test.each([
    ['eq "a"', 'eq "b"'],
    ['eq "a"', 'neq "a"'],
    ['eq 1', 'eq "1"'],
    ['eq "a"', 'in ["b","c"]'],
    ['eq "a"', 'nin ["a","b"]'],
    ['in ["a","b"]', 'in ["c"]'],
    ['in ["a","b"]', 'nin ["a","b","c"]'],
    ['eq "abc"', 'contains "x"'],
    ['eq 5', 'gt 5'],
    ['in [1,2]', 'gte 3'],
    ['exists false', 'exists'],
    ['exists false', 'exists true'],
    ['exists false', 'eq "a"'],
    ['exists false', 'contains "a"'],
    ['exists false', 'lt 5'],
    ['gt 10', 'lt 5'],
    ['gt 5', 'lt 5'],
    ['gte 5', 'lt 5'],
    ['gt 5', 'lte 5'],
    ['gt 5', 'lt "7"'],
    ['gt "2026-06-01T00:00:00Z"', 'lt "2026-01-01T00:00:00Z"'],
  ])('%s and %s, in either order', (one, other) => {
    expect(found(one, other)).toEqual([[0, 1]])
    expect(found(other, one)).toEqual([[0, 1]])
  })
})

describe('two rules that somebody can satisfy', () => {
  test.each([
    ['eq "a"', 'eq "a"'],
    ['eq "a"', 'eq "b" of role'],
    ['eq "a"', 'neq "b"'],
    ['eq "a"', 'in ["a","b"]'],
    ['in ["a","b"]', 'nin ["a"]'],
    ['neq "a"', 'nin ["b"]'],
    ['contains "a"', 'contains "b"'],
    ['eq "team"', 'contains "te"'],
    ['exists false', 'neq "a"'],
    ['exists false', 'nin ["a"]'],
    ['exists false', 'exists false'],
    ['exists', 'eq "a"'],
    ['gt 5', 'lt 10'],
    ['gte 5', 'lte 5'],
    ['gt 5', 'gt 10'],
    ['eq "2026-06-01T00:00:00Z"', 'gt "2026-01-01T00:00:00Z"'],
  ])('%s and %s, in either order', (one, other) => {
    expect([found(one, other), found(other, one)]).toEqual([[], []])
  })
})

test('rules do not contradict each other where one of them is enough', () => {
  const twice = rules('eq "a"', 'eq "b"')
  expect(contradictions({ match: 'any', rules: twice })).toEqual([])
})

test('each rule is reported once, with the first rule that it contradicts', () => {
  expect(found('eq "a"', 'exists', 'eq "b"', 'eq "c"')).toEqual([
    [0, 2],
    [0, 3],
  ])
})

test('nobody satisfies two rules that contradict each other', () => {
  const scalar = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab', '1'), fc.integer({ min: 0, max: 4 }))
  const rule = fc.oneof(
    fc.tuple(fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'contains'), scalar),
    fc.tuple(fc.constantFrom('in', 'nin'), fc.array(scalar, { minLength: 1, maxLength: 3 })),
    fc.tuple(fc.constant('exists'), fc.constantFrom(true, false, null)),
  )
  const actual = fc.oneof(scalar, fc.array(scalar), fc.boolean(), fc.constant(null))
  fc.assert(
    fc.property(rule, rule, actual, (one, other, plan) => {
      const of = ([op, value]: unknown[]) => ({ attribute: 'plan', op, value }) as AudienceRule
      const audience = { match: 'all' as const, rules: [of(one), of(other)] }
      fc.pre(contradictions(audience).length > 0)
      expect(isInAudience(audience, { plan })).toBe(false)
    }),
    { numRuns: rounds(1_000) },
  )
})
