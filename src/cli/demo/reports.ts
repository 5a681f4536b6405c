import type { Step } from '../../core/flow/flow.ts'
import type { HealthOutcome } from '../../core/step/health.ts'
import { hourMs } from '../../core/time/durations.ts'
import { version as snippetVersion } from '../../core/version.ts'
import type { Asker } from '../asking.ts'
import { type DemoEvent, lostShare, lostStep } from './history.ts'

/** What pages report about the elements that steps point at. */

/** Two days after one step has lost its element, some pages find this one's only in another way. */
const driftingStep = 'find-help'
const driftsAfterMs = 48 * hourMs
const otherWays: readonly HealthOutcome[] = ['found_by_alternate', 'changed', 'found_by_alternate']
const looks = 8

const button = (name: string, classes: string[], ancestors: object[]) => ({
  ...{ tag: 'button', role: 'button', name, text: name, attributes: { type: 'button' } },
  ...{ classes, ancestors },
})
const inHeader = [{ tag: 'header', nth: 0 }]
const inBoard = [{ tag: 'main', role: 'main', nth: 2 }]

/** The elements of steps by key: as pages describe them at first, and since they have changed. */
const elements: Record<string, { before: object; after?: { selector: string } }> = {
  hello: { before: { tag: 'nav', role: 'navigation', name: 'Harbor', ariaLabel: 'Harbor' } },
  'create-project': { before: button('New project', ['main'], inHeader) },
  [lostStep]: {
    before: button('Add a task', ['task-add'], inBoard),
    after: { selector: 'button.task-new', ...button('Add a task', ['task-new'], inBoard) },
  },
  'invite-team': {
    before: { tag: 'input', id: 'address', name: 'E-mail', attributes: { type: 'email' } },
  },
  [driftingStep]: {
    before: { ...button('Help', [], inHeader), ariaLabel: 'Help' },
    after: {
      selector: '[role="banner"] [aria-label="Help"]',
      ...button('Help', [], [{ tag: 'div', role: 'banner', nth: 0 }]),
      ...{ ariaLabel: 'Help' },
    },
  },
}

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

/**
 * The report of a page about the step of an event; null if there is none.
 *
 * @param site origin of the demo's site: the dashboard offers pages that reported a step for building on them
 */
export function healthReport(
  event: Pick<DemoEvent, 'kind' | 'occurredAt' | 'userId' | 'anonymousId'>,
  step: Step,
  lostAt: number,
  look: number,
  site: string,
) {
  const outcome = step.target && outcomeOf(event, step, lostAt, look)
  if (!outcome) return null
  const { userId, anonymousId } = event
  const isMissing = outcome === 'not_found'
  const project = ['atlas', 'borealis'][look % 2]
  const other = outcome === 'found_by_alternate' ? elements[step.key]?.after : undefined
  return {
    ...{ userId, anonymousId, outcome, snippetVersion },
    url: `${site}${step.page?.pattern ?? `/projects/${project}`}?view=board`,
    selector: (other ?? step.target)?.selector,
    matchCount: isMissing ? 0 : 1,
    waitMs: isMissing ? step.target?.waitMs : 40 + (look % 10) * 25,
    ...(isMissing && { message: 'No element after waiting' }),
  }
}

/** How many people's pages report at the end. With fewer than five in a day, a step's health is unknown. */
const reporters = 8

/** Sends what pages report now, so that the demo shows the state of each step at any time of a week. */
export async function reportPresent(
  ask: Asker['ask'],
  {
    steps,
    now,
    lostAt,
    site,
  }: { steps: readonly Step[]; now: number; lostAt: number; site: string },
): Promise<void> {
  await ask(`GET /heartbeat?${new URLSearchParams({ v: snippetVersion, sid: 'demo' })}`)
  for (const step of steps) {
    if (!elements[step.key]) continue
    for (let look = 0; look < reporters; look++) {
      const isMissing = step.key === lostStep && look < reporters * lostShare
      const kind = isMissing ? 'target_missing' : 'step_viewed'
      const event = { kind, occurredAt: now, userId: `u${look + 1}` } as const
      const body = healthReport(event, step, lostAt, look, site)
      if (body) await ask(`POST /steps/${step.id}/health`, { body })
    }
    await reportFingerprints(ask, step, site)
  }
}

/** First the element as it was, which becomes the baseline; if it has changed, then as three pages see it. */
async function reportFingerprints(ask: Asker['ask'], step: Step, site: string): Promise<void> {
  const { before, after } = elements[step.key]!
  const page = { url: `${site}/projects`, locale: 'en', snippetVersion }
  const rect = { x: 24, y: 64, width: 132, height: 36 }
  const whole = (element: object, matchCount = 1) => ({
    ...{ selector: step.target!.selector, nthOfType: 0, rect },
    ...{ ...element, matchCount },
  })
  const send = (fingerprint: object | null, candidates: object[] = []) =>
    ask(`POST /steps/${step.id}/fingerprint`, { body: { fingerprint, candidates, ...page } })
  await send(whole(before))
  if (!after) return
  for (let i = 0; i < 3; i++) {
    await send(step.key === lostStep ? null : whole(after, 0), [whole(after)])
  }
}
