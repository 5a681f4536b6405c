import type { Me } from '../../../modules/access/schema.ts'
import { useRead } from '../api/read.ts'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import { isSaved } from './question.ts'
import { traitName } from './start-reason.ts'

/** Traits seldom change. A change made here reads everything again anyway. */
export const seldomMs = 10 * 60_000

/** The traits that the organisation lists; null until they are known. */
export const useTraits = (): readonly string[] | null =>
  useRead<Me>('/manage/me', seldomMs).data?.traits ?? null

/** Chooses the trait by which runs and answers are grouped. The address keeps the choice. */
export function ByTrait({
  by,
  traits,
  isLauncher = false,
}: {
  by: string | null
  traits: readonly string[]
  isLauncher?: boolean
}) {
  const { filters, setFilters } = useFilters()
  return (
    <Select
      label="Break down by"
      isInline
      value={by ?? ''}
      none="None"
      options={traits.map(trait => [trait, traitName(trait, isLauncher)] as const)}
      onChange={chosen =>
        setFilters({ by: chosen, ...(!isSaved(filters.segment) && { segment: null }) })
      }
    />
  )
}
