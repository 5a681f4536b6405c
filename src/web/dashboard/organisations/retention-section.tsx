import { useSignal } from '@preact/signals'
import type { Settings } from '../../../modules/organisations/model.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Field, Segments } from '../parts/field.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { type Changing, problemsAt, save, useChanging, useSettings } from './saving.ts'

const words = settingsWords.retention
const usualDays = '30'

/** The days that are asked for; null for the server's. */
interface Asked {
  days: number | null
}

function Retention({ settings, said, asked }: { settings: Settings } & Changing<Asked>) {
  const stored = settings.retentionDays
  const typed = useSignal<string | null>(null)
  const chosen = useSignal<'server' | 'own' | null>(null)
  const refused = useSignal<Failure | null>(null)
  const kind = chosen.value ?? (stored === null ? 'server' : 'own')
  const text = typed.value ?? `${stored ?? usualDays}`
  const days = kind === 'server' ? null : Number(text)
  const isNumber = kind === 'server' || /^[1-9]\d*$/.test(text.trim())
  const problem = isNumber
    ? problemsAt(refused.value, '/retentionDays')[0]?.message
    : words.badNumber
  const close = () => {
    asked.value = null
  }
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        if (isNumber) asked.value = { days }
      }}
    >
      <div>
        <Segments
          legend={words.legend}
          options={[
            ['server', words.ofServer],
            ['own', words.own],
          ]}
          value={kind}
          onChoose={value => (chosen.value = value)}
        />
      </div>
      {kind === 'own' && (
        <Field label={words.days} hint={words.hint} problem={problem}>
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
      <div class="row-actions">
        <Button type="submit" look="primary" disabled={!isNumber || days === stored}>
          {settingsWords.save}
        </Button>
      </div>
      {asked.value && (
        <Confirm
          title={words.title}
          verb={words.change}
          isDanger
          act={async () => {
            const { retentionDays } = await save({ retentionDays: asked.value!.days })
            said.value = retentionDays === null ? words.savedServer : words.savedDays(retentionDays)
            typed.value = null
            chosen.value = null
          }}
          onRefused={failure => {
            refused.value = failure
            if (failure.status === 422) close()
          }}
          onDone={close}
          onClose={close}
        >
          <p>{stored !== null && (days ?? 0) > stored ? words.longer : words.shorter}</p>
        </Confirm>
      )}
    </form>
  )
}

/** For how long raw events are kept. */
export function RetentionSection() {
  const settings = useSettings()
  const changing = useChanging<Asked>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings}>{data => <Retention settings={data} {...changing} />}</Reading>
    </>
  )
}
