import { useSignal } from '@preact/signals'
import { mayNameSomebody } from '../../../core/event/traits.ts'
import type { Settings } from '../../../modules/organisations/model.ts'
import { manual } from '../api/base.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Field } from '../parts/field.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { traitWords as words } from '../words/traits.ts'
import { type Changing, problemsAt, save, useChanging, useSettings } from './saving.ts'

const listed = (text: string) => [
  ...new Set(
    text
      .split(/[\n,]+/)
      .map(trait => trait.trim())
      .filter(Boolean),
  ),
]

/** What the server says of each, beside the line that it is about. */
const problemOf = (failure: Failure | null, traits: readonly string[]) =>
  problemsAt(failure, '/traits')
    .map(({ path, message }) => {
      const trait = traits[Number(path.split('/')[2])]
      return trait === undefined ? message : words.atLine(trait, message)
    })
    .join(' ')

/** What a change comes to. */
function Consequence({ before, after }: { before: readonly string[]; after: readonly string[] }) {
  const gone = before.filter(trait => !after.includes(trait))
  const personal = after.filter(mayNameSomebody)
  return (
    <>
      {after.length > 0 && (
        <>
          <p>{words.added}</p>
          <ul class="listed">
            {after.map(trait => (
              <li key={trait}>
                <code>{trait}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {gone.length > 0 && <p>{words.removed(gone.join(', '))}</p>}
      {personal.length > 0 && (
        <p>
          <strong>{words.personal(personal.join(', '))}</strong>
        </p>
      )}
    </>
  )
}

function Traits({ settings, said, asked }: { settings: Settings } & Changing<readonly string[]>) {
  const typed = useSignal<string | null>(null)
  const refused = useSignal<Failure | null>(null)
  const stored = settings.traits.join('\n')
  const text = typed.value ?? stored
  const traits = listed(text)
  const close = () => {
    asked.value = null
  }
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        asked.value = traits
      }}
    >
      {settings.traits.length === 0 && <p>{words.none}</p>}
      <Field
        label={words.label}
        hint={words.hint}
        problem={problemOf(refused.value, traits) || undefined}
      >
        {wiring => (
          <textarea
            {...wiring}
            class="input"
            rows={4}
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
      <p class="footnote">{words.warning}</p>
      <div class="row-actions">
        <Button type="submit" look="primary" disabled={traits.join('\n') === stored}>
          {settingsWords.save}
        </Button>
      </div>
      {asked.value && (
        <Confirm
          title={words.title}
          verb={words.change}
          act={async () => {
            const saved = await save({ traits: [...asked.value!] })
            said.value = words.saved(saved.traits.length)
            typed.value = null
          }}
          onRefused={failure => {
            refused.value = failure
            if (failure.status === 422) close()
          }}
          onDone={close}
          onClose={close}
        >
          <Consequence before={settings.traits} after={asked.value} />
        </Confirm>
      )}
    </form>
  )
}

/** Which traits of people are kept with their runs. */
export function TraitsSection() {
  const settings = useSettings()
  const changing = useChanging<readonly string[]>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={changing.said} />
      <Reading of={settings}>{data => <Traits settings={data} {...changing} />}</Reading>
      <p class="footnote">
        <a href={manual('privacy')}>{words.manual}</a>
      </p>
    </>
  )
}
