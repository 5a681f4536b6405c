import type { OrganisationRef } from '../../core/reference.ts'
import type { RunOutcome } from '../../core/run/outcome.ts'
import type { RunRow } from '../../core/run/stored-run.ts'

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
  outcome: RunOutcome | null
  version: number | null
  /** When they started, epoch milliseconds; `endMs` exclusive. */
  started: { startMs: number; endMs: number } | null
}

/** The last written answer of a run. */
export interface WrittenAnswer extends Pick<RunRow, 'key' | 'person' | 'version'> {
  cursor: string
  at: number
  /** Null if the event that contains the text was deleted. */
  text: string | null
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
   * Answers to a step's question in words, those of the latest runs first.
   *
   * @returns null if the organisation has no flow with this key
   */
  writtenAnswers(
    orgRef: OrganisationRef,
    flowKey: string,
    requested: Pick<RequestedRuns, 'after' | 'max' | 'version' | 'started'> & { stepKey: string },
  ): Promise<{ flowId: string; answers: readonly WrittenAnswer[] } | null>
}
