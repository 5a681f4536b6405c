import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { SettingsBody } from '../../../modules/organisations/model.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Field } from '../parts/field.tsx'
import { settingsWords } from '../words/settings.ts'
import { type Changing, problemsAt, save } from './saving.ts'

/** The texts of the form about its list. */
interface ListWords {
  label: string
  hint: string
  title: string
  change: string
  saved(count: number): string
  /** What the server says about an entry, together with that entry. */
  atLine(entry: string, message: string): string
}

interface ListSettingOf {
  field: 'origins' | 'traits'
  stored: readonly string[]
  words: ListWords
  /** Reads the entries from what somebody has typed. */
  listed(text: string): string[]
  /** Shown if the list is empty. */
  none: string
  footnote?: string
  /** What the change means, above or below the entries. */
  consequence(after: readonly string[]): ComponentChildren
}

const problemOf = (
  failure: Failure | null,
  { field, words }: ListSettingOf,
  entries: readonly string[],
) =>
  problemsAt(failure, `/${field}`)
    .map(({ path, message }) => {
      const entry = entries[Number(path.split('/')[2])]
      return entry === undefined ? message : words.atLine(entry, message)
    })
    .join(' ')

/** The entries as they will be after the change. */
export const Entries = ({ of }: { of: readonly string[] }) => (
  <ul class="listed">
    {of.map(entry => (
      <li key={entry}>
        <code>{entry}</code>
      </li>
    ))}
  </ul>
)

/** A setting that is a list, one entry per line. It is saved after its consequence was shown. */
export function ListSetting(props: ListSettingOf & Changing<readonly string[]>) {
  const { field, stored, words, listed, none, footnote, consequence, said, asked } = props
  const typed = useSignal<string | null>(null)
  const refused = useSignal<Failure | null>(null)
  const before = stored.join('\n')
  const text = typed.value ?? before
  const entries = listed(text)
  const close = () => {
    asked.value = null
  }
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        asked.value = entries
      }}
    >
      {stored.length === 0 && <p>{none}</p>}
      <Field
        label={words.label}
        hint={words.hint}
        problem={problemOf(refused.value, props, entries) || undefined}
      >
        {wiring => (
          <textarea
            {...wiring}
            class="input"
            rows={Math.max(4, entries.length + 1)}
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
      {footnote && <p class="footnote">{footnote}</p>}
      <div class="row-actions">
        <Button type="submit" look="primary" disabled={entries.join('\n') === before}>
          {settingsWords.save}
        </Button>
      </div>
      {asked.value && (
        <Confirm
          title={words.title}
          verb={words.change}
          act={async () => {
            const body: SettingsBody = { [field]: [...asked.value!] }
            said.value = words.saved((await save(body))[field].length)
            typed.value = null
          }}
          onRefused={failure => {
            refused.value = failure
            if (failure.status === 422) close()
          }}
          onDone={close}
          onClose={close}
        >
          {consequence(asked.value)}
        </Confirm>
      )}
    </form>
  )
}
