import type { Static } from '@sinclair/typebox'
import type { Mapping, Plain } from '../../../../core/flow/plain.ts'
import type { SegmentList } from '../../../../modules/segments/schema.ts'
import { useRead } from '../../api/read.ts'
import { may } from '../../api/session.ts'
import { Select } from '../../parts/select.tsx'
import { withValue } from './flow-json.ts'
import { useForm } from './form.ts'
import type { ControlProps } from './table.ts'

/** Copies the rules on traits of a segment into the audience. */
export function SegmentField({ frame, path }: ControlProps) {
  const { change, isLocked } = useForm()
  const canRead = may('people:read') && !isLocked
  const { data } = useRead<Static<typeof SegmentList>>(canRead ? '/manage/segments' : null)
  const usable = (data?.segments ?? []).filter(({ filter }) => filter.rules?.length)
  if (usable.length === 0) return null
  const audience = path.slice(0, -1)
  return (
    <Select
      {...frame}
      value=""
      none="Choose a segment…"
      options={usable.map(({ id, name }) => [id, name])}
      onChange={chosen => {
        const { match, rules } = usable.find(({ id }) => id === chosen)!.filter
        const copied = { ...(match === 'any' && { match }), rules: structuredClone(rules) }
        change(now => withValue(now, audience, copied as Plain) as Mapping)
      }}
    />
  )
}
