import type {
  AppendOutcome,
  EventBatch,
  PersonIds,
  RejectionCode,
  StoredEvent,
} from '../../core/event/event.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { SeenAtGate } from './gate.ts'

/** A flow, step or item, with the names that callers know it by. */
export interface NamedPart {
  id: string
  key: string
}

/** An event of the ledger, with the parts that it names as callers know them. */
export interface LoggedEvent extends Omit<StoredEvent, 'flowRef' | 'stepRef' | 'itemRef'> {
  /** Its place in the ledger, by which the events after it are asked for. */
  cursor: string
  flow: NamedPart | null
  step: NamedPart | null
  item: NamedPart | null
}

/** What an export of all events needs from storage. */
export interface EventLog {
  /**
   * Events of an organisation after a cursor, in the order of arrival, one page at a time. What arrives
   * later has a later cursor, so that nothing is left out or returned twice across calls.
   *
   * @param after the cursor of an event, which may be deleted by now; null to start at the oldest event
   *   that is kept
   * @param most how many events at most
   * @returns null for a cursor that no event of this ledger has had
   */
  after(
    orgRef: OrganisationRef,
    after: string | null,
    most: number,
  ): Promise<AsyncIterable<readonly LoggedEvent[]> | null>
}

/** What accepting events needs from storage. A store that cannot take more throws `AppError('overloaded')`. */
export interface EventStores {
  catalogue(): Catalogue
  ledger: EventLedger
  presence: Pick<SeenAtGate, 'mark' | 'countUserHashes'>
  watch: EventWatch
}

/** An event with its verdict, for those who watch. Texts are as they were sent, but cut. */
export interface JudgedEvent extends PersonIds {
  /** Epoch milliseconds. */
  receivedAt: number
  verdict: 'accepted' | 'duplicate' | 'rejected'
  code: RejectionCode | null
  message: string | null
  id: string | null
  kind: string | null
  flowId: string | null
  /** Null if the flow does not belong to the organisation. */
  flowKey: string | null
  stepId: string | null
  stepKey: string | null
  name: string | null
  url: string | null
}

/** Receives judged events for those who watch. */
export interface EventWatch {
  /** Costs next to nothing if nobody watches. */
  isWatched(orgRef: OrganisationRef): boolean
  /** Nobody waits for this, and it never fails. */
  note(orgRef: OrganisationRef, events: readonly JudgedEvent[]): void
}

/** What has arrived since somebody began to watch. */
export interface Activity {
  /** The cursor by which later events are asked for. */
  cursor: string
  /** When watching began, epoch milliseconds. */
  since: number
  /** Whether earlier answers must be forgotten: watching has begun anew, or somebody was erased. */
  isAnew: boolean
  /** How many events since the cursor are left out, because there were too many. */
  missed: number
  /** In the order of arrival. */
  events: readonly JudgedEvent[]
}

/** What watching needs from storage. */
export interface ActivityStore {
  /**
   * What has arrived after a cursor. Asking is watching: for half a minute, what arrives is remembered.
   * Nothing is returned about people whose data was erased.
   */
  after(orgRef: OrganisationRef, cursor: string | null): Promise<Activity>
}

/** A report about a person whose data was erased is answered like any other, but not kept. */
export interface EventLedger {
  /** Resolves once the batch is committed and synced, or at once with `ack=buffer`. */
  append(batch: EventBatch): Promise<AppendOutcome>
}
