import type { Traits } from '../event/traits.ts'
import { shown } from '../text/wording.ts'
import { type Reason, ruleHolds } from './audience.ts'
import { isInAudience } from './audience-match.ts'
import type { FlowDefinition, FlowStatus, StepDefinition, UrlRule } from './flow.ts'
import { type Judge, judgeOf, type Moment } from './moment.ts'
import { type DecidedRule, momentRules } from './moment-rules.ts'
import { type FlowParts, shownAs } from './shown-as.ts'
import { patternProblem } from './url-pattern.ts'
import { pageOf, urlMatches } from './url-rule.ts'

/**
 * What a person has done with a flow before. Times are epoch milliseconds, null for never. A run
 * that was completed counts as completed, even if it was dismissed too.
 */
export interface FlowHistory {
  /** How many runs there are. */
  runs: number
  /** When the latest run started. */
  startedAt: number | null
  /** When a run was last completed, and when one was last dismissed. */
  completedAt: number | null
  dismissedAt: number | null
  /** Whether the latest run is neither completed nor dismissed. */
  inProgress: boolean
  /** The runId of that run; null if its events name none. */
  openRunId: string | null
}

/** The history of a person who has never met a flow. */
export const noHistory: FlowHistory = {
  runs: 0,
  startedAt: null,
  completedAt: null,
  dismissedAt: null,
  inProgress: false,
  openRunId: null,
}

/** A flow that could be shown to a person, as the API returns it or as its author wrote it. */
export interface Candidate {
  flow: FlowParts &
    Pick<FlowDefinition, 'key' | 'priority' | 'frequency' | 'targeting' | 'steps'> &
    Pick<FlowDefinition, 'schedule' | 'when' | 'rollout'>
  status: FlowStatus
  history: FlowHistory
}

/** Where a person is, and who they are. */
export interface Place {
  url: URL
  traits: Traits
}

/** The same, with everything else that is known at the moment. */
export interface Visit extends Place, Moment {}

export interface Decision {
  shown: boolean
  /** All conditions in the order in which they are checked, whichever fails. */
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
  const own = ownRules(candidate, visit)
  const rivals = others.filter(({ flow }) => shownAs(flow) === shownAs(candidate.flow))
  const best = firstDue(rivals, visit, judgeOf(visit))
  const wins = best === undefined || comesBefore(candidate, best) < 0
  const rules = [...own, priorityRule(candidate, best, wins), ...targetRules(candidate)]
  const isShown = rules.every(isMet)
  return { shown: isShown, rules, winner: isShown ? candidate.flow.key : (best?.flow.key ?? null) }
}

/**
 * The one of these flows that a person sees on a page.
 *
 * @param onHeldOut called for each flow that they would have seen but are held back from
 */
export function firstDue<Of extends Candidate>(
  candidates: readonly Of[],
  place: Place,
  judge: Judge,
  onHeldOut: (candidate: Of) => void = () => {},
): Of | undefined {
  const due = candidates.filter(candidate => isDue(candidate, place, judge)).sort(comesBefore)
  return due.find(candidate => {
    if (candidate.history.inProgress || !judge.isHeldOut(candidate.flow)) return true
    onHeldOut(candidate)
    return false
  })
}

/**
 * Whether all `ownRules` hold. A page asks this about every flow again and again, so it stops at the first that does
 * not, the cheapest first.
 */
function isDue(
  { flow, status, history }: Candidate,
  { url, traits }: Place,
  judge: Judge,
): boolean {
  const { targeting, frequency } = flow
  return (
    status === 'published' &&
    isDueAgain(frequency, history) &&
    (history.inProgress ? goesOnAt(flow, url) : beginsAt(flow, url)) &&
    isInAudience(targeting.audience, traits) &&
    (history.inProgress || judge.mayBegin(flow))
  )
}

const isShownAt = (urls: readonly UrlRule[], url: URL) =>
  urls.length === 0 || urls.some(rule => urlMatches(rule, url))

type Placed = Pick<StepDefinition, 'page' | 'navigate'>

/** Whether a step is for the page at this address. A step that names no page is for any page. */
export function isOnPage(step: Placed | undefined, url: URL): boolean {
  const page = step && pageOf(step)
  return !page || urlMatches(page, url)
}

/** Whether a flow begins at this address: it is shown there, and its first step is not for another page. */
const beginsAt = ({ targeting, steps }: Candidate['flow'], url: URL): boolean =>
  isShownAt(targeting.urls, url) && isOnPage(steps[0], url)

/**
 * Whether a run that has begun continues at this address, whoever the flow is for by now: where the flow is
 * shown, and where one of its steps has its page.
 */
export const goesOnAt = ({ targeting, steps }: Candidate['flow'], url: URL): boolean =>
  isShownAt(targeting.urls, url) ||
  steps.some((step: Placed) => pageOf(step) !== undefined && isOnPage(step, url))

const isMet = ({ holds }: DecidedRule) => holds !== false

/** Less than 0 if the first flow is shown before the second, as for sorting. */
function comesBefore({ flow: a }: Candidate, { flow: b }: Candidate): number {
  return b.priority - a.priority || (a.key < b.key ? -1 : 1)
}

/** The conditions that do not depend on other flows, with their reasons. */
function ownRules(candidate: Candidate, visit: Visit): DecidedRule[] {
  const { flow, history } = candidate
  const isHere = (history.inProgress ? goesOnAt : beginsAt)(flow, visit.url)
  const { audience, urls } = flow.targeting
  const byUrl = urls.map(rule => urlReason(rule, visit.url))
  const byAttribute = audience.rules.map(rule => ruleHolds(rule, visit.traits))
  return [
    {
      rule: 'published',
      holds: candidate.status === 'published',
      why: statusWhy[candidate.status],
      parts: [],
    },
    { rule: 'url', holds: isHere, why: urlWhy(candidate, byUrl, isHere), parts: byUrl },
    {
      rule: 'audience',
      holds: isInAudience(audience, visit.traits),
      why: audienceWhy(audience.match, byAttribute),
      parts: byAttribute,
    },
    ...momentRules(flow, visit, history.inProgress),
    {
      rule: 'frequency',
      holds: isDueAgain(flow.frequency, history),
      why: frequencyWhy(flow.frequency, history),
      parts: [],
    },
  ]
}

const statusWhy: Readonly<Record<FlowStatus, string>> = {
  published: 'it is published',
  draft: 'it is a draft: publish it',
  archived: 'it is archived: publish it again',
}

function urlReason(rule: UrlRule, url: URL): Reason {
  const holds = urlMatches(rule, url)
  const problem = holds ? null : patternProblem(rule)
  return { holds, why: `${rule.match} ${shown(rule.pattern)}${problem ? ` (${problem})` : ''}` }
}

function urlWhy({ flow }: Candidate, parts: readonly Reason[], holds: boolean): string {
  if (parts.length > 0 && !parts.some(part => part.holds)) {
    return holds
      ? 'a run goes on, and one of its steps is for this page'
      : 'no pattern matches the address'
  }
  const page = flow.steps[0] && pageOf(flow.steps[0])
  if (!holds && page) {
    return `its first step is for another page, ${page.match} ${shown(page.pattern)}`
  }
  return parts.length === 0 ? 'on every page' : 'a pattern matches the address'
}

function audienceWhy(match: 'all' | 'any', parts: readonly Reason[]): string {
  if (parts.length === 0) return 'for everyone'
  const held = parts.filter(({ holds }) => holds).length
  const need = match === 'all' ? 'all' : 'one'
  return `${held} of ${parts.length} rules ${held === 1 ? 'holds' : 'hold'}, ${need} must`
}

/** The day in UTC, for people to read. */
const day = (epochMs: number) => new Date(epochMs).toISOString().slice(0, 10)

/**
 * Whether a flow can only be shown once it is known who the person is: it is for some people only, or
 * limited in how often each person sees it, or depends on what they have done. Pages that wait for
 * `identify()` begin it only after that.
 */
export const waitsForIdentify = ({
  frequency,
  targeting,
  when,
  rollout,
}: Pick<FlowDefinition, 'frequency' | 'targeting' | 'when' | 'rollout'>): boolean =>
  frequency !== 'always' ||
  targeting.audience.rules.length > 0 ||
  rollout !== undefined ||
  when?.after !== undefined ||
  when?.event !== undefined

/** Whether a flow may be shown (again) to a person with this history. */
export const isDueAgain = (
  frequency: FlowDefinition['frequency'],
  { runs, completedAt, dismissedAt }: FlowHistory,
): boolean =>
  frequency === 'always' ||
  runs === 0 ||
  (completedAt === null && (dismissedAt === null || frequency !== 'once'))

function frequencyWhy(frequency: FlowDefinition['frequency'], history: FlowHistory): string {
  const { runs, startedAt, completedAt, dismissedAt, inProgress } = history
  const name = frequency.replace('_', ' ')
  if (runs === 0) return `${name}, and this person has not started it`
  if (completedAt !== null && frequency !== 'always') {
    return `${name}, and it was completed on ${day(completedAt)}`
  }
  if (dismissedAt !== null && frequency === 'once') {
    return `once, and it was dismissed on ${day(dismissedAt)}`
  }
  if (inProgress && startedAt !== null) return `${name}, and the run of ${day(startedAt)} goes on`
  if (completedAt !== null) return `always, and it was completed on ${day(completedAt)}`
  const end = dismissedAt === null ? 'never completed' : `dismissed on ${day(dismissedAt)}`
  return `${name}, and it was ${end}`
}

function priorityRule(
  { flow }: Candidate,
  best: Candidate | undefined,
  wins: boolean,
): DecidedRule {
  const rule = { rule: 'priority', holds: wins, parts: [] } as const
  const own = `priority ${flow.priority}`
  if (!best) return { ...rule, why: `${own}, and no other flow is due here` }
  const { key, priority } = best.flow
  const its = priority === flow.priority ? 'the same' : String(priority)
  if (wins) return { ...rule, why: `${own}, before ${key} with ${its}` }
  return {
    ...rule,
    why: `${own}, and ${key} comes first with ${its}${its === 'the same' ? ' (by key)' : ''}`,
  }
}

/** The rule about the target of the first step, if it has one. */
function targetRules({ flow }: Candidate): DecidedRule[] {
  const target = flow.steps[0]?.target
  if (!target) return []
  const after = `after ${target.waitMs} ms`
  const otherwise = {
    skip: `${after} without it, its step is skipped`,
    wait: `without it, the step waits`,
    stop: `${after} without it, the flow ends`,
  }[target.onMissing]
  const more = target.alternates || target.fingerprint ? ', or finds it otherwise,' : ''
  const why = `whether the page has ${shown(target.selector)}${more} only the browser knows; ${otherwise}`
  return [{ rule: 'target', holds: null, why, parts: [] }]
}
