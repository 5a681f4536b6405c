import { useSignal } from '@preact/signals'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Select } from '../parts/select.tsx'

const gracePeriods = [
  ['0', '0 hours: it stops now'],
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const

const defaultHours = '24'

/** Asks how long the current key or secret should keep working, and makes a new one. */
export function Rotate<Rotated>({
  path,
  title,
  verb,
  why,
  onRotated,
  onClose,
}: {
  path: string
  title: string
  verb: string
  why: string
  onRotated: (rotated: Rotated) => void
  onClose: () => void
}) {
  const hours = useSignal<string>(defaultHours)
  return (
    <Confirm
      title={title}
      verb={verb}
      act={async () => {
        const body = { graceHours: Number(hours.value) }
        onRotated(await act<Rotated>(path, { body }))
        readAgain()
      }}
      onClose={onClose}
    >
      <p>{why}</p>
      <Select
        isInline
        label="Keep the old one valid for"
        value={hours.value}
        options={gracePeriods}
        onChange={chosen => (hours.value = chosen)}
      />
    </Confirm>
  )
}
