import { useRead } from '../api/read.ts'
import { LinkButton } from '../parts/button.tsx'
import { Select } from '../parts/select.tsx'
import { type SegmentList, segmentsPath } from '../people/segment.tsx'
import { useFilters } from '../shell/address.ts'
import { seldomMs } from './by-trait.tsx'
import { type Analytics, isSaved, type Question } from './question.ts'
import { traitName, traitValue } from './start-reason.ts'

/** Chooses a saved segment, to whose runs all numbers are limited. Runs know traits alone, so others are left out. */
export function SavedSegment({ only }: { only: string | null }) {
  const { setFilters } = useFilters()
  const { data } = useRead<SegmentList>(segmentsPath, seldomMs)
  const saved = (data?.segments ?? []).filter(({ filter }) => !filter.flows?.length)
  if (saved.length === 0) return null
  return (
    <Select
      label="Segment"
      isInline
      value={isSaved(only) ? only! : ''}
      none="Everyone"
      options={saved.map(({ id, name }) => [id, name] as const)}
      onChange={segment => setFilters({ segment })}
    />
  )
}

/** Says which runs alone are counted, with a link back to all of them. */
export function Only({
  question,
  data,
  isLauncher,
}: {
  question: Question
  data: Analytics | null
  isLauncher: boolean
}) {
  const { withFilters } = useFilters()
  if (question.only === null) return null
  if (isSaved(question.only)) {
    const [saved] = data?.filters.saved ?? []
    return (
      saved && (
        <p class="row below-4" role="status">
          Only runs that match the segment <strong>{saved.name}</strong>{' '}
          <LinkButton href={withFilters({ segment: null })}>Show all runs</LinkButton>
        </p>
      )
    )
  }
  const [trait = ''] = question.only.split(':', 1)
  const value = question.only.slice(trait.length + 1)
  return (
    <p class="row below-4" role="status">
      Only runs with {traitName(trait, isLauncher)}{' '}
      <strong>{traitValue(trait, value, isLauncher)}</strong>{' '}
      <LinkButton href={withFilters({ segment: null })}>Show all runs</LinkButton>
    </p>
  )
}
