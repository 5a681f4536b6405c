import { hash32 } from '../number/hash32.ts'
import { dayMs } from '../time/durations.ts'
import type { FlowDefinition } from './flow.ts'
import { spanMs, spanOf } from './schedule.ts'
import { type FlowParts, shownAs } from './shown-as.ts'
import type { Rollout } from './timing.ts'

/** What is known besides the page and the person's traits when it is decided whether a flow begins. */
export interface Moment {
  /** By the server's clock, epoch milliseconds. */
  now: number
  /** As `personOf` names them; null for somebody new. */
  person: string | null
  /** Keys of the published flows that they have completed. */
  completed: ReadonlySet<string>
  /** When they caused custom events, by name, epoch milliseconds: as many of the newest as flows ask for. */
  events: Readonly<Record<string, readonly number[]>>
  /** The organisation's limit of interruptions in 24 hours, and when each began; null without such a limit. */
  throttle: { most: number; begun: readonly number[] } | null
  /** What only a browser knows; null elsewhere, and then it does not decide. */
  onPage: {
    /** How long the person has been on the page, milliseconds. */
    viewedMs: number
    sees(selector: string): boolean
    /** Whether the trigger of a flow has fired just now. */
    isTriggered(flow: Timed): boolean
  } | null
}

/** The parts of a flow that say when it begins, and for whom. */
export type Timed = FlowParts & Pick<FlowDefinition, 'key' | 'schedule' | 'when' | 'rollout'>

/** A new person at a moment, without a page. */
export const newcomer = (now: number): Moment => ({
  now,
  person: null,
  completed: new Set(),
  events: {},
  throttle: null,
  onPage: null,
})

/** How often an event that a flow waits for was caused, counting only times within `within`. */
export function countOf(
  { event = '', within }: NonNullable<Timed['when']>,
  moment: Moment,
): number {
  const since = within === undefined ? Number.NEGATIVE_INFINITY : moment.now - spanMs(within)
  return (moment.events[event] ?? []).filter(at => at > since).length
}

/** The conditions for a new run of a flow. Null if only the browser, or the person, would decide. */
export const momentConditions = {
  schedule({ schedule }: Timed, { now }: Moment): boolean {
    if (!schedule) return true
    const { from, to } = spanOf(schedule)
    return now >= from && now < to
  },
  /** Also true for people who are held out: `isHeldOut` finds them. */
  rollout(flow: Timed, { person }: Moment): boolean | null {
    if (!flow.rollout) return true
    if (person === null) return flow.rollout.percent > 0 && null
    return rolloutOf(flow, person) !== 'out'
  },
  after: ({ when }: Timed, { completed }: Moment): boolean =>
    when?.after === undefined || completed.has(when.after),
  event: ({ when }: Timed, moment: Moment): boolean =>
    when?.event === undefined || countOf(when, moment) >= (when.count ?? 1),
  delay: ({ when }: Timed, { onPage }: Moment): boolean | null =>
    when?.delayMs === undefined || (onPage && onPage.viewedMs >= when.delayMs),
  throttle: (flow: Timed, { throttle, now }: Moment): boolean =>
    throttle === null || shownAs(flow) !== 'steps' || lately(throttle.begun, now) < throttle.most,
  trigger: (flow: Timed, { onPage }: Moment): boolean | null =>
    flow.when?.trigger === undefined || (onPage?.isTriggered(flow) ?? null),
  /** Last, because it has to look at the page. */
  element: ({ when }: Timed, { onPage }: Moment): boolean | null =>
    when?.element === undefined || (onPage?.sees(when.element) ?? null),
}

/** Decides whether a new run of a flow may begin, and whether a person is held back from it. */
export interface Judge {
  mayBegin(flow: Timed): boolean
  isHeldOut(flow: Timed): boolean
}

/** A judge that goes by time, numbers and what has happened. */
export const judgeOf = (moment: Moment): Judge => ({
  mayBegin: flow => Object.values(momentConditions).every(holds => holds(flow, moment) !== false),
  isHeldOut: flow => isHeldOut(flow, moment),
})

/** Whether a flow is for a person, by what they have done and by their share of the rollout. */
export const isForPerson = (flow: Timed, moment: Moment): boolean =>
  momentConditions.rollout(flow, moment) !== false &&
  !isHeldOut(flow, moment) &&
  momentConditions.after(flow, moment) &&
  momentConditions.event(flow, moment)

export const isHeldOut = (flow: Timed, { person }: Moment): boolean =>
  person !== null && rolloutOf(flow, person) === 'held_out'

/** When each flow that interrupts a person last began, epoch milliseconds. */
export const interruptions = (
  met: readonly { flow: FlowParts; history: { startedAt: number | null } }[],
): number[] =>
  met.flatMap(({ flow, history: { startedAt } }) =>
    startedAt === null || shownAs(flow) !== 'steps' ? [] : startedAt,
  )

/** How many interruptions began within the last day. */
export const lately = (begun: readonly number[], now: number): number =>
  begun.filter(at => at > now - dayMs).length

/** After how many milliseconds the passing of time alone may let a new run begin; infinity if it will not. */
export function changesInMs(flow: Timed, { now, throttle, onPage }: Moment): number {
  const { schedule, when } = flow
  const waits = [
    schedule ? spanOf(schedule).from - now : 0,
    (when?.delayMs ?? 0) - (onPage?.viewedMs ?? 0),
    ...(throttle?.begun ?? []).map(at => at + dayMs - now),
  ]
  return Math.min(...waits.filter(ms => ms > 0))
}

/** Maps a text to a place from 0 to below 1. */
const placeOf = (text: string): number => hash32(text) / 2 ** 32

/**
 * Whether a flow is for a person. This depends on their place, which differs from flow to flow, and again
 * for the hold-out. A person who is in stays in when the percentage grows, and a person who is held back
 * stays held back.
 *
 * @param person as `personOf` names them
 */
export function rolloutOf(
  { key, rollout }: { key: string; rollout?: Rollout },
  person: string,
): 'in' | 'out' | 'held_out' {
  if (!rollout) return 'in'
  const { percent, holdOut = 0 } = rollout
  if (placeOf(`${key}\n${person}`) * 100 >= percent) return 'out'
  return placeOf(`${key}\nhold-out\n${person}`) * 100 < holdOut ? 'held_out' : 'in'
}
