import type { ComponentChildren } from 'preact'
import { dayMs, isFullHour } from '../../../core/time/durations.ts'
import type { AlertList } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { may } from '../api/session.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import type { Installation } from '../installation/state.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { formatAge } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../shell/address.ts'
import {
  type CheckedStep,
  isWell,
  nameOfState,
  type StepCheck,
  sayFound,
  toneOfState,
} from '../steps/health.ts'

const openSince = (age: string) => `Open since ${age}`
const resolvedSince = (age: string) => `Resolved ${age}`

interface Need {
  key: string
  /** The higher, the further up in the list. */
  urgency: number
  badge: [Tone, string]
  title: string
  why: ComponentChildren
  address: string
}

type Alert = AlertList['alerts'][number]

const isBad = ({ state }: CheckedStep) => !isWell(state)

const isOf =
  ({ flow, step }: CheckedStep) =>
  (alert: Alert) =>
    alert.state === 'open' && alert.rule === 'step.broken' && alert.subject === `${flow}/${step}`

function ofStep(step: CheckedStep, flows: readonly AuthoredFlow[], alert: Alert | undefined): Need {
  const flow = flows.find(({ key }) => key === step.flow)
  return {
    key: `step ${step.stepId}`,
    urgency: step.state === 'broken' ? 4 : step.state === 'flaky' ? 3 : 1,
    badge: [toneOfState[step.state], nameOfState[step.state]],
    title: `“${step.title ?? step.step}” in ${flow?.name ?? step.flow}`,
    why: (
      <>
        {sayFound(step)}. {step.suggestion && 'A working selector is available.'}
        {alert && ` ${openSince(formatAge(alert.openedAt))}.`}
      </>
    ),
    address: `${addressOf(['flows', step.flow, 'health'])}#step-${step.step}`,
  }
}

const ofDraft = (flow: AuthoredFlow): Need => ({
  key: `draft ${flow.key}`,
  urgency: 0,
  badge: ['accent', 'Draft'],
  title:
    flow.version === null
      ? `${flow.name} is not published`
      : `${flow.name} has unpublished changes`,
  why: `Changed ${formatAge(flow.updatedAt)}`,
  address: addressOf(['flows', flow.key, 'versions']),
})

const findingNames = { error: 'Error', warning: 'Warning', info: 'Note' }

const firstSeen = (since: string) =>
  isFullHour(since)
    ? `First seen in the hour of ${momentHere(since)}.`
    : `First seen ${formatAge(since)}.`

const ofFinding = ({
  code,
  severity,
  message,
  fix,
  since,
}: Installation['findings'][number]): Need => ({
  key: `finding ${code}`,
  urgency: severity === 'error' ? 5 : 2,
  badge: [severity === 'error' ? 'bad' : 'warn', findingNames[severity]],
  title: message,
  why: since === null ? fix : `${firstSeen(since)} ${fix}`,
  address: addressOf(['install']),
})

const urgencyOf: Readonly<Record<Alert['rule'], number>> = {
  'step.broken': 4,
  'completion.fell': 3,
  'score.low': 3,
  'install.stale': 5,
  'dead_letters.found': 5,
}

/** How long a resolved alert is still shown. */
const resolvedShownMs = dayMs

/** An alert that is open or was resolved recently. Steps in the list show their own alerts. */
function ofAlert({ id, rule, state, message, fix, page, openedAt, resolvedAt }: Alert): Need {
  const isResolved = state === 'resolved'
  const why = isResolved
    ? resolvedSince(formatAge(resolvedAt!))
    : `${openSince(formatAge(openedAt))}. ${fix}`
  return {
    key: `alert ${id}`,
    urgency: isResolved ? -1 : urgencyOf[rule],
    badge: isResolved ? ['good', 'Resolved'] : ['bad', 'Alert'],
    title: message,
    why,
    address: addressOf(page === '' ? [] : page.split('/').map(decodeURIComponent)),
  }
}

function ofAlerts({ alerts, findings }: AlertList, check: StepCheck): Need[] {
  const listed = new Set(check.steps.filter(isBad).map(({ flow, step }) => `${flow}/${step}`))
  const isShown = ({ rule, state, subject, resolvedAt }: Alert) =>
    state === 'open'
      ? rule !== 'step.broken' || !listed.has(subject)
      : Date.parse(resolvedAt!) > Date.now() - resolvedShownMs
  return [
    ...alerts.filter(isShown).map(ofAlert),
    ...(may('settings:write') ? findings : []).map(
      ({ webhook, message, fix, since }): Need => ({
        key: `webhook ${webhook}`,
        urgency: 2,
        badge: ['warn', findingNames.warning],
        title: message,
        why: `Since ${formatAge(since)}. ${fix}`,
        address: addressOf(['settings', 'webhooks'], { webhook }),
      }),
    ),
  ]
}

/** What is wrong or waits for somebody. */
export function Needs({
  flows,
  check,
  installation,
  alerts,
}: {
  flows: readonly AuthoredFlow[]
  check: StepCheck
  installation: Installation
  alerts: AlertList | null
}) {
  const needs = [
    ...installation.findings.filter(({ severity }) => severity !== 'info').map(ofFinding),
    ...check.steps.filter(isBad).map(step => ofStep(step, flows, alerts?.alerts.find(isOf(step)))),
    ...(alerts ? ofAlerts(alerts, check) : []),
    ...flows.filter(({ hasDraft, status }) => hasDraft && status !== 'archived').map(ofDraft),
  ].sort((a, b) => b.urgency - a.urgency)
  if (needs.length === 0) {
    return (
      <p class="good line soft">
        <Icon name="done" /> All clear: no broken steps, no unpublished drafts.
      </p>
    )
  }
  return (
    <ul class="needs framed entries">
      {needs.map(({ key, badge: [tone, state], title, why, address }) => (
        <li key={key}>
          <a class="line gap-3 grow" href={address}>
            <span class="need-state">
              <Badge tone={tone}>{state}</Badge>
            </span>
            <span class="need grow">
              <strong>{title}</strong>
              <span class="row-note hint">{why}</span>
            </span>
            <Icon name="right" />
          </a>
        </li>
      ))}
    </ul>
  )
}
