import { isSaved } from '../analytics/question.ts'
import { filterInWords } from '../analytics/start-reason.ts'
import { useRead } from '../api/read.ts'
import { flowPath, type VersionAnswer, writtenIn } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { formatSeconds } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { type SegmentList, segmentsPath } from '../people/segment.tsx'
import { useFilters } from '../shell/address.ts'

/** The filters of the runs page that a number in Results sets. All stand in the address. */
export const runFilters = ['outcome', 'furthest', 'step', 'answer', 'segment', 'seconds'] as const

const didNames: Readonly<Record<string, string>> = {
  viewed: 'Reached',
  completed: 'Completed',
  skipped: 'Skipped',
  target_missing: 'Element missing at',
}

const parted = (text: string): [string, string] => {
  const at = text.indexOf(':')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** A filter in words. */
function sayFilter(
  name: string,
  value: string,
  outcome: string | undefined,
  titleOf: (key: string) => string,
  segment: string | undefined,
  isLauncher: boolean,
) {
  const [first, rest] = parted(value)
  if (name === 'segment' && segment !== undefined) return segment
  if (name === 'segment') return filterInWords(value, isLauncher)
  if (name === 'step') return `${didNames[rest || 'viewed']} “${titleOf(first)}”`
  if (name === 'answer') return `Answered “${titleOf(first)}”${rest && `: ${rest}`}`
  if (name === 'seconds') {
    const [from, to] = value.split('-')
    return `Took ${formatSeconds(Number(from))}${to ? ` – ${formatSeconds(Number(to))}` : ' or more'}`
  }
  return `${outcome === 'left' ? 'Left at' : 'No further than'} “${titleOf(value)}”`
}

/** What the listed runs have in common, each with a way to take it off. */
export function FilterChips({ flow }: { flow: AuthoredFlow }) {
  const { filters, withFilters } = useFilters()
  const active = runFilters.filter(name => name !== 'outcome' && filters[name])
  const version = useRead<VersionAnswer>(
    active.length > 0 && flow.version !== null
      ? flowPath(flow.key, `/versions/${flow.version}`)
      : null,
  )
  const segments = useRead<SegmentList>(isSaved(filters.segment) ? segmentsPath : null)
  const segment = segments.data?.segments.find(({ id }) => id === filters.segment)?.name
  const steps = version.data ? writtenIn(version.data).steps : []
  const titleOf = (key: string) => steps.find(step => step.key === key)?.title || key
  if (active.length === 0) return null
  return (
    <ul class="row below-4" aria-label="Filters">
      {active.map(name => {
        const text = sayFilter(
          ...([name, filters[name]!, filters.outcome, titleOf, segment] as const),
          flow.kind === 'launcher',
        )
        return (
          <li key={name}>
            <a class="chip line gap-1" href={withFilters({ [name]: null, after: null })}>
              {text}
              <span class="unseen">: remove filter</span>
              <Icon name="close" size={12} />
            </a>
          </li>
        )
      })}
    </ul>
  )
}
