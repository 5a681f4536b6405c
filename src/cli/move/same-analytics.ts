import { isDeepStrictEqual } from 'node:util'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import { dayMs } from '../../core/time/durations.ts'
import { analyticsService, questionOf } from '../../modules/analytics/service.ts'
import type { View } from '../../storage/postgres/move/views.ts'

/** How many days are asked for at once. */
const windowDays = 366

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * Whether two stores answer the same about every flow that was ever published, over all of its time.
 *
 * @param onFlow told before each flow is asked about
 * @returns a flow about which they differ, and for which time; null if there is none
 */
export async function differingFlow(
  sides: readonly [View, View],
  now: number,
  onFlow: (done: number, of: number) => void,
): Promise<string | null> {
  const [one, other] = sides
  const ids = [...new Set([...one.flowIds, ...other.flowIds])]
  for (const [done, id] of ids.entries()) {
    onFlow(done, ids.length)
    const [flow, twin] = await Promise.all(sides.map(({ stores }) => stores.catalogue().flow(id)))
    if (!flow || !twin) return `flow ${id} is on one side only`
    const told = `flow "${flow.key}" of "${flow.organisation.slug}" (${id})`
    for (let from = 0; ; ) {
      const starts = [await firstStart(one, flow, from), await firstStart(other, twin, from)]
      const start = Math.min(...starts)
      if (start === Number.POSITIVE_INFINITY) break
      const answers = [await answer(one, flow, start, now), await answer(other, twin, start, now)]
      if (!isDeepStrictEqual(answers[0], answers[1])) {
        return `${told} has other analytics from ${dateOf(start)} on`
      }
      from = endOf(start)
    }
  }
  return null
}

const endOf = (start: number) => (Math.floor(start / dayMs) + windowDays) * dayMs

/** When the flow's first run at or after a moment began. */
async function firstStart({ stores }: View, flow: FlowEntry, startMs: number): Promise<number> {
  const range = { from: '', to: '', timezone: 'UTC', days: [], startMs }
  const runs = stores.analytics.runs(flow.organisation.ref, flow.ref, {
    ...{ ...range, endMs: Number.MAX_SAFE_INTEGER },
  })
  for await (const [first] of runs) if (first) return first.startedAt
  return Number.POSITIVE_INFINITY
}

function answer({ stores }: View, flow: FlowEntry, start: number, now: number) {
  const analytics = analyticsService({ stores, clock: { now: () => now, monotonic: () => 0 } })
  const asked = {
    from: dateOf(start),
    to: dateOf(endOf(start) - dayMs),
    timezone: 'UTC',
    ...{ distribution: '1' as const, ways: '1' as const, interval: 'week' as const },
  }
  return analytics.answer(questionOf(flow, asked, now), new AbortController().signal)
}
