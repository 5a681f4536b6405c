import type { Filters } from '../shell/address.ts'

/** The parameters of the page in the address. */
export interface Question {
  url: string
  flow: string
  user: string
  anonymous: string
  traits: string
}

export const questionIn = (filters: Readonly<Record<string, string | undefined>>): Question => ({
  url: filters.url ?? '',
  flow: filters.flow ?? '',
  user: filters.user ?? '',
  anonymous: filters.anonymous ?? '',
  traits: filters.traits ?? '',
})

/** The traits in the address, which has them as JSON. None if it was changed by hand and cannot be read. */
export function traitsIn({ traits }: Question): Record<string, unknown> {
  try {
    return { ...(JSON.parse(traits) as Record<string, unknown>) }
  } catch {
    return {}
  }
}

export const withTraits = (traits: Record<string, unknown>): Pick<Question, 'traits'> => ({
  traits: Object.keys(traits).length === 0 ? '' : JSON.stringify(traits),
})

/** Whether it names a whole address. */
export const isWhole = ({ url }: Question): boolean => URL.canParse(url)

/** The body of the request about one flow. */
export const bodyOf = (question: Question, flow: string) => ({
  flow,
  url: question.url,
  ...(question.user && { userId: question.user }),
  ...(question.anonymous && { anonymousId: question.anonymous }),
  ...(question.traits && { traits: traitsIn(question) }),
})

export const filtersOf = (question: Question): Filters => ({ ...question })
