import { startReasonTrait } from '../../../core/event/start-reason.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { formatDateTime, zoneName } from '../parts/format.ts'
import { addressOf as pageOf } from '../shell/address.ts'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { Answers } from './answers.tsx'
import { useTraits } from './by-trait.tsx'
import { Controls } from './controls.tsx'
import { Daily } from './daily.tsx'
import { Durations } from './durations.tsx'
import { Experiment } from './experiment.tsx'
import { Funnel } from './funnel.tsx'
import { Checklist, Choices } from './items.tsx'
import { Only } from './limited.tsx'
import { PaperRange } from './paper-range.tsx'
import { type Analytics, useQuestion, useResults } from './question.ts'
import { BySegments } from './segments.tsx'
import { Totals } from './totals.tsx'
import { Versions } from './versions.tsx'
import { Ways } from './ways.tsx'

/** Says why there are no numbers, and what to do. */
function Empty({ flow, data }: { flow: AuthoredFlow; data: Analytics }) {
  if (flow.version === null) {
    return (
      <Notice
        icon="edit"
        title="Not published yet"
        actions={<LinkButton href={pageOf(['flows', flow.key, 'versions'])}>Open draft</LinkButton>}
      >
        Publish the flow to see what people do with it.
      </Notice>
    )
  }
  const { version, segment, saved } = data.filters
  if (version !== null || (segment ?? saved) !== undefined || data.range.complete) {
    return (
      <Notice title="No runs in this period">
        Try a longer period, another version or everyone.
      </Notice>
    )
  }
  return (
    <Notice
      icon="install"
      title="No runs yet"
      actions={<LinkButton href={pageOf(['install'])}>Check installation</LinkButton>}
    >
      The flow is published. Check that the snippet is installed on its pages.
    </Notice>
  )
}

function Results({ flow }: { flow: AuthoredFlow }) {
  const question = useQuestion()
  const { main, other, isOtherEmpty, otherName } = useResults(flow.id, question)
  const traits = useTraits()
  const isLauncher = flow.kind === 'launcher'
  const versions = main.data?.versions.map(({ version }) => version) ?? []
  return (
    <>
      {flow.version !== null && (
        <Controls flowKey={flow.key} question={question} versions={versions} />
      )}
      <Only question={question} data={main.data} isLauncher={isLauncher} />
      <Reading of={main} lines={8}>
        {data => {
          if (data.totals.starts === 0 && !other) return <Empty flow={flow} data={data} />
          const shown = { data, other, otherName, question }
          return (
            <>
              <PaperRange {...question} />
              <Totals {...shown} isLauncher={isLauncher} />
              {isOtherEmpty && (
                <p class="footnote fine">
                  No runs in {otherName}, so there is nothing to compare with.
                </p>
              )}
              <Experiment data={data} />
              {isLauncher ? <Choices data={data} /> : <Funnel {...shown} />}
              <Answers
                data={data}
                question={question}
                traits={[startReasonTrait, ...(traits ?? [])]}
              />
              {data.steps.length > 0 && !isLauncher && <Ways flow={flow} question={question} />}
              <Checklist data={data} />
              {!isLauncher && <Durations {...shown} />}
              <Daily {...shown} isLauncher={isLauncher} />
              <Versions data={data} question={question} isLauncher={isLauncher} />
              {traits && <BySegments flow={flow} question={question} traits={traits} />}
              <p class="footnote fine">
                Updated {formatDateTime(data.generatedAt)}. Days start at midnight in{' '}
                {zoneName(data.range.timezone)}.
              </p>
            </>
          )
        }}
      </Reading>
    </>
  )
}

/** The outcomes of a flow's runs. */
export default function ResultsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Results flow={flow} />}</FlowFrame>
}
