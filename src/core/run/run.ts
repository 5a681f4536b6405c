import { type EventKind, needsStep, personOf } from '../event/event.ts'
import type { ListedTraits } from '../event/traits.ts'

/**
 * A run is one pass of one person through a flow. This file makes runs from events as a join semilattice:
 * every part of a run's state is a minimum, a maximum or a union over its events, so that order, batching
 * and repetition cannot change it.
 */

/** The parts of an event that matter for runs. Times are epoch milliseconds; a step is identified by its number. */
export interface RunEvent {
  kind: EventKind
  userId: string | null
  anonymousId: string | null
  flowVersion: number | null
  stepId: number | null
  runId: string | null
  sessionId: string | null
  occurredAt: number
  /** JSON: the listed traits of a start. */
  traits: string | null
  /** For an answered question: JSON, without what somebody wrote in their own words. */
  answer: string | null
}

/** What a run did with one step: the earliest time of each, null if it never happened. */
export interface RunStep<Step = number> {
  stepId: Step
  viewedAt: number | null
  completedAt: number | null
  skippedAt: number | null
  missingAt: number | null
}

/** A run's last answer to a step's question. Of two answers at one moment, the greater text counts. */
export interface RunAnswer<Step = number> {
  stepId: Step
  at: number
  /** JSON; an empty text if the answer was in words, which only the ledger has. */
  answer: string
}

/** The state from a run's own events. What is only assigned to it (see `isUnattributed`) is stored beside it. */
export interface RunState {
  leastUserId: string | null
  leastAnonymousId: string | null
  startedAt: number
  lastAt: number
  /** The least flow version that its events name. */
  namedVersion: number | null
  completedAt: number | null
  dismissedAt: number | null
  /** The traits of the earliest event that has any, as packed by `packTraits`. */
  traits: string | null
  /** By step id, ascending. */
  steps: RunStep[]
  /** By step id, ascending. */
  answers: readonly RunAnswer[]
}

/**
 * A completion or tick with neither run nor session. It belongs to the person's latest run that started
 * before it, which can only be determined from the person's whole history.
 */
export function isUnattributed(event: RunEvent): boolean {
  return (
    event.runId === null &&
    event.sessionId === null &&
    (event.kind === 'flow_completed' || event.kind === 'item_completed')
  )
}

/** Events that belong to no run: custom events, ticks taken back, and people held back from a flow. */
export function makesNoRun(kind: EventKind): boolean {
  return kind === 'custom' || kind === 'item_reopened' || kind === 'flow_held_out'
}

/** The key of the run that all events of a person without run and session share. */
export function ownRunKey(person: string): string {
  return `p${person}`
}

/**
 * The run of its flow that an event belongs to: by run id, otherwise by person and session, otherwise by
 * person.
 */
export function runKeyOf(event: RunEvent): string {
  if (event.runId !== null) return `r${event.runId}`
  const person = personOf(event.userId, event.anonymousId)
  if (event.sessionId !== null) return `s${JSON.stringify([person, event.sessionId])}`
  return ownRunKey(person)
}

/** The run id of the events that a key was made of; null if they had none. */
export const runIdIn = (key: string): string | null => (key.startsWith('r') ? key.slice(1) : null)

/** The person of a run: the least user id that its events name, otherwise the least anonymous id. */
export function personOfRun(run: Pick<RunState, 'leastUserId' | 'leastAnonymousId'>): string {
  return personOf(run.leastUserId, run.leastAnonymousId)
}

const noStep = (stepId: number): RunStep => ({
  stepId,
  viewedAt: null,
  completedAt: null,
  skippedAt: null,
  missingAt: null,
})

/** A step of a state. If it is new, it is inserted at its place. */
function stepIn(steps: RunStep[], stepId: number): RunStep {
  let at = steps.length
  while (at > 0 && (steps[at - 1] as RunStep).stepId > stepId) at--
  const before = steps[at - 1]
  if (before?.stepId === stepId) return before
  const step = noStep(stepId)
  steps.splice(at, 0, step)
  return step
}

/** The run that a single event makes. */
export function runOfEvent(event: RunEvent): RunState {
  const state: RunState = {
    leastUserId: event.userId,
    leastAnonymousId: event.anonymousId,
    startedAt: event.occurredAt,
    lastAt: event.occurredAt,
    namedVersion: event.flowVersion,
    completedAt: null,
    dismissedAt: null,
    traits: null,
    steps: [],
    answers: [],
  }
  addEvent(state, event)
  return state
}

/**
 * Joins one more event into a state, in place. The result is that of `mergeRuns(state, runOfEvent(event))`,
 * at a fraction of the cost, for the many events of one run that are stored together.
 */
export function addEvent(state: RunState, event: RunEvent): void {
  const { kind, occurredAt: at, stepId } = event
  state.leastUserId = least(state.leastUserId, event.userId)
  state.leastAnonymousId = least(state.leastAnonymousId, event.anonymousId)
  if (at < state.startedAt) state.startedAt = at
  if (at > state.lastAt) state.lastAt = at
  state.namedVersion = least(state.namedVersion, event.flowVersion)
  if (event.traits !== null) state.traits = least(state.traits, packTraits(at, event.traits))
  if (kind === 'flow_completed') state.completedAt = least(state.completedAt, at)
  if (kind === 'flow_dismissed') state.dismissedAt = least(state.dismissedAt, at)
  if (stepId === null || !needsStep(kind)) return
  if (kind === 'question_answered') {
    const { answer } = event
    if (answer !== null) state.answers = mergeAnswers(state.answers, [{ stepId, at, answer }])
    return
  }
  const step = stepIn(state.steps, stepId)
  if (kind === 'step_viewed') step.viewedAt = least(step.viewedAt, at)
  else if (kind === 'step_completed') step.completedAt = least(step.completedAt, at)
  else if (kind === 'step_skipped') step.skippedAt = least(step.skippedAt, at)
  else step.missingAt = least(step.missingAt, at)
}

/** The lesser of two values, where null stands for none. Texts are compared by UTF-16 code unit. */
export function least<T extends number | string>(a: T | null, b: T | null): T | null {
  if (a === null) return b
  if (b === null) return a
  return b < a ? b : a
}

/** Digits of the time before packed traits. Enough until the year 33658. */
const timeDigits = 15

/** Traits with the time at which they were given, so that the lesser of two such texts is the earlier one. */
export const packTraits = (at: number, traits: string): string =>
  `${Math.max(0, at)}`.padStart(timeDigits, '0') + traits

/** The traits in a packed text. */
export const unpackTraits = (packed: string | null): ListedTraits =>
  packed === null ? {} : JSON.parse(packed.slice(timeDigits))

const joinedStep = (a: RunStep, b: RunStep): RunStep => ({
  stepId: a.stepId,
  viewedAt: least(a.viewedAt, b.viewedAt),
  completedAt: least(a.completedAt, b.completedAt),
  skippedAt: least(a.skippedAt, b.skippedAt),
  missingAt: least(a.missingAt, b.missingAt),
})

/** Both lists must be in the order of their ids, and so is the result. */
function mergeSteps(a: readonly RunStep[], b: readonly RunStep[]): RunStep[] {
  const merged: RunStep[] = []
  let next = 0
  for (const step of a) {
    while (next < b.length && b[next]!.stepId < step.stepId) merged.push(b[next++]!)
    const isInBoth = next < b.length && b[next]!.stepId === step.stepId
    merged.push(isInBoth ? joinedStep(step, b[next++]!) : step)
  }
  while (next < b.length) merged.push(b[next++]!)
  return merged
}

const isLater = (a: RunAnswer, b: RunAnswer) =>
  a.at > b.at || (a.at === b.at && a.answer > b.answer)

function mergeAnswers(a: readonly RunAnswer[], b: readonly RunAnswer[]): readonly RunAnswer[] {
  if (b.length === 0) return a
  if (a.length === 0) return b
  const latest = new Map(a.map(answer => [answer.stepId, answer]))
  for (const answer of b) {
    const known = latest.get(answer.stepId)
    if (!known || isLater(answer, known)) latest.set(answer.stepId, answer)
  }
  return [...latest.values()].sort((x, y) => x.stepId - y.stepId)
}

/** The join of two states of one run: commutative, associative, idempotent. */
export function mergeRuns(a: RunState, b: RunState): RunState {
  return {
    leastUserId: least(a.leastUserId, b.leastUserId),
    leastAnonymousId: least(a.leastAnonymousId, b.leastAnonymousId),
    startedAt: Math.min(a.startedAt, b.startedAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    namedVersion: least(a.namedVersion, b.namedVersion),
    completedAt: least(a.completedAt, b.completedAt),
    dismissedAt: least(a.dismissedAt, b.dismissedAt),
    traits: least(a.traits, b.traits),
    steps: mergeSteps(a.steps, b.steps),
    answers: mergeAnswers(a.answers, b.answers),
  }
}

/**
 * The version that was published at a moment, that is, the last one published by then. A moment before the
 * first publication (because of a client's clock) gets the first version.
 *
 * @param versions ascending by version, and so by `publishedAt`
 */
export function versionAt(
  versions: readonly { version: number; publishedAt: number }[],
  at: number,
): number {
  let found = versions[0]?.version ?? 1
  for (const { version, publishedAt } of versions) if (publishedAt <= at) found = version
  return found
}
