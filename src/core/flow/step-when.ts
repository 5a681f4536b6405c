import type { Traits } from '../event/traits.ts'
import { ruleMatches } from './audience-match.ts'
import type { AudienceRule, StepDefinition, StepRule } from './flow.ts'

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
