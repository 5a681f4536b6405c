import type { Step } from '../../core/flow/flow.ts'
import type { HealthOutcome } from '../../core/step/health.ts'
import { hourMs } from '../../core/time/durations.ts'
import { version as snippetVersion } from '../../core/version.ts'
import type { Asker } from '../asking.ts'
import { type DemoEvent, demoOrigin, lostShare, lostStep } from './history.ts'

/** What pages report about the elements that steps point at. */

/** Some days after one step has lost its element, some pages find this one's only in another way. */
const driftingStep = 'find-help'
const driftsAfterMs = 48 * hourMs
const otherWays: readonly HealthOutcome[] = ['found_by_alternate', 'changed', 'found_by_alternate']
const looks = 8

const inHeader = [{ tag: 'header', nth: 0 }]
const inRow = [
  { tag: 'div', nth: 1 },
  { tag: 'main', role: 'main', nth: 2 },
]
const button = (name: string, more: Record<string, unknown>) => ({
  ...{ tag: 'button', role: 'button', name, text: name, attributes: { type: 'button' } },
  ...more,
})

/** The elements of the steps by key, as pages described them at first. */
const elements: Record<string, Record<string, unknown>> = {
  hello: { tag: 'nav', role: 'navigation', name: 'Harbor', ariaLabel: 'Harbor' },
  'create-project': button('New project', { classes: ['main'], ancestors: inHeader }),
  [lostStep]: button('Add a task', { classes: ['task-add'], ancestors: inRow }),
  'invite-team': {
    ...{ tag: 'input', id: 'address', name: 'E-mail', ariaLabel: 'E-mail', ancestors: inRow },
    attributes: { type: 'email', placeholder: 'name@example.com' },
  },
  [driftingStep]: button('Help', { ariaLabel: 'Help', text: '?', ancestors: inHeader }),
}
/** What has changed: the button's classes, and the element around Help. */
const changes: Record<string, { selector: string } & Record<string, unknown>> = {
  [lostStep]: { selector: 'button.task-new', classes: ['task-new'] },
  [driftingStep]: {
    selector: '[role="banner"] [aria-label="Help"]',
    ancestors: [{ tag: 'div', role: 'banner', nth: 0 }],
  },
}

const fingerprintOf = (step: Step, change: Record<string, unknown> = {}) => ({
  selector: step.target?.selector ?? 'body',
  matchCount: 1,
  ...(elements[step.key] ?? { tag: 'button' }),
  nthOfType: 0,
  rect: { x: 24, y: 64, width: 132, height: 36 },
  ...change,
})

/**
 * How a page found the element of a step that it showed or missed; null if it reports nothing.
 *
 * @param look makes pages differ
 */
function outcomeOf(
  { kind, occurredAt }: Pick<DemoEvent, 'kind' | 'occurredAt'>,
  step: Step,
  lostAt: number,
  look: number,
): HealthOutcome | null {
  if (kind === 'target_missing') {
    return step.key === lostStep && occurredAt >= lostAt ? 'not_found' : null
  }
  if (kind !== 'step_viewed') return null
  const isDrifting = step.key === driftingStep && occurredAt >= lostAt + driftsAfterMs
  return (isDrifting && otherWays[look % looks]) || 'found'
}

/** The report of a page about the step of an event; null if there is none. */
export function healthReport(
  event: Pick<DemoEvent, 'kind' | 'occurredAt' | 'userId' | 'anonymousId'>,
  step: Step,
  lostAt: number,
  look: number,
) {
  const outcome = step.target && outcomeOf(event, step, lostAt, look)
  if (!outcome) return null
  const { userId, anonymousId } = event
  const isMissing = outcome === 'not_found'
  const project = ['atlas', 'borealis'][look % 2]
  return {
    ...{ userId, anonymousId, outcome, snippetVersion },
    url: `${demoOrigin}${step.page?.pattern ?? `/projects/${project}`}?view=board`,
    selector:
      outcome === 'found_by_alternate' ? changes[step.key]?.selector : step.target?.selector,
    matchCount: isMissing ? 0 : 1,
    waitMs: isMissing ? step.target?.waitMs : 40 + (look % 10) * 25,
    ...(isMissing && { message: 'No element after waiting' }),
  }
}

/** How many people's pages report at the end. With fewer than five in a day, a step's health is unknown. */
const reporters = 8

/** Sends what pages say right now, so that the demo shows the state of each step at any time of a week. */
export async function reportPresent(
  ask: Asker['ask'],
  { steps, now, lostAt }: { steps: readonly Step[]; now: number; lostAt: number },
): Promise<void> {
  await ask(`GET /heartbeat?${new URLSearchParams({ v: snippetVersion, sid: 'demo' })}`)
  for (const step of steps) {
    for (let look = 0; look < reporters; look++) {
      const isMissing = step.key === lostStep && look < reporters * lostShare
      const kind = isMissing ? 'target_missing' : 'step_viewed'
      const event = { kind, occurredAt: now, userId: `u${look + 1}` } as const
      const body = healthReport(event, step, lostAt, look)
      if (body) await ask(`POST /steps/${step.id}/health`, { body })
    }
    if (elements[step.key]) await reportFingerprints(ask, step)
  }
}

/** First the element as it was, which becomes the baseline; if it has changed, then as three pages see it. */
async function reportFingerprints(ask: Asker['ask'], step: Step): Promise<void> {
  const send = (fingerprint: unknown, candidates: readonly unknown[] = []) =>
    ask(`POST /steps/${step.id}/fingerprint`, {
      body: {
        ...{ fingerprint, candidates, snippetVersion },
        url: `${demoOrigin}/projects`,
        locale: 'en',
        viewport: { width: 1440, height: 900 },
      },
    })
  await send(fingerprintOf(step))
  const change = changes[step.key]
  if (!change) return
  const element = fingerprintOf(step, change)
  const isFound = step.key !== lostStep
  for (let page = 0; page < 3; page++) {
    await send(isFound ? { ...element, matchCount: 0 } : null, [element])
  }
}
