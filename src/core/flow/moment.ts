import { dayMs } from '../time/durations.ts'
import type { FlowDefinition } from './flow.ts'
import { rolloutOf } from './rollout.ts'
import { spanMs, spanOf } from './schedule.ts'
import { type FlowParts, shownAs } from './shown-as.ts'

/** What is known beside the page and the person's traits, where it is decided whether a flow begins. */
export interface Moment {
  /** By the server's clock, epoch milliseconds. */
  now: number
  /** As `personOf` names them; null for somebody new. */
  person: string | null
  /** Keys of the published flows that they have completed. */
  completed: ReadonlySet<string>
  /** When they caused custom events, by name, epoch milliseconds: as many of the newest as flows ask for. */
  events: Readonly<Record<string, readonly number[]>>
  /** The organisation's most interruptions in 24 hours, and when each began; null without such a rule. */
  throttle: { most: number; begun: readonly number[] } | null
  /** What only a browser knows; null elsewhere, where it does not decide. */
  onPage: {
    /** How long the person has been on the page, milliseconds. */
    viewedMs: number
    sees(selector: string): boolean
  } | null
}

/** What of a flow says when it begins, and for whom. */
export type Timed = FlowParts & Pick<FlowDefinition, 'key' | 'schedule' | 'when' | 'rollout'>

/** Somebody new at a moment, elsewhere than on a page. */
export const newcomer = (now: number): Moment => ({
  now,
  person: null,
  completed: new Set(),
  events: {},
  throttle: null,
  onPage: null,
})

/** How often an event that a flow waits for was caused, as lately as it has to be. */
export function countOf(
  { event = '', within }: NonNullable<Timed['when']>,
  moment: Moment,
): number {
  const since = within === undefined ? Number.NEGATIVE_INFINITY : moment.now - spanMs(within)
  return (moment.events[event] ?? []).filter(at => at > since).length
}

/** What keeps a new run of a flow from beginning, in the order in which it is told. */
export const hurdles = {
  schedule({ schedule }: Timed, { now }: Moment): boolean {
    if (!schedule) return true
    const { from, to } = spanOf(schedule)
    return now >= from && now < to
  },
  /** Of those who are held back it is true as well: they are told apart where it is decided. */
  rollout: (flow: Timed, { person }: Moment): boolean =>
    person === null || rolloutOf(flow, person) !== 'out',
  after: ({ when }: Timed, { completed }: Moment): boolean =>
    when?.after === undefined || completed.has(when.after),
  event: ({ when }: Timed, moment: Moment): boolean =>
    when?.event === undefined || countOf(when, moment) >= (when.count ?? 1),
  delay: ({ when }: Timed, { onPage }: Moment): boolean =>
    onPage === null || onPage.viewedMs >= (when?.delayMs ?? 0),
  throttle: (flow: Timed, { throttle, now }: Moment): boolean =>
    throttle === null || shownAs(flow) !== 'steps' || lately(throttle.begun, now) < throttle.most,
  /** Last, for it takes a look at the page. */
  element: ({ when }: Timed, { onPage }: Moment): boolean =>
    onPage === null || when?.element === undefined || onPage.sees(when.element),
}

export type Hurdle = keyof typeof hurdles

/** Who says whether a new run of a flow may begin, and whether a person is held back from it. */
export interface Judge {
  mayBegin(flow: Timed): boolean
  isHeldOut(flow: Timed): boolean
}

/** By time, number and what has happened. */
export const judgeOf = (moment: Moment): Judge => ({
  mayBegin: flow => Object.values(hurdles).every(passed => passed(flow, moment)),
  isHeldOut: flow => isHeldOut(flow, moment),
})

/** Whether a flow is for a person, by what they have done and by their place among all. */
export const isForPerson = (flow: Timed, moment: Moment): boolean =>
  hurdles.rollout(flow, moment) &&
  !isHeldOut(flow, moment) &&
  hurdles.after(flow, moment) &&
  hurdles.event(flow, moment)

export const isHeldOut = (flow: Timed, { person }: Moment): boolean =>
  person !== null && rolloutOf(flow, person) === 'held_out'

/** When each flow that interrupts a person began last, epoch milliseconds. */
export const interruptions = (
  met: readonly { flow: FlowParts; history: { startedAt: number | null } }[],
): number[] =>
  met.flatMap(({ flow, history: { startedAt } }) =>
    startedAt === null || shownAs(flow) !== 'steps' ? [] : startedAt,
  )

/** How many interruptions began within a day before. */
export const lately = (begun: readonly number[], now: number): number =>
  begun.filter(at => at > now - dayMs).length

/** In how many milliseconds time alone may let a new run begin; infinity where it will not. */
export function changesInMs(flow: Timed, { now, throttle, onPage }: Moment): number {
  const { schedule, when } = flow
  const waits = [
    schedule ? spanOf(schedule).from - now : 0,
    (when?.delayMs ?? 0) - (onPage?.viewedMs ?? 0),
    ...(throttle?.begun ?? []).map(at => at + dayMs - now),
  ]
  return Math.min(...waits.filter(ms => ms > 0))
}
