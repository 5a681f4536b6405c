import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useZone } from '../analytics/use-zone.ts'
import { never, useRead } from '../api/read.ts'
import {
  type DraftAnswer,
  flowPath,
  type VersionAnswer,
  type Written,
  writtenIn,
} from '../flows/definition.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf } from '../shell/address.ts'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { flowWords } from '../words/flows.ts'
import { healthWords as words } from '../words/health.ts'
import { healthMs, healthPath, isWell, type StepCheck, toneOfState } from './health.ts'
import { StepSection } from './step-section.tsx'

/** Shown for an unpublished flow, because health is about what pages show. */
const Unpublished = ({ flow }: { flow: AuthoredFlow }) => (
  <Notice
    icon="health"
    title={words.unpublished}
    actions={
      <LinkButton href={addressOf(['flows', flow.key, 'versions'])}>{words.toVersions}</LinkButton>
    }
  >
    {words.unpublishedWhy}
  </Notice>
)

/** Says how many steps need a person, and for how many that is unknown. */
function summaryOf(steps: StepCheck['steps']): string {
  const bad = steps.filter(({ state }) => !isWell(state)).length
  const unknown = steps.filter(({ state }) => state === 'unknown').length
  if (unknown === steps.length) return words.noneKnown
  const verdict = bad > 0 ? words.needed(bad, steps.length) : words.well(steps.length)
  if (unknown === 0) return verdict
  return bad > 0 ? `${verdict} ${words.unknown(unknown)}` : words.unknownOf(unknown, steps.length)
}

function Steps({
  flow,
  check,
  published,
}: {
  flow: AuthoredFlow
  check: StepCheck
  published: Written | null
}) {
  const zone = useZone()
  const said = useSignal<ComponentChildren>(null)
  const { data: draft } = useRead<DraftAnswer>(flow.hasDraft ? flowPath(flow.key, '/draft') : null)
  const { steps, definitions } = check
  if (steps.length === 0) return <Notice title={words.empty}>{words.emptyWhy}</Notice>
  const bad = steps.filter(({ state }) => !isWell(state)).length
  const drafted = flow.hasDraft && draft ? writtenIn(draft) : null
  const order = published?.steps ?? steps.map(({ step }) => ({ key: step, title: step }))
  return (
    <>
      <p class="lead">
        {summaryOf(steps)} <Tip text={definitions.state}>{words.defined}</Tip>
      </p>
      {bad > 0 && (
        <ul class="bad-steps">
          {order.map(({ key, title }) => {
            const step = steps.find(one => one.step === key)
            return step && !isWell(step.state) ? (
              <li key={key}>
                <a href={`#step-${key}`}>{title || key}</a>{' '}
                <Badge tone={toneOfState[step.state]}>{flowWords.health[step.state]}</Badge>
              </li>
            ) : null
          })}
        </ul>
      )}
      <StatusMessage of={said} />
      {order.map(({ key, title }, i) => (
        <StepSection
          key={key}
          place={i + 1}
          title={title || key}
          stepKey={key}
          step={steps.find(({ step }) => step === key) ?? null}
          drafted={drafted?.steps.find(step => step.key === key) ?? null}
          {...{ flow, definitions, zone, said }}
          range={check.historyRange}
        />
      ))}
      <p class="footnote">
        {words.asOf(zone)} {words.definition(definitions.state ?? '')}
      </p>
    </>
  )
}

function Health({ flow }: { flow: AuthoredFlow }) {
  const isPublished = flow.status === 'published'
  const timezone = useZone()
  const query = new URLSearchParams({ flow: flow.key, history: '1', timezone })
  const check = useRead<StepCheck>(isPublished ? `${healthPath}?${query}` : null, healthMs)
  const version = useRead<VersionAnswer>(
    isPublished ? flowPath(flow.key, `/versions/${flow.version}`) : null,
    never,
  )
  if (!isPublished) return <Unpublished flow={flow} />
  return (
    <Reading of={check} lines={8}>
      {data => (
        <Steps flow={flow} check={data} published={version.data && writtenIn(version.data)} />
      )}
    </Reading>
  )
}

/** Which steps of a flow have lost their element, and what to do about it. */
export default function HealthPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Health flow={flow} />}</FlowFrame>
}
