import type { Traits } from '../event/traits.ts'
import { isInAudience } from './audience-match.ts'
import type { FlowDefinition, FlowStatus, StepDefinition, UrlRule } from './flow.ts'
import type { Judge } from './moment.ts'
import type { FlowParts } from './shown-as.ts'
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

/** Whether a flow may be shown (again) to a person with this history. */
export const isDueAgain = (
  frequency: FlowDefinition['frequency'],
  { runs, completedAt, dismissedAt }: FlowHistory,
): boolean =>
  frequency === 'always' ||
  runs === 0 ||
  (completedAt === null && (dismissedAt === null || frequency !== 'once'))

/**
 * The conditions that every page checks, the cheapest first. Those of `moment.ts` follow for a new run.
 * `explanation.ts` has the reasons in words.
 */
export const pageConditions = {
  published: ({ status }: Candidate): boolean => status === 'published',
  frequency: ({ flow, history }: Candidate): boolean => isDueAgain(flow.frequency, history),
  url: ({ flow, history }: Candidate, { url }: Place): boolean =>
    (history.inProgress ? goesOnAt : beginsAt)(flow, url),
  audience: ({ flow }: Candidate, { traits }: Place): boolean =>
    isInAudience(flow.targeting.audience, traits),
}

/** Whether a flow competes for the page. Pages call this very often, so it stops at the first condition that fails. */
const isDue = (candidate: Candidate, place: Place, judge: Judge): boolean =>
  // Named one by one, because libraries of a page may add to every object.
  pageConditions.published(candidate) &&
  pageConditions.frequency(candidate) &&
  pageConditions.url(candidate, place) &&
  pageConditions.audience(candidate, place) &&
  (candidate.history.inProgress || judge.mayBegin(candidate.flow))

/** Less than 0 if the first flow is shown before the second, as for sorting. */
export function comesBefore({ flow: a }: Candidate, { flow: b }: Candidate): number {
  return b.priority - a.priority || (a.key < b.key ? -1 : 1)
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
  onHeldOut?: (candidate: Of) => void,
): Of | undefined {
  const due = candidates.filter(candidate => isDue(candidate, place, judge)).sort(comesBefore)
  return due.find(candidate => {
    if (candidate.history.inProgress || !judge.isHeldOut(candidate.flow)) return true
    onHeldOut?.(candidate)
    return false
  })
}

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
  !!(rollout || when?.after || when?.event)
