import { type Static, Type } from '@sinclair/typebox'
import { ruleMatches } from '../flow/audience-match.ts'
import { AudienceRule } from '../flow/flow.ts'
import { closed, key, oneOf, text } from '../flow/values.ts'
import type { ReportedTrait } from './seen.ts'

const Answer = closed(
  {
    step: key('Key of the step with the question.'),
    from: Type.Optional(Type.Number({ description: 'Lowest rating.', examples: [0] })),
    to: Type.Optional(Type.Number({ description: 'Highest rating.', examples: [6] })),
    choice: Type.Optional(text(1, 64, { description: 'Key of a choice.' })),
  },
  {
    description:
      'An answer to a question of the flow: a rating in a range, a choice, or without these any answer.',
  },
)
export type AnswerCondition = Static<typeof Answer>

const FlowCondition = closed({
  flow: key('Key of the flow.'),
  outcome: Type.Optional(
    oneOf(
      {
        completed: 'has completed the flow',
        dismissed: 'has dismissed the flow and never completed it',
        in_progress: 'has started the flow, and neither completed nor dismissed it',
        not_met: 'has never started the flow',
      },
      { description: "The person's best outcome of all their runs. Default: any, once started." },
    ),
  ),
  leftAt: Type.Optional(
    key('Key of a step: a run that was not completed got no further than this step.'),
  ),
  answer: Type.Optional(Answer),
})
export type FlowCondition = Static<typeof FlowCondition>

/** Which people a list has. Without any condition, everybody. */
export const PeopleFilter = closed(
  {
    match: Type.Optional(
      oneOf(
        { all: 'every rule must match', any: 'one matching rule is enough' },
        { description: 'Whether all rules on traits must match, or any of them. Default: all.' },
      ),
    ),
    rules: Type.Optional(
      Type.Array(AudienceRule, {
        maxItems: 20,
        description: 'Conditions on listed traits as last reported, as in the audience of a flow.',
      }),
    ),
    flows: Type.Optional(
      Type.Array(FlowCondition, {
        maxItems: 5,
        description: 'Conditions on flows that the person has seen. All must hold.',
      }),
    ),
  },
  {
    title: 'PeopleFilter',
    examples: [
      {
        rules: [{ attribute: 'plan', op: 'eq', value: 'pro' }],
        flows: [{ flow: 'welcome', outcome: 'completed' }],
      },
    ],
  },
)
export type PeopleFilter = Static<typeof PeopleFilter>

type Rules = Pick<PeopleFilter, 'match' | 'rules'>
type Reported = ReadonlyMap<string, ReportedTrait>

/** Traits are stored as texts: what a rule compares with a number or true was reported as such. */
function asComparedWith(text: string, value: AudienceRule['value']): unknown {
  const sample = Array.isArray(value) ? value[0] : value
  if (typeof sample === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  if (typeof sample !== 'number' || text.trim() === '') return text
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}

/** A reported trait as a page would send it to be compared by a rule; undefined if it was never reported. */
export function traitFor({ attribute, value }: AudienceRule, traits: Reported): unknown {
  const reported = traits.get(attribute)
  return reported && asComparedWith(reported.value, value)
}

const ruleHolds = (rule: AudienceRule, traits: Reported): boolean =>
  ruleMatches(rule, { [rule.attribute]: traitFor(rule, traits) })

/** Whether rules hold for a person, who does not have what they never reported. */
export function rulesHold({ match = 'all', rules = [] }: Rules, traits: Reported): boolean {
  const holds = (rule: AudienceRule) => ruleHolds(rule, traits)
  return match === 'all' || rules.length === 0 ? rules.every(holds) : rules.some(holds)
}

/** The same, but null if it depends on a trait that the person never reported. */
export function rulesVerdict({ match = 'all', rules = [] }: Rules, traits: Reported) {
  const decisive = match === 'any' && rules.length > 0
  let isUnknown = false
  for (const rule of rules) {
    if (!traits.has(rule.attribute)) isUnknown = true
    else if (ruleHolds(rule, traits) === decisive) return decisive
  }
  return isUnknown ? null : !decisive
}
