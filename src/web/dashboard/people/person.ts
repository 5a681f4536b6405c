import type { PersonHistory } from '../../../modules/people/schema.ts'

export type { PersonHistory }
export type PersonEvent = PersonHistory['events'][number]

/** A person by one of the two ids, which may contain anything, even a slash. */
export interface Person {
  kind: 'user' | 'anonymous'
  id: string
}

/** The person whom the address names; null if it names nobody. */
export function personIn({
  user,
  anonymous,
}: Readonly<Record<string, string | undefined>>): Person | null {
  if (user) return { kind: 'user', id: user }
  return anonymous ? { kind: 'anonymous', id: anonymous } : null
}

const nameFor = { user: 'userId', anonymous: 'anonymousId' } as const

/** The person as bodies of the API name them. */
export const namedIn = ({ kind, id }: Person) => ({ [nameFor[kind]]: id })

/** The path of an API route about the person. */
export const personPath = (
  person: Person,
  path = '',
  more: Readonly<Record<string, string>> = {},
): string => `/manage/people${path}?${new URLSearchParams({ ...namedIn(person), ...more })}`
