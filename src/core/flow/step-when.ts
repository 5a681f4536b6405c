import { ruleMatches, type Traits } from './audience-match.ts'
import type { AudienceRule, StepDefinition, StepRule } from './flow.ts'

/** What a step's rules look at. */
export interface Known {
  traits: Traits
  /** What was answered in this run, by the step's key. */
  answers: Traits
  hasTracked(event: string): boolean
}

/** Whether a step is on the way of whoever this is known of. One without rules always is. */
export function isOnWay({ when }: Pick<StepDefinition, 'when'>, known: Known): boolean {
  if (!when) return true
  const holds = (rule: StepRule) => stepRuleHolds(rule, known)
  return when.match === 'all' ? when.rules.every(holds) : when.rules.some(holds)
}

/** Attributes and answers are compared as those of audiences; an event was tracked, or was not. */
function stepRuleHolds(rule: StepRule, { traits, answers, hasTracked }: Known): boolean {
  const { event, answer } = rule
  if (event !== undefined) return hasTracked(event) === (rule.value !== false)
  const compared = comparedBy(rule)
  return compared !== null && ruleMatches(compared, answer === undefined ? traits : answers)
}

/** The rule on an attribute or answer as one of an audience; null where it is none. */
export function comparedBy({ attribute, answer, op, value }: StepRule): AudienceRule | null {
  const name = answer ?? attribute
  return name === undefined || op === undefined ? null : { attribute: name, op, value }
}
