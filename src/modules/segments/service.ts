import { AppError } from '../../core/errors.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import { newId } from '../../core/organisation/ids.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { revised } from '../../core/revised.ts'
import type { Segment, SegmentStore } from '../../storage/interfaces/segments.ts'
import { maxSegments, type NewSegment } from './schema.ts'

export const etagOf = ({ revision }: Pick<Segment, 'revision'>) => `"${revision}"`

/** A segment by its id. @throws AppError `segment_not_found` */
export async function segmentOf(
  store: Pick<SegmentStore, 'list'>,
  orgRef: OrganisationRef,
  id: string,
): Promise<Segment> {
  const found = (await store.list(orgRef)).find(segment => segment.id === id)
  if (found) return found
  throw new AppError('segment_not_found', 'No segment has this id')
}

const nameTaken = () => new AppError('segment_name_taken', 'Another segment has this name')

const written = ({ name, filter }: NewSegment) => ({ name, filter })

/** @throws AppError `segment_name_taken`, `too_many_segments` */
export async function createSegment(
  store: SegmentStore,
  orgRef: OrganisationRef,
  body: NewSegment,
  audit: Auditor,
): Promise<Segment> {
  const after = written(body)
  const entry = audit('segment.create', body.name, { after })
  const segment = { id: newId('segment'), ...after, revision: 1, changedAt: entry.at }
  const outcome = await store.create(orgRef, segment, maxSegments, entry)
  if (outcome === 'name taken') throw nameTaken()
  if (outcome === 'created') return segment
  throw new AppError('too_many_segments', `The organisation has ${maxSegments} segments`)
}

/** @throws AppError `precondition_required`, `precondition_failed` */
function requireRead(segment: Segment, ifMatch: string | null): void {
  if (ifMatch === null) {
    throw new AppError('precondition_required', 'Send the ETag that you have read as If-Match')
  }
  const tags = ifMatch.split(',').map(tag => tag.trim())
  if (tags.includes('*') || tags.includes(etagOf(segment))) return
  throw new AppError('precondition_failed', 'The segment has changed since you read it', {
    fields: { etag: etagOf(segment), changedBy: null, changedAt: null },
  })
}

/** @throws AppError `segment_not_found`, `segment_name_taken`, `precondition_required`, `precondition_failed` */
export const changeSegment = (
  store: SegmentStore,
  orgRef: OrganisationRef,
  { id, body, ifMatch }: { id: string; body: NewSegment; ifMatch: string | null },
  audit: Auditor,
): Promise<Segment> =>
  revised(async () => {
    const before = await segmentOf(store, orgRef, id)
    requireRead(before, ifMatch)
    const after = written(body)
    const entry = audit('segment.change', body.name, { before: written(before), after })
    const segment = { id, ...after, revision: before.revision + 1, changedAt: entry.at }
    const outcome = await store.change(orgRef, segment, before.revision, entry)
    if (outcome === 'name taken') throw nameTaken()
    return outcome === 'done' ? segment : null
  })

/** @throws AppError `segment_not_found`, `precondition_required`, `precondition_failed` */
export async function removeSegment(
  store: SegmentStore,
  orgRef: OrganisationRef,
  { id, ifMatch }: { id: string; ifMatch: string | null },
  audit: Auditor,
): Promise<void> {
  await revised(async () => {
    const before = await segmentOf(store, orgRef, id)
    requireRead(before, ifMatch)
    const entry = audit('segment.delete', before.name, { before: written(before) })
    return (await store.remove(orgRef, before, entry)) || null
  })
}
