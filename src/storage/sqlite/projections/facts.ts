import type { EventSource } from '../../../core/event/event.ts'
import type { RunEvent } from '../../../core/run/run.ts'
import type { NewEvent } from '../../shared/in-rows.ts'

/** An event of a flow that has just been stored (or is read again by a rebuild). */
export interface Fact extends RunEvent {
  id: string
  orgRow: number
  flowRow: number
  itemRow: number | null
  /** Ticked by a custom event: such a tick makes no run. */
  byCustomEvent: boolean
}

/** What the ledger says about an event, as far as anything follows from it. */
export interface LedgerFact extends Omit<Fact, 'flowRow'> {
  flowRow: number | null
  /** The name of a custom event. */
  name: string | null
  /** Where the person was. */
  url: string | null
}

/** An event without what only exports show. */
export type EventFacts = Omit<NewEvent, 'reportedAt' | 'reason' | 'properties'>

/** Whether an event means something for the projections of a flow. */
export const isOfFlow = (fact: LedgerFact): fact is LedgerFact & Fact =>
  fact.flowRow !== null && fact.kind !== 'custom'

/** What an event says, as far as anything follows from it. */
export const factOf = (orgRow: number, event: EventFacts, source: EventSource): LedgerFact => ({
  id: event.id,
  orgRow,
  flowRow: event.flowRef,
  itemRow: event.itemRef,
  byCustomEvent: source === 'custom_event',
  kind: event.kind,
  userId: event.userId,
  anonymousId: event.anonymousId,
  flowVersion: event.flowVersion,
  stepId: event.stepRef,
  runId: event.runId,
  sessionId: event.sessionId,
  occurredAt: event.occurredAt,
  traits: event.traits,
  answer: event.answer,
  name: event.name,
  url: event.url,
})

/** A flow's versions, as far as runs and checklists depend on them. */
export interface FlowVersions {
  versions: readonly { version: number; publishedAt: number; itemRefs: readonly number[] }[]
}

/** Finds a flow's versions by its organisation's row and its own. */
export type HistoryOf = (orgRow: number, flowRow: number) => FlowVersions
