import { type UnauthorizedCause, unauthorized } from '../../core/errors.ts'
import type { NewEvent, RejectionCode } from '../../core/event/event.ts'
import { type Organisation, oldestAccepted } from '../../core/organisation/catalogue.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { EventStores } from '../../storage/interfaces/events.ts'
import { WatchedBatch } from './activity.ts'
import { type Batch, type BatchResult, type EventResult, maxEventIdLength } from './schema.ts'
import { BatchUserHashes, judge, namedBy, type Rejection } from './verdict.ts'

/** A sender's clock that is off by no more than this counts as right. */
const toleratedSkewMs = minuteMs

/** The id that the sender gave, if it can be returned in a response. */
function sentId(event: unknown): string | null {
  const id = (event as { id?: unknown } | null)?.id
  return typeof id === 'string' && id.length <= maxEventIdLength ? id : null
}

/** Why a batch is rejected if the caller may not send any of its events. */
function causeOf(hashes: BatchUserHashes | null): UnauthorizedCause {
  if (hashes?.counts.invalid) return 'wrong_user_hash'
  return hashes?.counts.missing ? 'missing_user_hash' : 'foreign_events'
}

/**
 * Judges every event of a batch, stores the good ones, and returns a verdict for each that was not newly
 * stored. Resolves once everything accepted is committed and synced (`ack=commit`).
 *
 * @param body the batch as it was sent
 * @param sentAt the sender's clock when it sent, epoch milliseconds; null if not sent
 * @throws AppError `unauthorized` if every event names something of another organisation, or a user
 *   without the right hash where that is required
 */
export async function acceptEvents(
  { stores, retentionDays }: { stores: EventStores; retentionDays: number },
  organisation: Organisation,
  events: Batch['events'],
  body: string,
  sentAt: number | null,
  receivedAt: number,
): Promise<BatchResult> {
  const skewMs = sentAt === null ? null : receivedAt - sentAt
  const { identity } = organisation
  const userHashes = identity && new BatchUserHashes(identity, receivedAt)
  const context = {
    organisation,
    receivedAt,
    correctionMs: skewMs !== null && Math.abs(skewMs) > toleratedSkewMs ? skewMs : 0,
    oldestAt: oldestAccepted(organisation, retentionDays, receivedAt),
    hasEscapes: body.includes('\\u'),
    userHashes,
  }
  const catalogue = stores.catalogue()
  const kept: NewEvent[] = []
  const indexes: number[] = []
  const results: EventResult[] = []
  const watched = stores.watch.isWatched(organisation.ref)
    ? new WatchedBatch(organisation.ref, receivedAt)
    : null
  const notifyWatchers = () =>
    watched && stores.watch.note(organisation.ref, watched.judged(results))
  const refusals: Partial<Record<RejectionCode, number>> = {}
  const reject = (index: number, { code, message }: Rejection) => {
    results.push({ index, id: sentId(events[index]), status: 'rejected', code, message })
  }
  for (let index = 0; index < events.length; index++) {
    const named = namedBy(events[index], catalogue)
    watched?.add(events[index], named)
    const verdict = judge(events[index], named, context)
    if ('code' in verdict) {
      reject(index, verdict)
      refusals[verdict.code] = (refusals[verdict.code] ?? 0) + 1
    } else {
      kept.push(verdict)
      indexes.push(index)
    }
  }
  if (userHashes) stores.presence.countUserHashes(organisation.ref, userHashes.counts)
  if (refusals.unauthorized === events.length) {
    notifyWatchers()
    throw unauthorized(causeOf(userHashes))
  }

  const outcome = await stores.ledger.append({
    orgRef: organisation.ref,
    receivedAt,
    events: kept,
    refusals,
    skewMs,
  })
  for (const position of outcome.duplicates) {
    const id = kept[position]?.id ?? null
    results.push({ index: indexes[position] ?? 0, id, status: 'duplicate' })
  }
  for (const position of outcome.deadLetters) {
    const message = 'The database rejected this event. It is stored as a dead letter'
    reject(indexes[position] ?? 0, { code: 'storage', message })
  }
  results.sort((a, b) => a.index - b.index)
  notifyWatchers()
  const duplicates = outcome.duplicates.length
  const rejected = results.length - duplicates
  const accepted = events.length - results.length
  if (accepted + duplicates > 0) {
    stores.presence.mark(organisation.ref, 'events_flowing', receivedAt)
  }
  return { accepted, duplicates, rejected, results, skewMs }
}
