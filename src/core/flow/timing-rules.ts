import { readSelector } from '../step/selector-syntax.ts'
import { quoted } from '../text/wording.ts'
import { dayMs } from '../time/durations.ts'
import type { FlowDefinition } from './flow.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { isDay, isZone, spanMs, spanOf } from './schedule.ts'
import { eventProblems } from './step-rules.ts'
import type { Goal, Rollout, Schedule, When } from './timing.ts'

/** Problems with the zone of a flow's times. */
export function* zoneProblems({ timezone }: Pick<Schedule, 'timezone'>): Iterable<FlowProblem> {
  if (isZone(timezone)) return
  const message = `Unknown time zone ${quoted(timezone)}: write an IANA name, such as Europe/Berlin or UTC`
  yield error('invalid_timezone', '/timezone', message)
}

/** Problems with the times of a flow. */
export function* scheduleProblems(schedule: Schedule): Iterable<FlowProblem> {
  const { from, to, timezone } = schedule
  let isRight = isZone(timezone)
  for (const name of ['from', 'to'] as const) {
    const local = schedule[name]
    if (local === undefined || isDay(local)) continue
    isRight = false
    yield error(
      'invalid_time',
      `/${name}`,
      `${quoted(local)} is not a day in the calendar: write another one`,
    )
  }
  if (from === undefined && to === undefined) {
    yield warning('empty_schedule', '', 'The schedule has no time: add from or to, or remove it')
  } else if (isRight) {
    const span = spanOf(schedule)
    if (span.from < span.to) return
    yield error('never_shown', '/to', 'The flow ends before it begins: put "to" after "from"')
  }
}

/** Events further back are not looked up. */
const maxWithinMs = 365 * dayMs

/** Problems with what a flow waits for. */
export function* whenProblems(when: When): Iterable<FlowProblem> {
  const { event, count, within, element } = when
  if (event !== undefined) {
    const inVain = { code: 'never_sent', consequence: 'The flow never begins' }
    yield* eventProblems(event, '/event', inVain)
  } else {
    for (const [name, value] of Object.entries({ count, within })) {
      if (value === undefined) continue
      const message = `This has no effect without an event: add its name as "event", or remove "${name}"`
      yield warning('unused_field', `/${name}`, message)
    }
  }
  if (within !== undefined && spanMs(within) > maxWithinMs) {
    const message = 'A limit can be at most a year: write at most 365d, or remove it for no limit'
    yield error('too_long', '/within', message)
  }
  if (element !== undefined) {
    const read = readSelector(element)
    if ('problem' in read) yield error('invalid_selector', '/element', read.problem)
  }
}

/** Problems with the share of people that a flow is for. */
export function* rolloutProblems({ percent, holdOut }: Rollout): Iterable<FlowProblem> {
  if (percent === 0) {
    yield warning('never_shown', '/percent', 'Nobody sees the flow: write a percentage above 0')
  } else if (percent === 100 && holdOut === undefined) {
    yield warning('unused_field', '/percent', 'Everybody sees the flow without it: remove it')
  }
}

/** Problems with the goal of a flow. */
export function* goalProblems({ event }: Goal): Iterable<FlowProblem> {
  const inVain = { code: 'never_sent', consequence: 'Nobody reaches the goal' }
  yield* eventProblems(event, '/event', inVain)
}

/** Problems with how these parts of a flow fit together. */
export function* timingProblems({
  key,
  when,
  rollout,
  goal,
}: Pick<FlowDefinition, 'key' | 'when' | 'rollout' | 'goal'>): Iterable<FlowProblem> {
  if (when?.after === key) {
    const message = 'The flow waits for itself and never begins: name another flow'
    yield error('waits_for_itself', '/when/after', message)
  }
  if (rollout?.holdOut !== undefined && goal === undefined) {
    const message =
      'People are held back without a goal to compare: add goal with the event that the flow should lead to'
    yield warning('no_goal', '/rollout/holdOut', message)
  }
  if (goal !== undefined && rollout?.holdOut === undefined) {
    const message =
      'The goal is measured against people who are held back: add rollout.holdOut, or remove it'
    yield warning('unused_goal', '/goal', message)
  }
}

/** A flow that waits for another one. */
type Waiting = Pick<FlowDefinition, 'key' | 'when'>

/**
 * Problems of flows that wait for each other, by flow key. Flows that wait in a circle never begin, and a
 * flow that is not among these has to be published in another way.
 *
 * @param others keys of flows that are known besides
 */
export function waitingProblems(
  flows: readonly Waiting[],
  others: readonly string[] = [],
): Map<string, FlowProblem> {
  const byKey = new Map(flows.map(flow => [flow.key, flow]))
  const problems = new Map<string, FlowProblem>()
  const place = '/when/after'
  for (const { key, when } of flows) {
    const after = when?.after
    if (after === undefined || after === key) continue
    if (!byKey.has(after)) {
      if (others.includes(after)) continue
      const message = `No flow here has the key ${quoted(after)}: the flow begins only where another file publishes it`
      problems.set(key, warning('unknown_flow', place, message))
      continue
    }
    const seen = new Set([key])
    for (let next: string | undefined = after; next !== undefined; ) {
      if (next === key) {
        const message = `This flow and ${quoted(after)} wait for each other, and neither begins: remove one "after"`
        problems.set(key, error('waits_in_circle', place, message))
        break
      }
      if (seen.has(next)) break
      seen.add(next)
      next = byKey.get(next)?.when?.after
    }
  }
  return problems
}
