import type { RunList } from '../../../modules/runs/schema.ts'
import { Leavers } from '../analytics/leavers.tsx'
import { PaperRange } from '../analytics/paper-range.tsx'
import {
  type Analytics,
  csvAddress,
  numbersPath,
  type Question,
  queryOf,
  useQuestion,
} from '../analytics/question.ts'
import { RangePicker } from '../analytics/range-picker.tsx'
import { useRead } from '../api/read.ts'
import { flowPath } from '../flows/definition.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Filters } from '../parts/filters.tsx'
import { formatCount } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { FilterChips, runFilters } from './run-filters.tsx'
import { RunTable } from './run-table.tsx'

/** The numbers are computed anew for each answer, so they are read less often. */
const countsEveryMs = 30_000

const outcomes = ['', 'completed', 'left', 'dismissed', 'stalled', 'active'] as const

const outcomeNames: Readonly<Record<(typeof outcomes)[number], string>> = {
  '': 'All',
  completed: 'Completed',
  left: 'Left',
  dismissed: 'Dismissed',
  stalled: 'Stalled',
  active: 'Active',
}

function countsOf({
  starts,
  completions,
  dismissals,
  inProgress,
  stalled = 0,
}: Analytics['totals']) {
  return {
    ...{ '': starts, completed: completions, dismissed: dismissals, stalled },
    ...{ left: dismissals + stalled, active: inProgress - stalled },
  }
}

function Controls({ flow, question }: { flow: AuthoredFlow; question: Question }) {
  const { filters, setFilters } = useFilters()
  // The numbers of all runs say nothing about those of a step or an answer.
  const isNarrowed = runFilters.some(
    name => name !== 'outcome' && name !== 'segment' && filters[name],
  )
  const { data, isOld } = useRead<Analytics>(
    isNarrowed ? null : numbersPath(flow.id, queryOf(question)),
    countsEveryMs,
  )
  const counts = data && !isOld && !isNarrowed ? countsOf(data.totals) : null
  const newest = flow.version ?? 0
  const published = Array.from({ length: newest }, (_, i) => `${newest - i}`)
  const shown = filters.outcome === 'in_progress' ? [...outcomes, 'in_progress' as const] : outcomes
  return (
    <div class="controls split start below-4">
      <Filters first={<RangePicker question={question} also={{ after: null }} />}>
        <Segments
          label="Outcome"
          options={shown.map(outcome => {
            if (outcome === 'in_progress') return [outcome, 'Unfinished'] as const
            const name = outcomeNames[outcome]
            return [outcome, counts ? `${name} ${formatCount(counts[outcome])}` : name] as const
          })}
          value={shown.find(outcome => outcome === filters.outcome) ?? ''}
          onChange={outcome => setFilters({ outcome, after: null })}
        />
        {published.length > 1 && (
          <Select
            label="Version"
            isLabelUnseen
            isInline
            value={question.version ?? ''}
            none="All versions"
            options={published.map(version => [version, `Version ${version}`] as const)}
            onChange={version => setFilters({ version, after: null })}
          />
        )}
      </Filters>
      <LinkButton icon="download" href={csvAddress(flow.key, question, 'runs')} download>
        Download CSV
      </LinkButton>
    </div>
  )
}

function Page({ flow, list }: { flow: AuthoredFlow; list: RunList }) {
  const { filters, withFilters } = useFilters()
  const { runs, next } = list
  return (
    <>
      {runs.length > 0 ? (
        <RunTable runs={runs} isPart={next !== null || !!filters.after} file={`${flow.key}-runs`} />
      ) : next ? (
        <Notice title="No matching runs so far">
          The latest 20,000 runs of this page have none. There are earlier runs in the period.
        </Notice>
      ) : flow.version === null ? (
        <Notice icon="edit" title="Not published yet">
          Publish the flow to see runs here.
        </Notice>
      ) : (
        <Notice title="No runs">Try a longer period or fewer filters.</Notice>
      )}
      {(next || filters.after) && (
        <nav class="pager footnote row" aria-label="Pages of runs">
          {filters.after && (
            <LinkButton href={withFilters({ after: null })}>Latest runs</LinkButton>
          )}
          {next && <LinkButton href={withFilters({ after: next })}>Earlier runs</LinkButton>}
        </nav>
      )}
    </>
  )
}

function Runs({ flow }: { flow: AuthoredFlow }) {
  const { filters } = useFilters()
  const question = useQuestion()
  const query = queryOf(question)
  for (const name of [...runFilters, 'after'] as const) {
    if (name !== 'segment' && filters[name]) query.set(name, filters[name])
  }
  const list = useRead<RunList>(flowPath(flow.key, `/runs?${query}`))
  return (
    <>
      <Controls flow={flow} question={question} />
      <PaperRange {...question} />
      <FilterChips flow={flow} />
      {filters.furthest && filters.outcome === 'left' && !filters.step && !question.only && (
        <Leavers flow={flow} step={filters.furthest} question={question} />
      )}
      <Part title="Runs">
        <Reading of={list} lines={8}>
          {data => <Page flow={flow} list={data} />}
        </Reading>
      </Part>
    </>
  )
}

/** What individual people did with a flow. */
export default function RunsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Runs flow={flow} />}</FlowFrame>
}
