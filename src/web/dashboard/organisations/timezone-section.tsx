import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Settings } from '../../../modules/organisations/model.ts'
import { browserZone } from '../analytics/zone.ts'
import { Failure } from '../api/failure.ts'
import { renew } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Field, Segments } from '../parts/field.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { type Changing, problemsAt, save, useChanging, useSettings } from './saving.ts'

const words = settingsWords.timezone

function Timezone({ settings, said }: { settings: Settings } & Changing<never>) {
  const stored = settings.timezone
  const chosen = useSignal<'browser' | 'own' | null>(null)
  const typed = useSignal<string | null>(null)
  const refused = useSignal<Failure | null>(null)
  const isBusy = useSignal(false)
  const list = useId()
  const kind = chosen.value ?? (stored === null ? 'browser' : 'own')
  const text = typed.value ?? stored ?? browserZone
  const timezone = kind === 'browser' ? null : text.trim()
  const problem = problemsAt(refused.value, '/timezone')[0]?.message
  const submit = async () => {
    isBusy.value = true
    try {
      const saved = await save({ timezone })
      said.value = saved.timezone === null ? words.savedBrowser : words.saved(saved.timezone)
      chosen.value = null
      typed.value = null
      refused.value = null
      // Pages take the zone from the session.
      await renew()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      refused.value = error
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <div>
        <Segments
          legend={words.legend}
          options={[
            ['browser', words.ofBrowser],
            ['own', words.own],
          ]}
          value={kind}
          onChoose={value => (chosen.value = value)}
        />
      </div>
      {kind === 'own' && (
        <Field label={words.label} hint={words.hint} problem={problem}>
          {wiring => (
            <>
              <input
                {...wiring}
                class="input"
                list={list}
                value={text}
                onInput={event => {
                  typed.value = event.currentTarget.value
                  refused.value = null
                }}
              />
              <datalist id={list}>
                {Intl.supportedValuesOf('timeZone').map(zone => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
      {refused.value && !problem && (
        <p class="problem" role="alert">
          {words.failed}
        </p>
      )}
      <div class="row-actions">
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy.value}
          disabled={timezone === stored || timezone === ''}
        >
          {settingsWords.save}
        </Button>
      </div>
    </form>
  )
}

/** Whose days and times the dashboard shows where the address names no zone. */
export function TimezoneSection() {
  const settings = useSettings()
  const changing = useChanging<never>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings}>{data => <Timezone settings={data} {...changing} />}</Reading>
    </>
  )
}
