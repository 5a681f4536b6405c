import type { StoredEvent } from '../../core/event/stored-event.ts'
import type { StepHistory } from '../../core/flow/positions.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../../core/reference.ts'
import type { RunColumns } from '../../core/run/run-columns.ts'
import type { RunRow } from '../../core/run/stored-run.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import type { StepBook } from '../steps/index.ts'
/** What analytics ask of storage. */
export interface AnalyticsStores {
  analytics: AnalyticsReader
  /** For the health of the steps that an answer tells of. */
  steps: Pick<StepBook, 'healthCounts'>
}

/** A flow, and its history, which says where its steps stand. */
export interface FlowRuns extends StepHistory<StepRef> {
  orgRef: OrganisationRef
  flowRef: FlowRef
}

export interface AnalyticsReader {
  /** Runs that started in the range, by start; a page at a time, so that no snapshot is held. */
  runs(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly RunRow[]>
  /** Events of a flow that occurred in the range, in the order of arrival; a page at a time. */
  events(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]>
  /**
   * Runs that started in the range, ascending by start, all as of one moment, with what their people
   * ever ticked. One reading at a time, and to its end: it holds a snapshot.
   */
  columns(flow: FlowRuns, range: TimeRange): AsyncIterable<RunColumns<StepRef, ItemRef>>
}
