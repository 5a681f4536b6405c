import { idsOf, personOf } from '../../../core/event/event.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import {
  type BatchRow,
  batchColumns,
  encodeEvents,
  eventsOf,
  packed,
} from '../ledger/event-batches.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isGone, type Traces } from './traces.ts'

/** Batches that a transaction writes. */
const stepBatches = 2

/** Rewrites the ledger's rows without anything of the person. No event changes its place or its time. */
export function* eraseLedger(work: ErasureWork, traces: Traces): Generator<number> {
  const { database, orgRow, pseudonyms } = work
  const batch = database.query<BatchRow, [number, number]>(
    `select ${batchColumns} from event_batches where seq = ? and org_id = ?`,
  )
  const update = database.query('update event_batches set body = ? where seq = ? and org_id = ?')
  const forget = forgetIds(database)

  const visitor = idsOf(traces.name).anonymousId
  const isOwn = ({ userId, anonymousId }: NewEvent) => personOf(userId, anonymousId) === traces.name

  const rewrite = (event: NewEvent): NewEvent => {
    const { flowRef: flowRow, runId, anonymousId } = event
    const isRenamed = runId !== null && traces.isRenamed(flowRow, runId)
    if (isOwn(event)) return { ...event, ...pseudonyms.event(event, !isRenamed) }
    return {
      ...event,
      anonymousId:
        anonymousId && anonymousId === visitor ? pseudonyms.person(flowRow) : anonymousId,
      // An event of somebody who was erased before, in a run that has nobody left now.
      runId: isRenamed && isGone(event) ? pseudonyms.run(flowRow, runId) : runId,
    }
  }

  const rewriteBatch = (seq: number): number => {
    const row = batch.get(seq, orgRow)
    if (!row) return 0
    const erased: string[] = []
    const stored = eventsOf(row)
    for (const event of stored) if (isOwn(event)) erased.push(event.id)
    const text = encodeEvents(
      stored.map(rewrite),
      stored.map(({ receivedAt }) => receivedAt),
    )
    update.run(packed(text), seq, orgRow)
    forget(orgRow, seq, erased)
    return erased.length
  }

  const { batches } = traces
  for (let from = 0; from < batches.length; from += stepBatches) {
    const seqs = batches.slice(from, from + stepBatches)
    work.step(() => ({ events: seqs.reduce((sum, seq) => sum + rewriteBatch(seq), 0) }))
    yield seqs.length
  }
}
