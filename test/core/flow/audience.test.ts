import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ruleHolds } from '../../../src/core/flow/audience.ts'
import { isInAudience } from '../../../src/core/flow/audience-match.ts'
import type { AudienceRule } from '../../../src/core/flow/flow.ts'

const rule = (attribute: string, op: string, value: unknown = null) =>
  ({ attribute, op, value }) as AudienceRule

const holds = (traits: Record<string, unknown>, ...[attribute, op, value]: unknown[]) =>
  ruleHolds(rule(attribute as string, op as string, value), traits).holds

const early = '2026-11-03T10:00:00Z'
const earlyElsewhere = '2026-11-03T11:00:00+01:00'
const late = '2026-11-03T10:30:00Z'

describe('a rule', () => {
  test.each([
    ['pro', 'eq', 'pro', true],
    ['pro', 'eq', 'Pro', false],
    ['pro', 'neq', 'pro', false],
    [10, 'eq', 10, true],
    [10, 'eq', '10', false],
    ['10', 'eq', 10, false],
    [true, 'eq', true, true],
    [true, 'eq', 1, false],
    [0, 'eq', false, false],
    [['pro'], 'eq', 'pro', false],
    [['pro'], 'eq', ['pro'], false],
    [{}, 'neq', 'pro', true],
    [early, 'eq', earlyElsewhere, true],
    [early, 'eq', late, false],
    ['pro', 'in', ['free', 'pro'], true],
    ['pro', 'in', [], false],
    ['pro', 'in', 'pro', true],
    [['pro'], 'in', ['pro'], false],
    ['pro', 'nin', ['free', 'pro'], false],
    [1, 'in', ['1', 1], true],
    [1, 'nin', ['1'], true],
    [10, 'gt', 9, true],
    [10, 'gt', 10, false],
    [10, 'gte', 10, true],
    [10, 'lt', 10, false],
    [10, 'lte', 10, true],
    ['9', 'gt', '10', true],
    ['9', 'gt', 10, false],
    ['9', 'lt', 10, false],
    [10, 'gt', '9', false],
    [true, 'gte', true, false],
    [late, 'gt', earlyElsewhere, true],
    [earlyElsewhere, 'gt', late, false],
    [early, 'gte', earlyElsewhere, true],
    [earlyElsewhere, 'lt', early, false],
    ['2026-11-03', 'lt', late, true],
    ['b', 'gt', 'a', true],
    ['a', 'gt', 'B', true],
    ['ada@harbor.example', 'contains', '@harbor', true],
    ['ada@harbor.example', 'contains', '@Harbor', false],
    [['owner', 'admin'], 'contains', 'admin', true],
    [['owner', 'admin'], 'contains', 'adm', false],
    [[1, '2'], 'contains', 2, false],
    [[1, 2], 'contains', 2, true],
    [12, 'contains', 1, false],
    ['ada', 'contains', ['ada'], false],
    [{ ada: 1 }, 'contains', 'ada', false],
    ['pro', 'exists', true, true],
    ['pro', 'exists', false, false],
    [false, 'exists', true, true],
    [[], 'exists', true, true],
    ['pro', 'eq', null, false],
    ['pro', 'neq', null, true],
    ['pro', 'gt', null, false],
  ])('of %j %s %j: %p', (actual, op, value, expected) => {
    expect(holds({ it: actual }, 'it', op, value)).toBe(expected)
  })

  test.each([
    ['eq', 'pro', false],
    ['neq', 'pro', true],
    ['in', ['pro'], false],
    ['nin', ['pro'], true],
    ['gt', 1, false],
    ['gte', 1, false],
    ['lt', 1, false],
    ['lte', 1, false],
    ['contains', 'p', false],
    ['exists', null, false],
    ['exists', true, false],
    ['exists', false, true],
    ['eq', null, false],
  ])('of an attribute that is absent, or null, %s %j: %p', (op, value, expected) => {
    expect(holds({}, 'it', op, value)).toBe(expected)
    expect(holds({ it: null }, 'it', op, value)).toBe(expected)
    expect(holds({ it: undefined }, 'it', op, value)).toBe(expected)
  })
})

describe('an attribute’s name', () => {
  test.each([
    [{ company: { plan: 'pro' } }, 'company.plan', true],
    [{ 'company.plan': 'pro' }, 'company.plan', true],
    [{ 'company.plan': 'free', company: { plan: 'pro' } }, 'company.plan', false],
    [{ company: { 'billing.plan': 'pro' } }, 'company.billing.plan', true],
    [{ company: { billing: { plan: 'pro' } } }, 'company.billing.plan', true],
    [{ company: 'pro' }, 'company.plan', false],
    [{ company: null }, 'company.plan', false],
    [{ company: ['pro'] }, 'company.0', false],
    [{ Plan: 'pro' }, 'plan', false],
    [{}, '..', false],
  ])('%j, %s: %p', (traits, name, expected) => {
    expect(holds(traits, name, 'eq', 'pro')).toBe(expected)
  })

  test('never reaches what objects inherit', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'company.constructor']) {
      expect(holds({ company: {} }, name, 'exists', true)).toBe(false)
    }
  })
})

describe('an audience', () => {
  const [pro, team] = [rule('plan', 'eq', 'pro'), rule('plan', 'eq', 'team')]

  test.each([
    ['all', [], true],
    ['any', [], true],
    ['all', [pro], true],
    ['all', [pro, team], false],
    ['any', [pro, team], true],
    ['any', [team], false],
  ] as const)('of %s of %j: %p', (match, rules, expected) => {
    expect(isInAudience({ match, rules: [...rules] }, { plan: 'pro' })).toBe(expected)
  })
})

describe('every answer says why', () => {
  test.each([
    ['plan', 'eq', 'pro', 'plan is "free", not "pro"'],
    ['plan', 'eq', 'free', 'plan is "free"'],
    ['plan', 'neq', 'free', 'plan is "free", and must not be'],
    ['plan', 'in', ['pro', 'team'], 'plan is "free", none of ["pro", "team"]'],
    ['plan', 'nin', ['free'], 'plan is "free", one of ["free"], and must not be'],
    ['seats', 'gte', 10, 'seats is 3, not at least 10'],
    ['seats', 'lt', 10, 'seats is 3, less than 10'],
    ['seats', 'gt', '2', 'seats is 3, which cannot be compared with "2"'],
    ['seats', 'eq', '3', 'seats is 3, not "3" (a number and a text)'],
    ['roles', 'contains', 'owner', 'roles is ["admin"], which does not contain "owner"'],
    [
      'roles',
      'in',
      ['admin'],
      'roles is ["admin"], none of ["admin"] (of a list, ask what it contains)',
    ],
    ['company', 'exists', false, 'company is an object, and must not be there'],
    ['email', 'exists', true, 'there is no email'],
    ['email', 'exists', false, 'there is no email (as it must be)'],
    ['email', 'neq', 'a', 'there is no email'],
    ['role', 'in', ['owner'], 'there is no role (in ["owner"] is required)'],
    ['Plan', 'eq', 'free', 'there is no Plan (eq "free" is required; there is plan: case counts)'],
    ['many', 'contains', 9, 'many is [1, 2, 3, 4, 5, … (6 in all)], which does not contain 9'],
  ])('%s %s %j: %s', (attribute, op, value, why) => {
    const traits = {
      plan: 'free',
      seats: 3,
      roles: ['admin'],
      company: {},
      many: [1, 2, 3, 4, 5, 6],
    }
    expect(ruleHolds(rule(attribute, op, value), traits).why).toBe(why)
  })

  test('in bounded length, however long the traits of the person are', () => {
    const { why } = ruleHolds(rule('a'.repeat(100), 'in', Array(100).fill('x'.repeat(1_000))), {
      ['a'.repeat(100)]: '\u001b[2J'.repeat(10_000),
    })
    expect(why.length).toBeLessThan(600)
    expect(why).not.toContain('\u001b')
  })
})

describe('whatever the values', () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constantFrom(early, earlyElsewhere, late),
  )
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constant(null))
  const traits = fc.record({ it: fc.oneof(fc.jsonValue(), scalar) }, { requiredKeys: [] })

  test('neq is the opposite of eq, and nin of in', () => {
    fc.assert(
      fc.property(traits, value, (person, wanted) => {
        expect(holds(person, 'it', 'neq', wanted)).toBe(!holds(person, 'it', 'eq', wanted))
        expect(holds(person, 'it', 'nin', wanted)).toBe(!holds(person, 'it', 'in', wanted))
      }),
    )
  })

  test('for values with an order, gte is gt or eq, and lte is lt or eq', () => {
    const ordered = fc.oneof(
      fc.tuple(fc.string(), fc.string()),
      fc.tuple(fc.integer(), fc.integer()),
      fc.tuple(fc.constantFrom(early, late), fc.constantFrom(earlyElsewhere, early)),
    )
    fc.assert(
      fc.property(ordered, ([actual, wanted]) => {
        const [gt, gte, lt, lte, eq] = ['gt', 'gte', 'lt', 'lte', 'eq'].map(op =>
          holds({ it: actual }, 'it', op, wanted),
        )
        expect([gte, lte]).toEqual([gt || eq, lt || eq])
        expect([gt, lt, eq].filter(Boolean)).toHaveLength(1)
      }),
    )
  })
})
