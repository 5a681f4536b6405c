import { useSignal } from '@preact/signals'
import type { IdentityAnswer } from '../../../modules/organisations/schema.ts'
import { ask } from '../api/request.ts'
import { Choice } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatCount } from '../parts/format.ts'
import { save } from './saving.ts'

const modes = [
  ['off', 'Off', 'Hashes are not checked.'],
  ['observe', 'Observe', 'Hashes are checked and counted. Nothing is rejected.'],
  ['enforce', 'Enforce', 'Calls with a user ID but no valid hash are rejected.'],
] as const

export type Mode = IdentityAnswer['mode']

/** The secret that the change has created. */
async function firstSecret(): Promise<string | null> {
  const { value } = await ask<IdentityAnswer>('/manage/identity?secrets=shown')
  return value?.secrets[0]?.secret ?? null
}

/** A mode with its name and what it means. */
export const known = (mode: Mode) => modes.find(([one]) => one === mode)!

/** Asks how hashes are to be checked, and says what that means for visitors. */
export function ChangeMode({
  identity: { mode, last24h, secrets },
  onChanged,
  onClose,
}: {
  identity: IdentityAnswer
  /** The secret is given only if there was none before. */
  onChanged: (mode: Mode, secret: string | null) => void
  onClose: () => void
}) {
  const chosen = useSignal<Mode>(mode)
  const rejected = formatCount(last24h.invalid + last24h.missing)
  const consequences: Readonly<Record<Mode, string>> = {
    off: 'Anyone can claim any user ID. The secret is kept.',
    observe: 'Nothing changes for visitors. If there is no secret yet, Cairn creates one.',
    enforce: `Visitors whose calls have no valid hash see no flows. In the last 24 hours, this would have rejected ${rejected} calls.`,
  }
  return (
    <Confirm
      title="Change how hashes are checked"
      verb={`Switch to ${known(chosen.value)[1].toLowerCase()}`}
      isDanger={chosen.value === 'enforce'}
      isReady={chosen.value !== mode}
      act={async () => {
        await save({ identityMode: chosen.value })
        onChanged(chosen.value, secrets.length === 0 ? await firstSecret() : null)
      }}
      onClose={onClose}
    >
      <Choice
        label="Mode"
        options={modes}
        value={chosen.value}
        onChange={one => (chosen.value = one)}
      />
      {chosen.value !== mode && <p>{consequences[chosen.value]}</p>}
    </Confirm>
  )
}
