import type { RunEvent } from '../core/run.ts'

/** An event of a flow that has just been stored (or is read again by a rebuild). */
export interface Fact extends RunEvent {
  orgRow: number
  flowRow: number
  itemRow: number | null
  /** Ticked by a custom event: such a tick makes no run. */
  byCustomEvent: boolean
}

/** The history of a flow's versions, as far as runs and checklists depend on it. */
export interface FlowHistory {
  versions: readonly { version: number; publishedAt: number; itemRows: readonly number[] }[]
}

/** Finds a flow's history by the rows of its organisation and itself. */
export type HistoryOf = (orgRow: number, flowRow: number) => FlowHistory
