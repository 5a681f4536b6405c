import type { AppendOutcome, EventBatch, StoredEvent } from '../../core/event/stored-event.ts'
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
}

/** A report of a person whose data was erased is answered like any other, and not kept. */
export interface EventLedger {
  /** Resolves once the batch is committed and synced, or at once with `ack=buffer`. */
  append(batch: EventBatch): Promise<AppendOutcome>
}
