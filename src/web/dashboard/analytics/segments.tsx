import type { Me } from '../../../modules/access/schema.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { formatTypical } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { Select } from '../parts/select.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { Behind } from './behind.tsx'
import { completionColumns } from './completion-columns.tsx'
import {
  type Analytics,
  everyMs,
  isSaved,
  numbersPath,
  type Question,
  runsBehind,
  segmentsQuery,
} from './question.ts'

type Segment = NonNullable<Analytics['segments']>[number]

/** Traits seldom change. A change made here reads everything again anyway. */
export const seldomMs = 10 * 60_000

/** The traits that the organisation lists; null until they are known. */
export const useTraits = (): readonly string[] | null =>
  useRead<Me>('/manage/me', seldomMs).data?.traits ?? null

/** Chooses the trait by which runs and answers are grouped. The address keeps the choice. */
export function ByTrait({ by, traits }: { by: string | null; traits: readonly string[] }) {
  const { filters, setFilters } = useFilters()
  return (
    <Select
      label="Break down by"
      isInline
      value={by ?? ''}
      none="None"
      options={traits.map(trait => [trait, trait] as const)}
      onChange={chosen =>
        setFilters({ by: chosen, ...(!isSaved(filters.segment) && { segment: null }) })
      }
    />
  )
}

const nameOf = ({ kind, value, values }: Segment): string => {
  if (kind === 'not_said') return 'Not set'
  return kind === 'other' ? `${values} other ${values === 1 ? 'value' : 'values'}` : (value ?? '')
}

/** A link to the numbers of one value. Rarer values are put together and cannot be chosen. */
function Value({ segment }: { segment: Segment }) {
  const { withFilters } = useFilters()
  const name = nameOf(segment)
  if (segment.kind === 'other') return <>{name}</>
  const filter = `${segment.trait}:${segment.value ?? ''}`
  return <a href={withFilters({ segment: filter })}>{name}</a>
}

function columnsOf(flowKey: string, question: Question, trait: string): Column<Segment>[] {
  const counted = (
    name: string,
    means: string,
    field: 'starts' | 'completions' | 'dismissals',
    outcome: string | null,
  ): Column<Segment> => ({
    ...{ name, means, isNumber: true, value: row => row[field] },
    cell: ({ kind, value, [field]: count }) => {
      const segment = kind === 'other' ? undefined : `${trait}:${value ?? ''}`
      const href = segment && runsBehind(flowKey, question, { segment, outcome })
      return <Behind count={count} href={href} />
    },
  })
  return [
    { name: trait, isTitle: true, value: nameOf, cell: segment => <Value segment={segment} /> },
    counted('Starts', 'Runs that started in this period.', 'starts', null),
    {
      name: 'People',
      means: 'Each person counts once per row.',
      isNumber: true,
      value: ({ uniqueUsers }) => uniqueUsers,
    },
    counted('Completed', 'Runs that were completed.', 'completions', 'completed'),
    counted('Dismissed', 'Runs closed and never completed.', 'dismissals', 'dismissed'),
    {
      name: 'Median time',
      means: 'Half of the completed runs took at most this long.',
      unit: 'seconds',
      isNumber: true,
      value: ({ timeToComplete }) => timeToComplete.medianSeconds,
      cell: ({ timeToComplete: { medianSeconds, count } }) => formatTypical(medianSeconds, count),
    },
    ...completionColumns<Segment>(({ interval }) => interval),
  ]
}

interface Shown {
  flow: AuthoredFlow
  question: Question
}

function BySegment({ flow, question, trait }: Shown & { trait: string }) {
  const query = segmentsQuery(question, trait)
  const read = useRead<Analytics>(numbersPath(flow.id, query), everyMs * 4)
  return (
    <Reading of={read} lines={4}>
      {({ segments = [] }) => (
        <>
          <Table
            caption={`Completion by ${trait}, as it was when each run started`}
            isCaptionSeen
            class="groups"
            none="No runs in this period."
            file={`${flow.key}-by-${trait}`}
            rows={segments}
            keyOf={({ kind, value }) => `${kind}:${value}`}
            columns={columnsOf(flow.key, question, trait)}
          />
          {segments.some(({ kind }) => kind === 'not_said') && (
            <p class="footnote fine">
              Not set: the page did not send this trait, or the run started before it was listed.
            </p>
          )}
        </>
      )}
    </Reading>
  )
}

/** How runs end, by the traits of their people. */
export function BySegments({ traits, ...shown }: Shown & { traits: readonly string[] }) {
  const { by } = shown.question
  return (
    <Part title="Breakdown" beside={traits.length > 0 && <ByTrait by={by} traits={traits} />}>
      {by !== null && traits.includes(by) ? (
        <BySegment {...shown} trait={by} />
      ) : by !== null ? (
        <p class="footnote">
          “{by}” is not a listed trait. Choose another, or list it in Settings.
        </p>
      ) : traits.length > 0 ? (
        <p class="footnote fine">
          Choose a trait to compare its values, such as the plan that people are on.
        </p>
      ) : (
        <>
          <p class="footnote fine">
            No traits yet. Pages send traits such as plan with identify(). Results can use those
            that an owner lists in Settings.
          </p>
          {may('settings:write') && (
            <div class="row-actions">
              <LinkButton href={addressOf(['settings', 'traits'])}>Choose traits</LinkButton>
            </div>
          )}
        </>
      )}
    </Part>
  )
}
