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
import { LinkButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../shell/address.ts'
import type { PageProps } from '../shell/routes.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { healthMs, healthPath, isWell, order, type StepCheck } from './health.ts'
import { StepSection } from './step-section.tsx'

/** Shown for an unpublished flow, because health is about what pages show. */
const Unpublished = ({ flow }: { flow: AuthoredFlow }) => (
  <Notice
    icon="health"
    title="Not published"
    actions={<LinkButton href={addressOf(['flows', flow.key, 'versions'])}>Open draft</LinkButton>}
  >
    Publish the flow to see whether pages find its elements.
  </Notice>
)

const stepsOf = (count: number) => `${count} ${count === 1 ? 'step' : 'steps'}`

/** Says how many steps need attention, and for how many that is unknown. */
function summaryOf(steps: StepCheck['steps']): string {
  const bad = steps.filter(({ state }) => !isWell(state)).length
  const unknown = steps.filter(({ state }) => state === 'unknown').length
  if (unknown === steps.length) return 'Not enough data yet: too few people have seen these steps.'
  const verdict =
    bad > 0
      ? `${bad} of ${stepsOf(steps.length)} ${bad === 1 ? 'needs' : 'need'} attention.`
      : `No problems in ${stepsOf(steps.length - unknown)}.`
  return unknown === 0 ? verdict : `${verdict} Not enough data for ${stepsOf(unknown)}.`
}

/** The steps in the order of what has to be done: broken ones first, steps without an element last. */
function inOrder<Step extends { key: string }>(
  written: readonly Step[],
  steps: StepCheck['steps'],
) {
  return written
    .map((one, place) => ({
      ...{ one, place: place + 1 },
      step: steps.find(({ step }) => step === one.key) ?? null,
    }))
    .sort((a, b) => {
      const rank = ({ step }: typeof a) => (step ? order.indexOf(step.state) : order.length)
      return rank(a) - rank(b) || a.place - b.place
    })
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
  const { data: draft } = useRead<DraftAnswer>(flow.hasDraft ? flowPath(flow.key, '/draft') : null)
  const { steps } = check
  if (steps.length === 0) {
    return (
      <Notice title="Nothing to monitor">
        {flow.kind === 'launcher'
          ? 'Cairn draws the button itself. No element of your pages opens this resource centre.'
          : 'No step of this flow points at an element.'}
      </Notice>
    )
  }
  const drafted = flow.hasDraft && draft ? writtenIn(draft) : null
  const isLauncher = flow.kind === 'launcher'
  // What a launcher points at is none of its steps.
  const checked = steps.map(({ step, title }) => ({ key: step, title: title ?? step }))
  const written = isLauncher ? checked : (published?.steps ?? checked)
  return (
    <>
      <div class="split below-4">
        <p class="lead">{!isLauncher && summaryOf(steps)}</p>
        {steps.some(({ history = [] }) => history.length > 0) && (
          <a
            class="file-link"
            href={addressOf(['flows', flow.key, 'health.csv'], {
              timezone: check.historyRange?.timezone,
            })}
            download
          >
            <Icon name="download" />
            Download CSV
          </a>
        )}
      </div>
      {inOrder(written, steps).map(({ one: { key, title }, place, step }) => (
        <StepSection
          key={key}
          place={place}
          title={title || key}
          stepKey={key}
          step={step}
          drafted={drafted?.steps.find(step => step.key === key) ?? null}
          flow={flow}
          range={check.historyRange}
        />
      ))}
      <p class="footnote fine">
        Reports of the last 24 hours about the published version. Each person counts once.
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
