import { useSignal } from '@preact/signals'
import type { Settings } from '../../../modules/organisations/schema.ts'
import { useAction } from '../api/action.ts'
import { renew } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { nameWords as words } from '../words/name.ts'
import { settingsWords } from '../words/settings.ts'
import { type Changing, problemsAt, save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

function Name({ settings, said }: { settings: Settings } & Changing<never>) {
  const typed = useSignal<string | null>(null)
  const { isBusy, refused, run } = useAction()
  const name = (typed.value ?? settings.name).trim()
  const problem =
    refused.value && (problemsAt(refused.value, '/name')[0]?.message ?? settingsWords.failed)
  const rename = async () => {
    said.value = words.saved((await save({ name })).name)
    typed.value = null
    // Pages take the name from the session.
    await renew()
  }
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        run(rename)
      }}
    >
      <Field label={words.label} hint={words.hint(settings.slug)} problem={problem ?? undefined}>
        {wiring => (
          <input
            {...wiring}
            class="input"
            value={typed.value ?? settings.name}
            onInput={event => {
              typed.value = event.currentTarget.value
              refused.value = null
              said.value = null
            }}
          />
        )}
      </Field>
      <div class="row-actions">
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy.value}
          disabled={name === '' || name === settings.name}
        >
          {settingsWords.save}
        </Button>
      </div>
    </form>
  )
}

/** What the organisation is called. */
export const NameSection = () => (
  <SettingSection why={words.why}>
    {(settings, changing) => <Name settings={settings} {...changing} />}
  </SettingSection>
)
