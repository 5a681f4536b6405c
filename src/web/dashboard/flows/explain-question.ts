import type { Filters } from '../shell/address.ts'

/** What is asked, as the address has it. */
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

/** The traits in a text; null if it is not a JSON object. An empty text is an empty object. */
export function traitsIn(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** Whether it can be asked: it names a whole address, and traits that are an object. */
export const isWhole = ({ url, traits }: Question): boolean =>
  URL.canParse(url) && traitsIn(traits) !== null

/** The body of the request about one flow. */
export const bodyOf = ({ url, user, anonymous, traits }: Question, flow: string) => ({
  flow,
  url,
  ...(user && { userId: user }),
  ...(anonymous && { anonymousId: anonymous }),
  ...(traits.trim() && { traits: traitsIn(traits) ?? {} }),
})

export const filtersOf = (question: Question): Filters => ({ ...question })
