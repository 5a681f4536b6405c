import type { ComponentChildren } from 'preact'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import type { Installation } from '../installation/state.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOfFirst } from '../shell/offered.ts'
import { type CheckedStep, type StepCheck, toneOfState } from '../steps/health.ts'
import { flowWords } from '../words/flows.ts'
import { overviewWords as words } from '../words/overview.ts'
import { formatAge, formatPercent } from '../words/time.ts'

interface Need {
  key: string
  /** The more, the sooner. */
  urgency: number
  badge: [Tone, string]
  title: string
  why: ComponentChildren
  address: string
}

function ofStep(step: CheckedStep, flows: readonly AuthoredFlow[]): Need {
  const flow = flows.find(({ key }) => key === step.flow)
  const people = Object.values(step.people).reduce((sum, count) => sum + count, 0)
  const since = step.missesSince ?? step.makeshiftSince
  return {
    key: `step ${step.stepId}`,
    urgency: step.state === 'broken' ? 4 : step.state === 'flaky' ? 3 : 1,
    badge: [toneOfState[step.state], flowWords.health[step.state]],
    title: words.step(step.step, flow?.name ?? step.flow),
    why: (
      <>
        {step.state === 'drifting'
          ? words.drifting(people)
          : step.okRate !== null && words.found(formatPercent(step.okRate), people)}
        {since && `, ${words.since(formatAge(Date.parse(since)))}`}.{' '}
        {step.suggestion && words.suggestion}
      </>
    ),
    address: addressOfFirst(['flows/:flow/health', 'flows/:flow'], step.flow),
  }
}

const ofDraft = (flow: AuthoredFlow): Need => ({
  key: `draft ${flow.key}`,
  urgency: 0,
  badge: ['accent', flowWords.waiting],
  title: flow.version === null ? words.draftNew(flow.name) : words.draft(flow.name),
  why: words.changed(formatAge(Date.parse(flow.updatedAt))),
  address: addressOfFirst(['flows/:flow/versions', 'flows/:flow'], flow.key),
})

const ofFinding = ({
  code,
  severity,
  message,
  fix,
  since,
}: Installation['findings'][number]): Need => ({
  key: `finding ${code}`,
  urgency: severity === 'error' ? 5 : 2,
  badge: [severity === 'error' ? 'bad' : 'warn', words.finding[severity]],
  title: message,
  why: since === null ? fix : `${words.sinceAge(formatAge(Date.parse(since)))} ${fix}`,
  address: addressOfFirst(['install', '']),
})

/** What goes wrong, or waits, until somebody looks at it. */
export function Needs({
  flows,
  check,
  installation,
}: {
  flows: readonly AuthoredFlow[]
  check: StepCheck
  installation: Installation
}) {
  const needs = [
    ...installation.findings.filter(({ severity }) => severity !== 'info').map(ofFinding),
    ...check.steps
      .filter(({ state }) => state !== 'healthy' && state !== 'unknown')
      .map(step => ofStep(step, flows)),
    ...flows.filter(({ hasDraft, status }) => hasDraft && status !== 'archived').map(ofDraft),
  ].sort((a, b) => b.urgency - a.urgency)
  if (needs.length === 0) {
    return (
      <p class="all-well">
        <Icon name="done" /> {words.nothingNeeded}
      </p>
    )
  }
  return (
    <ul class="needs">
      {needs.map(({ key, badge: [tone, state], title, why, address }) => (
        <li key={key}>
          <a href={address}>
            <span class="need-state">
              <Badge tone={tone}>{state}</Badge>
            </span>
            <span class="need">
              <strong>{title}</strong>
              <span class="hint">{why}</span>
            </span>
            <Icon name="right" />
          </a>
        </li>
      ))}
    </ul>
  )
}
