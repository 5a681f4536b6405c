import { shown } from '../text/wording.ts'
import type { Reason } from './audience.ts'
import {
  type Condition,
  conditions,
  countOf,
  isHeldOut,
  lately,
  type Moment,
  type Timed,
} from './moment.ts'
import { spanOf } from './schedule.ts'
import { shownAs } from './shown-as.ts'

/** One condition. `holds` is null if only the browser can tell; then the condition does not decide. */
export interface DecidedRule {
  rule: 'published' | 'url' | 'audience' | Condition | 'frequency' | 'priority' | 'target'
  holds: boolean | null
  why: string
  /** The parts of a condition, such as each rule of an audience. */
  parts: readonly Reason[]
}

/** Whether a new run of a flow may begin, by each rule that the flow or its organisation has. */
export function momentRules(flow: Timed, moment: Moment, goesOn: boolean): DecidedRule[] {
  const { schedule, when, rollout } = flow
  const checked: [Condition, boolean, (holds: boolean) => string][] = [
    ['schedule', schedule !== undefined, holds => scheduleWhy(flow, moment, holds)],
    ['rollout', rollout !== undefined, holds => rolloutWhy(flow, moment, holds)],
    ['after', when?.after !== undefined, holds => afterWhy(when!.after!, holds)],
    ['event', when?.event !== undefined, () => eventWhy(flow, moment)],
    [
      'delay',
      when?.delayMs !== undefined,
      () => `on the page for ${when!.delayMs} ms, which only the browser knows`,
    ],
    ['throttle', moment.throttle !== null && shownAs(flow) === 'steps', () => throttleWhy(moment)],
    [
      'element',
      when?.element !== undefined,
      () => `whether ${shown(when!.element!)} is seen on the page only the browser knows`,
    ],
  ]
  return checked
    .filter(([, isAsked]) => isAsked)
    .map(([rule, , why]): DecidedRule => {
      if (goesOn) return { rule, holds: true, why: 'a run goes on', parts: [] }
      const holds = judged(rule, flow, moment)
      return { rule, holds, why: why(holds !== false), parts: [] }
    })
}

function judged(rule: Condition, flow: Timed, moment: Moment): boolean | null {
  const isUnknown =
    ((rule === 'delay' || rule === 'element') && moment.onPage === null) ||
    (rule === 'rollout' && moment.person === null && flow.rollout!.percent > 0)
  if (isUnknown) return null
  if (rule === 'rollout' && moment.person === null) return false
  return conditions[rule](flow, moment) && !(rule === 'rollout' && isHeldOut(flow, moment))
}

/** UTC, to the minute, for people to read. */
const minute = (epochMs: number) =>
  `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function scheduleWhy({ schedule }: Timed, { now }: Moment, holds: boolean): string {
  const { from, to } = spanOf(schedule!)
  if (now < from) return `it begins on ${minute(from)}`
  if (!holds) return `it was over on ${minute(to)}; only runs that have begun go on`
  return to === Number.POSITIVE_INFINITY ? 'it has begun, and has no end' : `until ${minute(to)}`
}

function rolloutWhy({ rollout }: Timed, { person }: Moment, holds: boolean): string {
  const { percent, holdOut } = rollout!
  const part = `${percent} % of people see it${holdOut ? `, but for ${holdOut} % of these, who are held back` : ''}`
  if (person === null) return `${part}: name a person to know of them`
  return `${part}: this person ${holds ? 'is one of them' : 'is not one of them'}`
}

const afterWhy = (key: string, holds: boolean) =>
  holds ? `${key} was completed` : `${key} was not completed by this person, or is not published`

function eventWhy({ when }: Timed, moment: Moment): string {
  const { event, count = 1, within } = when!
  const times = (n: number) => `${n} ${n === 1 ? 'time' : 'times'}`
  const lately = within === undefined ? '' : ` in the last ${within}`
  return `${shown(event!)} was caused ${times(countOf(when!, moment))}${lately}, ${times(count)} needed; as far as the server knows`
}

function throttleWhy({ throttle, now }: Moment): string {
  const { most, begun } = throttle!
  return `${lately(begun, now)} of at most ${most} interruptions in the last 24 hours`
}
