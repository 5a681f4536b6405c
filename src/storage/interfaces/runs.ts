import type { ListedTraits } from '../../core/event/traits.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import type { RunAnswer, RunStep } from '../../core/run/run.ts'

/** A run with its cursor, which gets the runs after it. */
export interface ListedRun extends RunRow {
  cursor: string
}

export interface RequestedRuns {
  /** Only runs after this cursor; null for the first. */
  after: string | null
  max: number
  /** How many runs are read to find these, if a filter leaves some out. */
  maxScanned: number
  /** When they started, epoch milliseconds; `endMs` exclusive. */
  started: { startMs: number; endMs: number } | null
  /** Only runs that answered a question. */
  answered: boolean
  /** What decides for a flow, by its id, which runs are listed; null for all. */
  filter: ((flowId: string) => (run: RunRow) => boolean) | null
}

/** An answer in words: its run, its step, and when it was given. */
export interface WrittenAnswer {
  key: string
  stepRef: StepRef
  at: number
}

/** What a list of runs needs from storage. */
export interface RunStore {
  /**
   * Runs of a flow, latest start first.
   *
   * @returns null if the organisation has no flow with this key; `rest` is the cursor of the last run that
   *   was read, if there are more
   */
  runs(
    orgRef: OrganisationRef,
    flowKey: string,
    requested: RequestedRuns,
  ): Promise<{ flowId: string; runs: readonly ListedRun[]; rest: string | null } | null>
  /**
   * The texts of answers in words, in their order; null for one whose event was deleted.
   */
  writtenTexts(
    orgRef: OrganisationRef,
    flowKey: string,
    answers: readonly WrittenAnswer[],
  ): Promise<readonly (string | null)[]>
}

/** A run as it is exported: the state from its own events, with what was assigned to it. */
export interface RunRow {
  key: string
  person: string
  startedAt: number
  lastAt: number
  version: number
  completedAt: number | null
  dismissedAt: number | null
  /** The listed traits of its person when it started, as far as they were given. */
  traits: ListedTraits
  steps: readonly RunStep<StepRef>[]
  answers: readonly RunAnswer<StepRef>[]
}
