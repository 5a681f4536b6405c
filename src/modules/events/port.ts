import type { RejectionCode } from '../../core/event/event.ts'
import type {
  AppendOutcome,
  EventBatch,
  PersonIds,
  StoredEvent,
} from '../../core/event/stored-event.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { SeenAtGate } from '../../http/port.ts'

/** A flow, step or item as callers know it. */
export interface NamedPart {
  id: string
  key: string
}

/** An event of the ledger, with what it names as callers know it. */
export interface LoggedEvent extends Omit<StoredEvent, 'flowRef' | 'stepRef' | 'itemRef'> {
  /** Its place in the ledger: what follows it is asked for by this. */
  cursor: string
  flow: NamedPart | null
  step: NamedPart | null
  item: NamedPart | null
}

/** What an export of all events asks of storage. */
export interface EventLog {
  /**
   * Events of an organisation that follow a cursor, in the order of arrival, a page at a time. What
   * arrives later has later cursors, so nothing is left out or told twice from call to call.
   *
   * @param after the cursor of an event, which may be deleted by now; null for the first that is kept
   * @param most how many
   * @returns null for a cursor that no event of this ledger has had
   */
  after(
    orgRef: OrganisationRef,
    after: string | null,
    most: number,
  ): Promise<AsyncIterable<readonly LoggedEvent[]> | null>
}

/** What taking events in asks of storage. A store that cannot take more throws `AppError('overloaded')`. */
export interface EventStores {
  catalogue(): Catalogue
  ledger: EventLedger
  presence: Pick<SeenAtGate, 'mark' | 'countUserHashes'>
  watch: EventWatch
}

/** What became of an event, for those who watch. Texts are as they were sent, and cut. */
export interface JudgedEvent extends PersonIds {
  /** Epoch milliseconds. */
  receivedAt: number
  verdict: 'accepted' | 'duplicate' | 'rejected'
  code: RejectionCode | null
  message: string | null
  id: string | null
  kind: string | null
  flowId: string | null
  /** Null for a flow that is not the organisation's. */
  flowKey: string | null
  stepId: string | null
  stepKey: string | null
  name: string | null
  url: string | null
}

/** Where those who watch learn what became of events. */
export interface EventWatch {
  /** Costs one load of shared memory where nobody watches. */
  isWatched(orgRef: OrganisationRef): boolean
  /** Nobody waits for it, and it never fails. */
  note(orgRef: OrganisationRef, events: readonly JudgedEvent[]): void
}

/** What has arrived since somebody watches. */
export interface Activity {
  /** What comes later is asked for by this. */
  cursor: string
  /** From when on it is watched, epoch milliseconds. */
  since: number
  /** What was told before is to be forgotten: it is watched anew, or somebody was erased. */
  isAnew: boolean
  /** How many have come since the cursor and are not told, because they were too many. */
  missed: number
  /** In the order of arrival, of all threads. */
  events: readonly JudgedEvent[]
}

/** What watching asks of storage. */
export interface ActivityStore {
  /**
   * What has arrived after a cursor. Asking is watching: for half a minute what arrives is remembered.
   * Of people whose data was erased nothing is told.
   */
  after(orgRef: OrganisationRef, cursor: string | null): Promise<Activity>
}

/** A report of a person whose data was erased is answered like any other, and not kept. */
export interface EventLedger {
  /** Resolves once the batch is committed and synced, or at once with `ack=buffer`. */
  append(batch: EventBatch): Promise<AppendOutcome>
}
