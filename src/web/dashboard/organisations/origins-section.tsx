import { useSignal } from '@preact/signals'
import type { Settings } from '../../../modules/organisations/model.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Field } from '../parts/field.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { type Changing, problemsAt, save, useChanging, useSettings } from './saving.ts'

const words = settingsWords.origins

const listed = (text: string) =>
  text
    .split(/[\s,]+/)
    .map(origin => origin.trim())
    .filter(Boolean)

/** What the server says of each, beside the line that it is about. */
const problemOf = (failure: Failure | null, origins: readonly string[]) =>
  problemsAt(failure, '/origins')
    .map(({ path, message }) => {
      const origin = origins[Number(path.split('/')[2])]
      return origin === undefined ? message : words.atLine(origin, message)
    })
    .join(' ')

function Origins({ settings, said, asked }: { settings: Settings } & Changing<readonly string[]>) {
  const typed = useSignal<string | null>(null)
  const refused = useSignal<Failure | null>(null)
  const stored = settings.origins.join('\n')
  const text = typed.value ?? stored
  const origins = listed(text)
  const closed = settings.origins.filter(origin => !origins.includes(origin))
  const consequence =
    origins.length === 0 ? words.opens : closed.length > 0 ? words.closes(closed.join(', ')) : ''
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        asked.value = origins
      }}
    >
      {settings.origins.length === 0 && <p>{words.any}</p>}
      <Field
        label={words.label}
        hint={words.hint}
        problem={problemOf(refused.value, origins) || undefined}
      >
        {wiring => (
          <textarea
            {...wiring}
            class="input"
            rows={Math.max(4, origins.length + 1)}
            spellcheck={false}
            value={text}
            onInput={event => {
              typed.value = event.currentTarget.value
              refused.value = null
              said.value = null
            }}
          />
        )}
      </Field>
      <div class="row-actions">
        <Button type="submit" look="primary" disabled={origins.join('\n') === stored}>
          {settingsWords.save}
        </Button>
      </div>
      {asked.value && (
        <Confirm
          title={words.title}
          verb={words.change}
          act={async () => {
            const saved = await save({ origins: [...asked.value!] })
            said.value = words.saved(saved.origins.length)
            typed.value = null
          }}
          onRefused={failure => {
            refused.value = failure
            if (failure.status === 422) asked.value = null
          }}
          onDone={() => (asked.value = null)}
          onClose={() => (asked.value = null)}
        >
          {consequence && <p>{consequence}</p>}
          {origins.length > 0 && (
            <ul class="listed">
              {origins.map(origin => (
                <li key={origin}>
                  <code>{origin}</code>
                </li>
              ))}
            </ul>
          )}
        </Confirm>
      )}
    </form>
  )
}

/** Where the snippet may run. */
export function OriginsSection() {
  const settings = useSettings()
  const changing = useChanging<readonly string[]>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings}>{data => <Origins settings={data} {...changing} />}</Reading>
    </>
  )
}
