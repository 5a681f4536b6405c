import { shown } from '../text/wording.ts'
import { type Reason, ruleHolds } from './audience.ts'
import {
  type Candidate,
  comesBefore,
  type FlowHistory,
  firstDue,
  type Place,
  pageConditions,
} from './decision.ts'
import type { FlowStatus, UrlRule } from './flow.ts'
import { countOf, isHeldOut, judgeOf, lately, type Moment, momentConditions } from './moment.ts'
import { spanOf } from './schedule.ts'
import { shownAs } from './shown-as.ts'
import { patternProblem } from './url-pattern.ts'
import { pageOf, urlMatches } from './url-rule.ts'

/** Where a person is, who they are, and everything else that is known at the moment. */
export interface Visit extends Place, Moment {}

type Condition = keyof typeof pageConditions | keyof typeof momentConditions

/** One condition. `holds` is null if only the browser can tell; then the condition does not decide. */
export interface DecidedRule {
  rule: Condition | 'priority' | 'target'
  holds: boolean | null
  why: string
  /** The parts of a condition, such as each rule of an audience. */
  parts: readonly Reason[]
}

export interface Decision {
  shown: boolean
  /** All conditions, whichever fails. */
  rules: DecidedRule[]
  /** The key of the flow that the person sees there, which may be a different one. */
  winner: string | null
}

/**
 * Whether a person sees a flow on a page, and why. One flow is shown at a time: of the flows whose own
 * conditions all hold, the one with the highest priority; if priorities are equal, the first by key. A
 * checklist waits beside the page while tours and announcements come and go, so it only competes with
 * checklists. (A person who is just seeing a step of another flow is not interrupted; only the browser
 * knows that.)
 *
 * How often, by the flow's `frequency`:
 * - `once`: one run, ever. It continues over page loads until it is completed or dismissed.
 * - `until_completed`: again after a dismissal, until a run was completed.
 * - `always`: each time that the other conditions hold.
 *
 * @param others the organisation's other flows
 */
export function decide(candidate: Candidate, visit: Visit, others: readonly Candidate[]): Decision {
  const rivals = others.filter(
    ({ flow, history }) =>
      shownAs(flow) === shownAs(candidate.flow) &&
      // Only the browser knows of its trigger, without which it takes nobody's place.
      (visit.onPage !== null || history.inProgress || flow.when?.trigger === undefined),
  )
  const best = firstDue(rivals, visit, judgeOf(visit))
  const rules = [
    ...(Object.keys(reasons) as Condition[]).flatMap(name => ruleOf(name, candidate, visit)),
    priorityRule(candidate, best),
    ...targetRules(candidate),
  ]
  const isShown = rules.every(({ holds }) => holds !== false)
  return { shown: isShown, rules, winner: isShown ? candidate.flow.key : (best?.flow.key ?? null) }
}

/** A condition with its reason; none if neither the flow nor its organisation has it. */
function ruleOf(rule: Condition, candidate: Candidate, visit: Visit): DecidedRule[] {
  const { flow, history } = candidate
  const isOfPage = rule in pageConditions
  const holds = isOfPage
    ? pageConditions[rule as keyof typeof pageConditions](candidate, visit)
    : momentConditions[rule as keyof typeof momentConditions](flow, visit) &&
      !(rule === 'rollout' && isHeldOut(flow, visit))
  const reason = reasons[rule](candidate, visit, holds !== false)
  if (reason === null) return []
  if (!isOfPage && history.inProgress) {
    return [{ rule, holds: true, why: 'a run is unfinished', parts: [] }]
  }
  const { why, parts = [] } = typeof reason === 'string' ? { why: reason } : reason
  return [{ rule, holds, why, parts }]
}

type WithParts = Pick<DecidedRule, 'why'> & Partial<Pick<DecidedRule, 'parts'>>

/** Why each condition holds or fails, in the order in which people read them. */
const reasons: Record<
  Condition,
  (candidate: Candidate, visit: Visit, holds: boolean) => string | WithParts | null
> = {
  published: ({ status }) => statusReasons[status],
  url({ flow }, { url }, holds) {
    const parts = flow.targeting.urls.map(rule => urlReason(rule, url))
    return { why: urlWhy(flow, parts, holds), parts }
  },
  audience({ flow }, { traits }) {
    const { match, rules } = flow.targeting.audience
    const parts = rules.map(rule => ruleHolds(rule, traits))
    if (parts.length === 0) return 'for everyone'
    const held = parts.filter(({ holds }) => holds).length
    const need = match === 'all' ? 'all' : 'one'
    const why = `${held} of ${parts.length} rules ${held === 1 ? 'holds' : 'hold'}, ${need} must`
    return { why, parts }
  },
  schedule({ flow: { schedule } }, { now }, holds) {
    if (!schedule) return null
    const { from, to } = spanOf(schedule)
    if (now < from) return `it starts on ${minute(from)}`
    if (!holds) return `it ended on ${minute(to)}; only runs already started continue`
    return to === Number.POSITIVE_INFINITY ? 'it has started and has no end' : `until ${minute(to)}`
  },
  rollout({ flow: { rollout } }, { person }, holds) {
    if (!rollout) return null
    const { percent, holdOut } = rollout
    const heldOut = holdOut ? `, except the ${holdOut} % of these who are held out` : ''
    const share = `${percent} % of people see it${heldOut}`
    if (person === null) return `${share}: name a person to check whether they are included`
    return `${share}: this person ${holds ? 'is one of them' : 'is not one of them'}`
  },
  after({ flow: { when } }, _, holds) {
    if (when?.after === undefined) return null
    return holds
      ? `${when.after} was completed`
      : `${when.after} was not completed by this person, or is not published`
  },
  event({ flow: { when } }, visit) {
    if (when?.event === undefined) return null
    const { event, count = 1, within } = when
    const times = (n: number) => `${n} ${n === 1 ? 'time' : 'times'}`
    const window = within === undefined ? '' : ` in the last ${within}`
    return `${shown(event)} was tracked ${times(countOf(when, visit))}${window}, ${times(count)} needed; as far as the server knows`
  },
  delay({ flow: { when } }) {
    if (when?.delayMs === undefined) return null
    return `on the page for ${when.delayMs / 1000} s, which only the browser knows`
  },
  trigger({ flow: { when } }, { onPage }) {
    if (when?.trigger === undefined) return null
    const { on, element = '', event = '' } = when.trigger
    const what = { click: `a click on ${shown(element)}`, event: `the event ${shown(event)}` }[on]
    const known = onPage === null ? ', which only the browser knows' : ''
    return `waits for ${what ?? 'a trigger that is not known here'}${known}`
  },
  throttle({ flow }, { throttle, now }) {
    if (throttle === null || shownAs(flow) !== 'steps') return null
    const begun = lately(throttle.begun, now)
    return `${begun} of at most ${throttle.most} interruptions in the last 24 hours`
  },
  element({ flow: { when } }) {
    if (when?.element === undefined) return null
    return `only the browser knows whether ${shown(when.element)} is visible on the page`
  },
  frequency: ({ flow, history }) => frequencyWhy(flow.frequency, history),
}

const statusReasons: Readonly<Record<FlowStatus, string>> = {
  published: 'it is published',
  draft: 'it is a draft: publish it',
  archived: 'it is archived: publish it again',
}

/** UTC, to the minute, for people to read. */
const minute = (epochMs: number) =>
  `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** The day in UTC, for people to read: `3 Nov 2026`. */
const day = (epochMs: number) => dayFormat.format(epochMs)

function urlReason(rule: UrlRule, url: URL): Reason {
  const holds = urlMatches(rule, url)
  const problem = holds ? null : patternProblem(rule)
  return { holds, why: `${rule.match} ${shown(rule.pattern)}${problem ? ` (${problem})` : ''}` }
}

function urlWhy({ steps }: Candidate['flow'], parts: readonly Reason[], holds: boolean): string {
  if (parts.length > 0 && !parts.some(part => part.holds)) {
    return holds
      ? 'a run is unfinished, and one of its steps is for this page'
      : 'no pattern matches the address'
  }
  const page = steps[0] && pageOf(steps[0])
  if (!holds && page) {
    return `its first step is for another page, ${page.match} ${shown(page.pattern)}`
  }
  return parts.length === 0 ? 'on every page' : 'a pattern matches the address'
}

function frequencyWhy(frequency: Candidate['flow']['frequency'], history: FlowHistory): string {
  const { runs, startedAt, completedAt, dismissedAt, inProgress } = history
  const name = frequency.replace('_', ' ')
  if (runs === 0) return `${name}, and this person has not started it`
  if (completedAt !== null && frequency !== 'always') {
    return `${name}, and it was completed on ${day(completedAt)}`
  }
  if (dismissedAt !== null && frequency === 'once') {
    return `once, and it was dismissed on ${day(dismissedAt)}`
  }
  if (inProgress && startedAt !== null) {
    return `${name}, and the run of ${day(startedAt)} is unfinished`
  }
  if (completedAt !== null) return `always, and it was completed on ${day(completedAt)}`
  const end = dismissedAt === null ? 'never completed' : `dismissed on ${day(dismissedAt)}`
  return `${name}, and it was ${end}`
}

/** @param best of the other flows, the one that would be shown */
function priorityRule(candidate: Candidate, best: Candidate | undefined): DecidedRule {
  const { priority } = candidate.flow
  const holds = best === undefined || comesBefore(candidate, best) < 0
  const rule = { rule: 'priority', holds, parts: [] } as const
  const own = `priority ${priority}`
  if (!best) return { ...rule, why: `${own}, and no other flow is due here` }
  const isEqual = best.flow.priority === priority
  const its = isEqual ? 'the same' : String(best.flow.priority)
  if (holds) return { ...rule, why: `${own}, before ${best.flow.key} with ${its}` }
  const why = `${own}, and ${best.flow.key} comes first with ${its}${isEqual ? ' (by key)' : ''}`
  return { ...rule, why }
}

/** The rule about the target of the first step, if it has one. */
function targetRules({ flow }: Candidate): DecidedRule[] {
  const target = flow.steps[0]?.target
  if (!target) return []
  const after = `after ${target.waitMs / 1000} s`
  const otherwise = {
    skip: `${after} without it, its step is skipped`,
    wait: 'without it, the step waits',
    stop: `${after} without it, the flow ends`,
  }[target.onMissing]
  const more = target.alternates || target.fingerprint ? ' or finds it otherwise' : ''
  const why = `only the browser knows whether the page has ${shown(target.selector)}${more}; ${otherwise}`
  return [{ rule: 'target', holds: null, why, parts: [] }]
}
