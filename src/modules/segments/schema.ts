import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { PeopleFilter } from '../../core/person/filter.ts'
import { Instant, Text } from '../../core/shapes.ts'

/** The most segments of an organisation. */
export const maxSegments = 50

const fields = {
  name: text(1, 80, {
    description: 'Unique in the organisation.',
    examples: ['Pro, not onboarded'],
  }),
  filter: PeopleFilter,
}

export const NewSegment = closed(fields)
export type NewSegment = Static<typeof NewSegment>

export const Segment = Type.Object(
  {
    id: Text("The segment's ID.", 'segment_3pNw7sQk1XvLt5Zb8d'),
    name: fields.name,
    filter: Type.Unsafe<PeopleFilter>(PeopleFilter),
    changedAt: Instant('When it was created or last changed.'),
    etag: Text('To be sent as `If-Match` with a change.', '"1"'),
  },
  { title: 'Segment' },
)

export const SegmentList = Type.Object(
  { segments: Type.Array(Segment, { description: 'By name.' }) },
  { title: 'SegmentList' },
)
