import { startReasonTrait } from '../../../core/event/start-reason.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { formatTypical } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { Behind } from './behind.tsx'
import { ByTrait } from './by-trait.tsx'
import { completionColumns } from './completion-columns.tsx'
import {
  type Analytics,
  everyMs,
  numbersPath,
  type Question,
  runsBehind,
  segmentsQuery,
} from './question.ts'
import { wordsFor } from './run-words.ts'
import { traitName, traitValue } from './start-reason.ts'

type Segment = NonNullable<Analytics['segments']>[number]

const nameOf = ({ kind, trait, value, values }: Segment, isLauncher: boolean): string =>
  kind === 'other'
    ? `${values} other ${values === 1 ? 'value' : 'values'}`
    : traitValue(trait, value, isLauncher)

/** A link to the numbers of one value. Rarer values are put together and cannot be chosen. */
function Value({ segment, name }: { segment: Segment; name: string }) {
  const { withFilters } = useFilters()
  if (segment.kind === 'other') return <>{name}</>
  const filter = `${segment.trait}:${segment.value ?? ''}`
  return <a href={withFilters({ segment: filter })}>{name}</a>
}

interface Shown {
  flow: AuthoredFlow
  question: Question
}

function columnsOf({ flow, question }: Shown, trait: string): Column<Segment>[] {
  const isLauncher = flow.kind === 'launcher'
  const words = wordsFor(isLauncher)
  const [startsMeans, completedMeans, dismissedMeans, timeMeans] = isLauncher
    ? [
        'Openings in this period.',
        'Openings in which an item was chosen.',
        'Openings that were closed without a choice.',
        'Half of the choices were made within this time after opening.',
      ]
    : [
        'Runs that started in this period.',
        'Runs that were completed.',
        'Runs closed and never completed.',
        'Half of the completed runs took at most this long.',
      ]
  const named = (segment: Segment) => nameOf(segment, isLauncher)
  const counted = (
    name: string,
    means: string,
    field: 'starts' | 'completions' | 'dismissals',
    outcome: string | null,
  ): Column<Segment> => ({
    ...{ name, means, isNumber: true, value: row => row[field] },
    cell: ({ kind, value, [field]: count }) => {
      const segment = kind === 'other' ? undefined : `${trait}:${value ?? ''}`
      const href = segment && runsBehind(flow.key, question, { segment, outcome })
      return <Behind count={count} href={href} />
    },
  })
  return [
    {
      name: traitName(trait, isLauncher),
      isTitle: true,
      value: named,
      cell: segment => <Value segment={segment} name={named(segment)} />,
    },
    counted(words.starts, startsMeans, 'starts', null),
    {
      name: 'People',
      means: 'Each person counts once per row.',
      isNumber: true,
      value: ({ uniqueUsers }) => uniqueUsers,
    },
    counted(words.completed, completedMeans, 'completions', 'completed'),
    counted(words.dismissed, dismissedMeans, 'dismissals', 'dismissed'),
    {
      name: 'Median time',
      means: timeMeans,
      unit: 'seconds',
      isNumber: true,
      value: ({ timeToComplete }) => timeToComplete.medianSeconds,
      cell: ({ timeToComplete: { medianSeconds, count } }) => formatTypical(medianSeconds, count),
    },
    ...completionColumns<Segment>(words, ({ interval }) => interval),
  ]
}

/** What it means that runs have no value. */
const noneMeans = (isReason: boolean, isLauncher: boolean): string => {
  if (!isReason)
    return 'Not set: the page did not send this trait, or the run started before it was listed.'
  return isLauncher
    ? 'Nothing unread: also openings from before Cairn stored this.'
    : 'Its own rules: its pages and audience. Also runs from before Cairn stored this, and runs that your back end reported.'
}

function BySegment({ flow, question, trait }: Shown & { trait: string }) {
  const query = segmentsQuery(question, trait)
  const read = useRead<Analytics>(numbersPath(flow.id, query), everyMs * 4)
  const isReason = trait === startReasonTrait
  const isLauncher = flow.kind === 'launcher'
  return (
    <Reading of={read} lines={4}>
      {({ segments = [] }) => (
        <>
          <Table
            caption={
              isReason
                ? `${isLauncher ? 'Openings' : 'Runs'} by ${isLauncher ? 'whether announcements were unread' : 'what started them'}`
                : `Completion by ${trait}, as it was when each run started`
            }
            isCaptionSeen
            class="groups"
            none="No runs in this period."
            file={`${flow.key}-by-${isReason ? 'start' : trait}`}
            rows={segments}
            keyOf={({ kind, value }) => `${kind}:${value}`}
            columns={columnsOf({ flow, question }, trait)}
          />
          {segments.some(({ kind }) => kind === 'not_said') && (
            <p class="footnote fine">{noneMeans(isReason, isLauncher)}</p>
          )}
        </>
      )}
    </Reading>
  )
}

/** How runs end, by what started them, and by the traits of their people. */
export function BySegments({ traits, ...shown }: Shown & { traits: readonly string[] }) {
  const { by } = shown.question
  const isLauncher = shown.flow.kind === 'launcher'
  const choices = [startReasonTrait, ...traits]
  return (
    <Part title="Breakdown" beside={<ByTrait by={by} traits={choices} isLauncher={isLauncher} />}>
      {by !== null && choices.includes(by) ? (
        <BySegment {...shown} trait={by} />
      ) : by !== null ? (
        <p class="footnote">
          “{by}” is not a listed trait. Choose another, or list it in Settings.
        </p>
      ) : (
        <p class="footnote fine">
          {isLauncher
            ? 'Compare openings with and without unread announcements, or the values of a trait.'
            : 'Compare what started the runs, or the values of a trait such as the plan that people are on.'}
        </p>
      )}
      {traits.length === 0 && (
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
