import type { Flow } from '../../core/flow/flow.ts'
import type { HealthOutcome } from '../../core/step/health.ts'
import { hourMs } from '../../core/time/durations.ts'
import { systemClock } from '../../runtime/system-clock.ts'
import { askedByPage } from '../manage.ts'
import { type DemoEvent, historyOfDay, lostSince, lostStep } from './history.ts'
import { healthOf } from './present.ts'

/** On some pages this step's element is found in another way, some days after the other one is lost. */
const driftingStep = 'find-help'
const driftsAfterMs = 48 * hourMs
const otherWays: readonly HealthOutcome[] = ['found_by_alternate', 'changed', 'found_by_alternate']
/** The first few of so many looks in a row have those outcomes. */
const looks = 8
/** Reports under way at once, which one commit stores. */
const atOnce = 100
/** The last hours belong to the present. */
const presentMs = 7 * hourMs

/**
 * Sends what pages reported in the past about the elements that they looked for, as they would have sent it,
 * with the clock of that time, because a health report is dated by its receipt.
 */
export async function sendPast(
  { data, snippetKey, now }: { data: string; snippetKey: string; now: number },
  days: readonly number[],
  firstDay: number,
): Promise<void> {
  const machine = systemClock()
  const startedAt = (days[0] ?? 0) * 24 * hourMs
  const startedMonotonic = machine.monotonic()
  let at = startedAt
  const time = { now: () => at, monotonic: () => startedMonotonic + at - startedAt }
  await askedByPage(
    data,
    snippetKey,
    async ({ ask }) => {
      const { flows } = await ask<{ flows: Flow[] }>('GET /flows')
      const steps = new Map(flows.flatMap(({ steps }) => steps).map(step => [step.id, step]))
      const drifts = { looks: 0, since: lostSince(firstDay) + driftsAfterMs }
      const outcomeOf = ({ kind, occurredAt }: DemoEvent, key: string): HealthOutcome | null => {
        const isLost = key === lostStep && occurredAt >= lostSince(firstDay)
        if (kind === 'target_missing') return isLost ? 'not_found' : null
        if (key !== driftingStep || occurredAt < drifts.since) return 'found'
        return otherWays[drifts.looks++ % looks] ?? 'found'
      }
      // Some of what a day's people do happens on later days.
      const seen = days
        .flatMap(day => historyOfDay(day, { flows, firstDay }))
        .filter(({ kind }) => kind === 'step_viewed' || kind === 'target_missing')
        .filter(({ occurredAt }) => occurredAt < now - presentMs)
        .sort((a, b) => a.occurredAt - b.occurredAt)
      while (seen.length > 0) {
        const sent: Promise<unknown>[] = []
        for (const event of seen.splice(0, atOnce)) {
          const step = steps.get(event.stepId ?? '')
          const outcome = step?.target ? outcomeOf(event, step.key) : null
          if (!step || outcome === null) continue
          at = event.occurredAt
          const { userId, anonymousId } = event
          const body = { ...healthOf(step, outcome, sent.length), userId, anonymousId }
          sent.push(ask(`POST /steps/${step.id}/health`, { body }))
        }
        await Promise.all(sent)
      }
    },
    time,
  )
}
