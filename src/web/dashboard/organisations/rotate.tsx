import { useSignal } from '@preact/signals'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Select } from '../parts/select.tsx'
import { settingsWords as words } from '../words/settings.ts'

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
  const hours = useSignal(defaultHours)
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
        label={words.grace}
        value={hours.value}
        options={words.graces}
        onChange={chosen => (hours.value = chosen)}
      />
    </Confirm>
  )
}
