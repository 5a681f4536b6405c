import type { EventSource } from '../../../core/event/event.ts'
import {
  decodeEvents,
  type EncodedBatch,
  type EventText,
} from '../../sqlite/engine/event-codec/event-text.ts'
import { factOf, type LedgerFact } from '../../sqlite/projections/facts.ts'
import type { StorageCommand } from '../../sqlite/writer/commands.ts'
import { type UnnumberedEvents, unnumbered } from '../events/event-rows.ts'
import { type NewIds, newIds } from '../ledger/event-ids.ts'

/** A batch, processed as far as possible before it is known what is stored already. */
export interface PreparedBatch {
  facts: readonly LedgerFact[]
  ids: NewIds
  rows: UnnumberedEvents
}

export function prepareBatch(
  { orgRow, receivedAt, text }: Pick<EncodedBatch, 'orgRow' | 'receivedAt' | 'text'>,
  source: EventSource,
): PreparedBatch {
  const events = decodeEvents({ ...text, receivedAts: [receivedAt], source })
  const facts = events.map(event => factOf(orgRow, event))
  const ids = facts.map(({ id }) => id)
  return { facts, ids: newIds(orgRow, receivedAt, ids), rows: unnumbered(orgRow, events) }
}

/** Prepares batches when they arrive, while PostgreSQL works on those before them. */
export class PreparedBatches {
  private readonly prepared = new WeakMap<EventText, PreparedBatch>()

  prepare(command: StorageCommand): void {
    if (command.type === 'append') this.of(command)
  }

  of(batch: Pick<EncodedBatch, 'orgRow' | 'receivedAt' | 'text'>): PreparedBatch {
    const known = this.prepared.get(batch.text)
    if (known) return known
    const prepared = prepareBatch(batch, 'events')
    this.prepared.set(batch.text, prepared)
    return prepared
  }
}
