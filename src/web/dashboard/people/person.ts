import type { PersonHistory } from '../../../modules/people/model.ts'

export type { PersonHistory }
export type PersonEvent = PersonHistory['events'][number]

/** Somebody by one of the two ids, which may hold anything, a slash too. */
export interface Person {
  kind: 'user' | 'anonymous'
  id: string
}

/** Whom the address names; null where it names nobody. */
export function personIn({
  user,
  anonymous,
}: Readonly<Record<string, string | undefined>>): Person | null {
  if (user) return { kind: 'user', id: user }
  return anonymous ? { kind: 'anonymous', id: anonymous } : null
}

const nameFor = { user: 'userId', anonymous: 'anonymousId' } as const

/** As bodies of the API name them. */
export const namedIn = ({ kind, id }: Person) => ({ [nameFor[kind]]: id })

/** A route of the API about them. */
export const personPath = (
  person: Person,
  path = '',
  more: Readonly<Record<string, string>> = {},
): string => `/manage/people${path}?${new URLSearchParams({ ...namedIn(person), ...more })}`
