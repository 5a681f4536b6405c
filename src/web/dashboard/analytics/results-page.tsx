import { manual } from '../api/base.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatMoment } from '../words/time.ts'
import { Answers } from './answers.tsx'
import { Checklist } from './checklist.tsx'
import { Controls } from './controls.tsx'
import { Daily } from './daily.tsx'
import { Definitions } from './definitions.tsx'
import { Durations } from './durations.tsx'
import { Experiment } from './experiment.tsx'
import { Funnel } from './funnel.tsx'
import { PaperRange } from './paper-range.tsx'
import { type Analytics, useQuestion, useResults } from './question.ts'
import { BySegments, Only, useTraits } from './segments.tsx'
import { Totals } from './totals.tsx'
import { Versions } from './versions.tsx'
import { Ways } from './ways.tsx'

/** Says why there are no numbers, and what to do. */
function Empty({ flow, data }: { flow: AuthoredFlow; data: Analytics }) {
  if (flow.version === null) {
    return (
      <Notice icon="edit" title={words.draft}>
        {words.draftWhy} <code>{words.publishCommand(flow.key)}</code>
      </Notice>
    )
  }
  const { version, segment } = data.filters
  const hasOthers = version !== null || segment !== undefined || data.range.complete
  if (hasOthers) return <Notice title={words.emptyRange}>{words.emptyRangeWhy}</Notice>
  return (
    <Notice
      icon="install"
      title={words.empty}
      actions={<LinkButton href={manual('install-the-snippet')}>{words.emptyManual}</LinkButton>}
    >
      {words.emptyWhy}
    </Notice>
  )
}

function Results({ flow }: { flow: AuthoredFlow }) {
  const question = useQuestion()
  const { main, other, isOtherEmpty, otherName, compared } = useResults(flow.id, question)
  const traits = useTraits()
  const versions = main.data?.versions.map(({ version }) => version) ?? []
  return (
    <>
      {flow.version !== null && (
        <Controls flowKey={flow.key} question={question} versions={versions} />
      )}
      <Only question={question} />
      <Reading of={main} lines={8}>
        {data =>
          data.totals.starts === 0 && !other ? (
            <Empty flow={flow} data={data} />
          ) : (
            <>
              <PaperRange
                from={data.range.from}
                to={data.range.to}
                zone={data.range.timezone}
                version={data.filters.version}
              />
              <Totals data={data} other={other} otherName={otherName} question={question} />
              {isOtherEmpty && <p class="footnote">{words.otherEmpty(otherName)}</p>}
              <Experiment data={data} />
              <Funnel data={data} other={other} />
              <Answers data={data} question={question} />
              {data.steps.length > 0 && <Ways flow={flow} question={question} />}
              <Checklist data={data} />
              <Durations data={data} {...{ other, otherName, compared }} flowKey={flow.key} />
              <Daily data={data} other={other} otherName={otherName} interval={question.interval} />
              <Versions data={data} />
              {traits && (
                <BySegments
                  flowId={flow.id}
                  flowKey={flow.key}
                  question={question}
                  traits={traits}
                />
              )}
              <p class="footnote">
                {words.generated(
                  formatMoment(data.generatedAt, data.range.timezone),
                  data.range.timezone,
                )}
              </p>
              <Definitions of={data.definitions} />
            </>
          )
        }
      </Reading>
    </>
  )
}

/** What became of a flow's runs. */
export default function ResultsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Results flow={flow} />}</FlowFrame>
}
