import type { OrganisationRef } from '../../core/reference.ts'
import type { RunOutcome } from '../../core/run/outcome.ts'
import type { RunRow } from '../../core/run/stored-run.ts'

/** A run with its place in the list, by which those that follow are asked for. */
export interface ListedRun extends RunRow {
  cursor: string
}

/** Which runs of a flow are asked for. */
export interface RunsAsked {
  /** Those that follow this cursor; null for the first. */
  after: string | null
  most: number
  /** Of those, how many are looked at where a filter leaves some out. */
  mostLookedAt: number
  outcome: RunOutcome | null
  version: number | null
  /** When they started, epoch milliseconds; `endMs` exclusive. */
  started: { startMs: number; endMs: number } | null
}

/** What a run last answered in words. */
export interface WrittenAnswer extends Pick<RunRow, 'key' | 'person' | 'version'> {
  cursor: string
  at: number
  /** Null where the event that has the words is gone. */
  text: string | null
}

/** What a list of runs asks of storage. */
export interface RunStore {
  /**
   * Runs of a flow, the latest start first.
   *
   * @returns null where the organisation has no flow of this key; `rest` is the cursor of the last run
   *   that was looked at, where others follow that were not
   */
  runs(
    orgRef: OrganisationRef,
    flowKey: string,
    asked: RunsAsked,
  ): Promise<{ flowId: string; runs: readonly ListedRun[]; rest: string | null } | null>
  /**
   * Answers to a step's question in words, of the latest runs first.
   *
   * @returns null where the organisation has no flow of this key
   */
  writtenAnswers(
    orgRef: OrganisationRef,
    flowKey: string,
    asked: Pick<RunsAsked, 'after' | 'most' | 'version' | 'started'> & { stepKey: string },
  ): Promise<{ flowId: string; answers: readonly WrittenAnswer[] } | null>
}
