import type { OrganisationRef } from '../../core/reference.ts'
import type { RunRow } from '../../core/run/stored-run.ts'

/** A run with its place in the list, by which those that follow are asked for. */
export interface ListedRun extends RunRow {
  cursor: string
}

/** What a list of runs asks of storage. */
export interface RunStore {
  /**
   * Runs of a flow, the latest start first.
   *
   * @param after those that follow this cursor; null for the first
   * @param most how many
   * @returns null where the organisation has no flow of this key
   */
  runs(
    orgRef: OrganisationRef,
    flowKey: string,
    after: string | null,
    most: number,
  ): Promise<{ flowId: string; runs: readonly ListedRun[] } | null>
}
