import { runOutcomes } from '../../../core/run/outcome.ts'
import type { RunList } from '../../../modules/runs/schema.ts'
import { PaperRange } from '../analytics/paper-range.tsx'
import { type Analytics, csvAddress, type Question, useQuestion } from '../analytics/question.ts'
import { RangePicker } from '../analytics/range-picker.tsx'
import { useRead } from '../api/read.ts'
import { flowPath } from '../flows/definition.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { runWords as words } from '../words/runs.ts'
import { formatCount } from '../words/time.ts'
import { RunTable } from './run-table.tsx'

/** The numbers are computed anew for each answer, so they are read less often. */
const countsEveryMs = 30_000

const queryOf = ({ from, to, zone, version }: Question) =>
  new URLSearchParams({ from, to, timezone: zone, ...(version !== null && { version }) })

function Controls({ flow, question }: { flow: AuthoredFlow; question: Question }) {
  const { filters, setFilters } = useFilters()
  const path = `/flows/${flow.id}/analytics?${queryOf(question)}`
  const { data, isOld } = useRead<Analytics>(path, countsEveryMs)
  const totals = isOld ? null : data?.totals
  const counts = totals && {
    '': totals.starts,
    completed: totals.completions,
    dismissed: totals.dismissals,
    in_progress: totals.inProgress,
  }
  const named = (outcome: '' | (typeof runOutcomes)[number]) => {
    const name = outcome === '' ? words.all : words.outcomes[outcome]
    return [outcome, counts ? `${name} ${formatCount(counts[outcome])}` : name] as const
  }
  const newest = flow.version ?? 0
  const published = Array.from({ length: newest }, (_, i) => `${newest - i}`)
  const versions = [...new Set([...published, ...(question.version ? [question.version] : [])])]
  return (
    <div class="controls">
      <RangePicker question={question} also={{ after: null }} />
      <Segments
        label={words.outcome}
        options={['' as const, ...runOutcomes].map(named)}
        value={runOutcomes.find(outcome => outcome === filters.outcome) ?? ''}
        onChange={outcome => setFilters({ outcome, after: null })}
      />
      {versions.length > 1 && (
        <Select
          isInline
          label={words.version}
          value={question.version ?? ''}
          options={[
            ['', words.all],
            ...versions.map(version => [version, `Version ${version}`] as const),
          ]}
          onChange={version => setFilters({ version, after: null })}
        />
      )}
      <span class="at-end">
        <LinkButton icon="download" href={csvAddress(flow.key, question, 'runs')} download>
          {words.download}
        </LinkButton>
      </span>
    </div>
  )
}

function Page({ flow, list, zone }: { flow: AuthoredFlow; list: RunList; zone: string }) {
  const { filters, withFilters } = useFilters()
  const { runs, next } = list
  return (
    <>
      {runs.length > 0 ? (
        <RunTable runs={runs} zone={zone} />
      ) : next ? (
        <Notice title={words.looked}>{words.lookedWhy}</Notice>
      ) : flow.version === null ? (
        <Notice icon="edit" title={words.draft}>
          {words.draftWhy}
        </Notice>
      ) : (
        <Notice title={words.empty}>{words.emptyWhy}</Notice>
      )}
      {(next || filters.after) && (
        <nav class="pager" aria-label={words.pages}>
          {filters.after && (
            <LinkButton href={withFilters({ after: null })}>{words.newest}</LinkButton>
          )}
          {next && <LinkButton href={withFilters({ after: next })}>{words.next}</LinkButton>}
        </nav>
      )}
      <p class="footnote">{words.zone(zone)}</p>
    </>
  )
}

function Runs({ flow }: { flow: AuthoredFlow }) {
  const { filters } = useFilters()
  const question = useQuestion()
  const query = queryOf(question)
  for (const name of ['outcome', 'after'] as const) {
    if (filters[name]) query.set(name, filters[name])
  }
  const list = useRead<RunList>(flowPath(flow.key, `/runs?${query}`))
  return (
    <>
      <Controls flow={flow} question={question} />
      <PaperRange {...question} />
      <Reading of={list} lines={8}>
        {data => <Page flow={flow} list={data} zone={question.zone} />}
      </Reading>
    </>
  )
}

/** What individual people did with a flow. */
export default function RunsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Runs flow={flow} />}</FlowFrame>
}
