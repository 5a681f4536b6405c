import type { PeopleFilter } from '../../../core/person/filter.ts'
import type { Written } from '../flows/definition.ts'
import type { Filters } from '../shell/address.ts'
import { answerText } from './answer-options.ts'

export type { PeopleFilter }
export type TraitRule = NonNullable<PeopleFilter['rules']>[number]
export type FlowCondition = NonNullable<PeopleFilter['flows']>[number]

/** The filter in an address; an empty one if the address has none that can be read. */
export function filterIn(text: string | undefined): PeopleFilter {
  try {
    const read: unknown = JSON.parse(text ?? '{}')
    return typeof read === 'object' && read !== null ? (read as PeopleFilter) : {}
  } catch {
    return {}
  }
}

export const isEmpty = ({ rules = [], flows = [] }: PeopleFilter): boolean =>
  rules.length + flows.length === 0

/** What the address of the list has for a filter, from its first page. Other pages link to lists with it. */
export const listOf = (filter: PeopleFilter): Filters => ({
  filter: isEmpty(filter) ? null : JSON.stringify(filter),
  after: null,
})

/** The comparisons that the dashboard offers; others can come with a link. */
export const comparisons = {
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  gt: 'is more than',
  lt: 'is less than',
  exists: 'was reported',
} as const

export const outcomes = {
  completed: 'completed',
  dismissed: 'dismissed',
  in_progress: 'unfinished',
  not_met: 'not seen',
} as const

const words: Partial<Record<TraitRule['op'], string>> = {
  ...comparisons,
  in: 'is one of',
  nin: 'is none of',
  gte: 'is at least',
  lte: 'is at most',
}

export function ruleText({ attribute, op, value }: TraitRule): string {
  if (op === 'exists') return `${attribute} was ${value === false ? 'not ' : ''}reported`
  return `${attribute} ${words[op]} ${Array.isArray(value) ? value.join(', ') : value}`
}

/** A condition on a flow in words. @param steps of the flow, as far as they are known */
export function conditionText(
  { outcome, leftAt, answer }: FlowCondition,
  name: string,
  steps: Written['steps'],
): string {
  const parts = [
    outcome && outcomes[outcome],
    leftAt && `left at “${steps.find(({ key }) => key === leftAt)?.title || leftAt}”`,
    answer && answerText(answer, steps),
  ].filter(Boolean)
  return `${name}: ${parts.join(', ') || 'seen'}`
}
