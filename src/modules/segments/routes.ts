import { auditOf, management } from '../../http/management.ts'
import type { Route } from '../../http/route.ts'
import type { SegmentStore, Segment as StoredSegment } from '../../storage/interfaces/segments.ts'
import { NewSegment, Segment, SegmentList } from './schema.ts'
import { changeSegment, createSegment, etagOf, removeSegment, segmentOf } from './service.ts'

const reads = management('flows:read')
const writes = management('flows:write')

const returned = ({ revision, ...segment }: StoredSegment) => ({
  ...segment,
  etag: etagOf({ revision }),
})

const etag = (segment: { etag: string }) => segment.etag

/** Routes for segments. They name no person, so whoever edits flows may edit them. */
export const segmentRoutes = ({ segments: store }: { segments: SegmentStore }): Route[] => [
  reads.get(
    '/manage/segments',
    'listSegments',
    'List segments',
    { returns: SegmentList },
    async ({ org }) => ({
      segments: (await store.list(org.ref)).map(returned),
    }),
  ),
  writes.post(
    '/manage/segments',
    'createSegment',
    'Create a segment',
    {
      body: NewSegment,
      returns: Segment,
      errors: ['segment_name_taken', 'too_many_segments'],
      etag,
    },
    async call => returned(await createSegment(store, call.org.ref, call.body, auditOf(call))),
  ),
  reads.get(
    '/manage/segments/:segment_id',
    'getSegment',
    'Get a segment',
    { returns: Segment, errors: ['segment_not_found'], etag },
    async ({ org, params }) => returned(await segmentOf(store, org.ref, params.segment_id ?? '')),
  ),
  writes.put(
    '/manage/segments/:segment_id',
    'changeSegment',
    'Change a segment',
    {
      description: 'Flows that copied its rules keep the rules that they copied.',
      body: NewSegment,
      returns: Segment,
      errors: ['segment_not_found', 'segment_name_taken'],
      isConditional: true,
      etag,
    },
    async call => {
      const { org, params, body, request } = call
      const ifMatch = request.headers.get('if-match')
      const change = { id: params.segment_id ?? '', body, ifMatch }
      return returned(await changeSegment(store, org.ref, change, auditOf(call)))
    },
  ),
  writes.remove(
    '/manage/segments/:segment_id',
    'deleteSegment',
    'Delete a segment',
    { errors: ['segment_not_found'], isConditional: true, response: 'Segment deleted.' },
    call => {
      const { org, params, request } = call
      const segment = { id: params.segment_id ?? '', ifMatch: request.headers.get('if-match') }
      return removeSegment(store, org.ref, segment, auditOf(call))
    },
  ),
]
