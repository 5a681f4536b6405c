import { attributeOf, type Traits } from '../event/traits.ts'
import { parseTime } from '../time/clock.ts'
import type { AudienceRule, StepDefinition, StepRule, Targeting } from './flow.ts'

/** Who belongs to an audience, without the texts that explain it. Pages load this and call it very often. */

/** Whether a person belongs to an audience; one without rules is everyone. */
export function isInAudience({ match, rules }: Targeting['audience'], traits: Traits): boolean {
  const isIn = (rule: AudienceRule) => ruleMatches(rule, traits)
  return match === 'all' || rules.length === 0 ? rules.every(isIn) : rules.some(isIn)
}

/** Whether a rule holds for a person. `ruleHolds` says the same in words. */
export function ruleMatches({ attribute, op, value }: AudienceRule, traits: Traits): boolean {
  const actual = attributeOf(traits, attribute) ?? null
  if (actual === null) return op === 'neq' || op === 'nin' || (op === 'exists' && value === false)
  switch (op) {
    case 'exists':
      return value !== false
    case 'eq':
    case 'neq':
      return same(actual, value) === (op === 'eq')
    case 'in':
    case 'nin':
      return isOneOf(actual, value) === (op === 'in')
    case 'contains':
      return contains(actual, value)
    default: {
      const order = compared(actual, value)
      // A newer Cairn may know more.
      return order !== null && orders[op]?.(order) === true
    }
  }
}

const orders = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
}

/** Less than 0, 0 or more, as for sorting; null for values without an order. */
export function compared(a: unknown, b: unknown): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== 'string' || typeof b !== 'string') return null
  const [timeA, timeB] = [parseTime(a), parseTime(b)]
  if (timeA !== null && timeB !== null) return timeA - timeB
  return a < b ? -1 : Number(a > b)
}

function same(a: unknown, b: unknown): boolean {
  return typeof a === 'boolean' ? a === b : compared(a, b) === 0
}

const isOneOf = (value: unknown, values: unknown): boolean =>
  (Array.isArray(values) ? values : [values]).some(one => same(value, one))

function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some(element => same(element, part))
  return typeof whole === 'string' && typeof part === 'string' && whole.includes(part)
}

/** What a step's rules are checked against. */
export interface Known {
  traits: Traits
  /** The answers given in this run, by step key. */
  answers: Traits
  hasTracked(event: string): boolean
}

/** Whether a step is shown to the person this is known about. A step without rules always is. */
export function isOnWay({ when }: Pick<StepDefinition, 'when'>, known: Known): boolean {
  if (!when) return true
  const holds = (rule: StepRule) => stepRuleHolds(rule, known)
  return when.match === 'all' ? when.rules.every(holds) : when.rules.some(holds)
}

/** Attributes and answers are compared as in audiences; an event was tracked or not. */
function stepRuleHolds(rule: StepRule, { traits, answers, hasTracked }: Known): boolean {
  const { event, answer } = rule
  if (event !== undefined) return hasTracked(event) === (rule.value !== false)
  const compared = comparedBy(rule)
  return compared !== null && ruleMatches(compared, answer === undefined ? traits : answers)
}

/** A rule on an attribute or answer, as an audience rule; null if it is neither. */
export function comparedBy({ attribute, answer, op, value }: StepRule): AudienceRule | null {
  const name = answer ?? attribute
  return name === undefined || op === undefined ? null : { attribute: name, op, value }
}
