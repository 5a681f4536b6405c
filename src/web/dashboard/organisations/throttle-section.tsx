import { useSignal } from '@preact/signals'
import type { Settings } from '../../../modules/organisations/model.ts'
import { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Field, Segments } from '../parts/field.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { throttleWords as words } from '../words/when.ts'
import { type Changing, problemsAt, save, useChanging, useSettings } from './saving.ts'

const usual = '3'

function Throttle({ settings, said }: { settings: Settings } & Changing<never>) {
  const stored = settings.throttle
  const chosen = useSignal<'none' | 'most' | null>(null)
  const typed = useSignal<string | null>(null)
  const refused = useSignal<Failure | null>(null)
  const isBusy = useSignal(false)
  const kind = chosen.value ?? (stored === null ? 'none' : 'most')
  const text = typed.value ?? `${stored ?? usual}`
  const isNumber = kind === 'none' || /^[1-9]\d*$/.test(text.trim())
  const throttle = kind === 'none' ? null : Number(text)
  const problem = isNumber ? problemsAt(refused.value, '/throttle')[0]?.message : words.badNumber
  const submit = async () => {
    isBusy.value = true
    try {
      const saved = await save({ throttle })
      said.value = saved.throttle === null ? words.savedNone : words.saved(saved.throttle)
      chosen.value = null
      typed.value = null
      refused.value = null
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
        if (isNumber) submit()
      }}
    >
      <div>
        <Segments
          legend={words.legend}
          options={[
            ['none', words.none],
            ['most', words.most],
          ]}
          value={kind}
          onChoose={value => (chosen.value = value)}
        />
      </div>
      {kind === 'most' && (
        <Field label={words.times} hint={words.hint} problem={problem}>
          {wiring => (
            <input
              {...wiring}
              class="input short"
              inputMode="numeric"
              value={text}
              onInput={event => {
                typed.value = event.currentTarget.value
                refused.value = null
              }}
            />
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
          disabled={!isNumber || throttle === stored}
        >
          {settingsWords.save}
        </Button>
      </div>
    </form>
  )
}

/** How often a person is interrupted in a day. */
export function ThrottleSection() {
  const settings = useSettings()
  const changing = useChanging<never>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings}>{data => <Throttle settings={data} {...changing} />}</Reading>
    </>
  )
}
