import { useSignal } from '@preact/signals'
import type { Static } from '@sinclair/typebox'
import type {
  SegmentList as ListShape,
  Segment as SegmentShape,
} from '../../../modules/segments/schema.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { TextField } from '../parts/text-field.tsx'
import type { PeopleFilter } from './filter.ts'

export type Segment = Static<typeof SegmentShape>
export type SegmentList = Static<typeof ListShape>

/** All segments, for whoever offers them: results as a filter, a flow's form as rules to copy. */
export const segmentsPath = '/manage/segments'

/** Gives a filter a name. */
export function SaveSegment({
  filter,
  onSaved,
  onClose,
}: {
  filter: PeopleFilter
  onSaved: (id: string) => void
  onClose: () => void
}) {
  const name = useSignal('')
  return (
    <Confirm
      title="Save as segment"
      verb="Save segment"
      isReady={name.value.trim() !== ''}
      act={async () => {
        const body = { name: name.value.trim(), filter }
        const { id } = await act<Segment>(segmentsPath, { body })
        readAgain()
        onSaved(id)
      }}
      onClose={onClose}
    >
      <p>
        Everyone in your organisation can use the segment in People and, if it has only traits, in
        Results. A flow that takes its rules keeps them when the segment changes.
      </p>
      <TextField
        label="Name"
        value={name.value}
        maxLength={80}
        onChange={text => (name.value = text)}
      />
    </Confirm>
  )
}

/** Deletes a segment. */
export const DeleteSegment = ({
  segment: { id, name, etag },
  onClose,
  onDeleted,
}: {
  segment: Segment
  onClose: () => void
  onDeleted: () => void
}) => (
  <Confirm
    title={`Delete ${name}`}
    verb="Delete segment"
    isDanger
    act={async () => {
      await act(`${segmentsPath}/${id}`, { method: 'DELETE', ifMatch: etag })
      readAgain()
      onDeleted()
    }}
    onClose={onClose}
  >
    <p>Nobody in it is deleted. Flows that took its rules keep them.</p>
  </Confirm>
)
