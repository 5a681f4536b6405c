import type { EventKind } from './event.ts'
import { needsStep, personOf } from './event.ts'

/**
 * A run is one pass of one person through a flow. Here is how events make runs, as a join
 * semilattice: every part of a run's state is a minimum, a maximum or a union over its events, so
 * that order, batching and repetition cannot change it.
 */

/** One event as far as runs are concerned; times are epoch milliseconds, ids are row numbers. */
export interface RunEvent {
  kind: EventKind
  userId: string | null
  anonymousId: string | null
  flowVersion: number | null
  stepId: number | null
  runId: string | null
  sessionId: string | null
  occurredAt: number
}

/** What a run saw of one step: the earliest time of each, null where it never happened. */
export interface RunStep {
  stepId: number
  viewedAt: number | null
  completedAt: number | null
  skippedAt: number | null
  missingAt: number | null
}

/** What a run's own events say. What is only assigned to it (see `isLoose`) is kept beside it. */
export interface RunState {
  leastUserId: string | null
  leastAnonymousId: string | null
  startedAt: number
  lastAt: number
  /** The least flow version that its events name. */
  namedVersion: number | null
  completedAt: number | null
  dismissedAt: number | null
  /** By step id, ascending. */
  steps: RunStep[]
}

/**
 * A completion or tick with neither run nor session: it belongs to the person's latest run that
 * started before it, which can be known only from the person's whole history.
 */
export function isLoose(event: RunEvent): boolean {
  return (
    event.runId === null &&
    event.sessionId === null &&
    (event.kind === 'flow_completed' || event.kind === 'item_completed')
  )
}

/** Events that are no part of any run: custom ones, and ticks taken back. */
export function makesNoRun(kind: EventKind): boolean {
  return kind === 'custom' || kind === 'item_reopened'
}

/** The key of the run that a person's events without run and session share. */
export function ownRunKey(person: string): string {
  return `p${person}`
}

/** Which run of its flow an event belongs to: by run id, else by person and session, else by person. */
export function runKeyOf(event: RunEvent): string {
  if (event.runId !== null) return `r${event.runId}`
  const person = personOf(event.userId, event.anonymousId)
  if (event.sessionId !== null) return `s${JSON.stringify([person, event.sessionId])}`
  return ownRunKey(person)
}

/** Whose run it is: the least user id that its events name, else the least anonymous id. */
export function personOfRun(run: Pick<RunState, 'leastUserId' | 'leastAnonymousId'>): string {
  return personOf(run.leastUserId, run.leastAnonymousId)
}

/** The run of a single event. */
export function runOfEvent(event: RunEvent): RunState {
  const { kind, occurredAt: at, stepId } = event
  return {
    leastUserId: event.userId,
    leastAnonymousId: event.anonymousId,
    startedAt: at,
    lastAt: at,
    namedVersion: event.flowVersion,
    completedAt: kind === 'flow_completed' ? at : null,
    dismissedAt: kind === 'flow_dismissed' ? at : null,
    steps:
      stepId === null || !needsStep(kind)
        ? []
        : [
            {
              stepId,
              viewedAt: kind === 'step_viewed' ? at : null,
              completedAt: kind === 'step_completed' ? at : null,
              skippedAt: kind === 'step_skipped' ? at : null,
              missingAt: kind === 'target_missing' ? at : null,
            },
          ],
  }
}

/** The lesser of two values where null stands for none. Texts compare by UTF-16 code unit. */
export function least<T extends number | string>(a: T | null, b: T | null): T | null {
  if (a === null) return b
  if (b === null) return a
  return b < a ? b : a
}

function mergeSteps(a: readonly RunStep[], b: readonly RunStep[]): RunStep[] {
  const merged = new Map(a.map(step => [step.stepId, step]))
  for (const step of b) {
    const known = merged.get(step.stepId)
    merged.set(
      step.stepId,
      known === undefined
        ? step
        : {
            stepId: step.stepId,
            viewedAt: least(known.viewedAt, step.viewedAt),
            completedAt: least(known.completedAt, step.completedAt),
            skippedAt: least(known.skippedAt, step.skippedAt),
            missingAt: least(known.missingAt, step.missingAt),
          },
    )
  }
  return [...merged.values()].sort((x, y) => x.stepId - y.stepId)
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
    steps: b.steps.length === 0 ? a.steps : mergeSteps(a.steps, b.steps),
  }
}

/**
 * The version that was published at a moment: the last one published by then. A moment before
 * the first publication (a client's clock) takes the first.
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
