import type { Me } from '../../../../modules/access/schema.ts'
import { never, useRead } from '../../api/read.ts'
import { may } from '../../api/session.ts'
import type { ListedPeople } from '../../people/people-columns.tsx'

/** The traits that the organisation has listed in its settings. */
export const useTraits = (): readonly string[] =>
  useRead<Me>('/manage/me', never).data?.traits ?? []

/** Values of a listed trait that the people have who were seen last. */
export function useTraitValues(trait: string): string[] {
  const isKnown = useTraits().includes(trait) && may('people:read')
  const { data } = useRead<ListedPeople>(isKnown ? '/manage/people?limit=200' : null, never)
  const values = (data?.people ?? []).flatMap(({ traits }) => traits[trait] ?? [])
  return [...new Set(values)].sort()
}
