import { useSignal } from '@preact/signals'
import type { IdentityAnswer } from '../../../modules/organisations/schema.ts'
import { ask } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { settingsWords } from '../words/settings.ts'
import { formatCount } from '../words/time.ts'
import { save } from './saving.ts'

const words = settingsWords.identity

export type Mode = IdentityAnswer['mode']

/** The secret that the change has created. */
async function firstSecret(): Promise<string | null> {
  const { value } = await ask<IdentityAnswer>('/manage/identity?secrets=shown')
  return value?.secrets[0]?.secret ?? null
}

const modes = Object.keys(words.modes) as Mode[]

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
  const refused = formatCount(last24h.invalid + last24h.missing)
  const consequence =
    chosen.value === 'enforce'
      ? words.consequence.enforce(refused)
      : words.consequence[chosen.value]
  return (
    <Confirm
      title={words.changeTitle}
      verb={words.changeVerb(words.modes[chosen.value][0].toLowerCase())}
      isDanger={chosen.value === 'enforce'}
      isReady={chosen.value !== mode}
      act={async () => {
        await save({ identityMode: chosen.value })
        onChanged(chosen.value, secrets.length === 0 ? await firstSecret() : null)
      }}
      onClose={onClose}
    >
      <fieldset class="choices">
        <legend class="unseen">{words.mode}</legend>
        {modes.map(one => (
          <label key={one} class="check">
            <input
              type="radio"
              name="mode"
              checked={one === chosen.value}
              onChange={() => (chosen.value = one)}
            />
            <span>
              {words.modes[one][0]}
              <small>{words.modes[one][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen.value !== mode && <p>{consequence}</p>}
    </Confirm>
  )
}
