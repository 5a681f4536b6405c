import type { NewEvent } from '../../shared/in-rows.ts'
import { type BatchRow, packed, storedText } from '../engine/event-codec/event-batches.ts'
import { rewriteEvents } from '../engine/event-codec/event-text.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isBeside, isOf } from './person-matcher.ts'
import { isGone, type NamedRuns, type Traces } from './traces.ts'

/** Batches that a transaction writes. */
const stepBatches = 8

/** Rewrites an event of the person, or an event of somebody else that also names the person or their run. */
export const rewriting =
  ({ person, pseudonyms }: ErasureWork, named: NamedRuns) =>
  <Event extends NewEvent>(event: Event): Event => {
    const { flowRef: flowRow, runId } = event
    const isRenamed = runId !== null && named.isRenamed(flowRow, runId)
    if (isOf(person, event)) {
      return { ...event, ...pseudonyms.event(event, runId !== null && !isRenamed) }
    }
    const besides = isBeside(person, event) ? { anonymousId: pseudonyms.person(flowRow) } : {}
    // An event of somebody who was erased before, in a run that has nobody left now.
    const run = isRenamed && isGone(event) ? { runId: pseudonyms.run(flowRow, runId) } : {}
    return { ...event, ...besides, ...run }
  }

/** Rewrites the ledger's rows without anything of the person. No event changes its place or its time. */
export function* eraseLedger(work: ErasureWork, traces: Traces): Generator<number> {
  const { database, orgRow, person } = work
  const batch = database.query<BatchRow, [number, number]>(
    'select * from event_batches where seq = ? and org_id = ?',
  )
  const update = database.query('update event_batches set body = ? where seq = ? and org_id = ?')
  const forget = forgetIds(database)
  const rewrite = rewriting(work, traces.named)

  const rewriteBatch = (seq: number): number => {
    const row = batch.get(seq, orgRow)
    if (!row) return 0
    const erased: string[] = []
    const text = rewriteEvents(storedText(row), event => {
      if (isOf(person, event)) erased.push(event.id)
      return rewrite(event)
    })
    update.run(packed(text), seq, orgRow)
    forget(orgRow, seq, erased)
    return erased.length
  }

  for (let from = 0; from < traces.batches.length; from += stepBatches) {
    const seqs = traces.batches.slice(from, from + stepBatches)
    work.step(() => {
      const events = seqs.reduce((sum, seq) => sum + rewriteBatch(seq), 0)
      return { events }
    })
    yield seqs.length
  }
}
