import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { SettingsBody } from '../../../modules/organisations/schema.ts'
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
  /** What is wrong with an entry, together with that entry. */
  atLine(entry: string, message: string): string
}

interface ListSettingOf {
  field: 'origins' | 'traits'
  stored: readonly string[]
  words: ListWords
  /** Reads the entries from what somebody has typed. */
  listed(text: string): string[]
  /** What is wrong with an entry, as the server judges it; null if nothing is. */
  faultOf(entry: string): string | null
  /** Shown if the list is empty. */
  none: string
  footnote?: string
  /** What the change means, above or below the entries. */
  consequence(after: readonly string[]): ComponentChildren
}

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
export function ListSetting({
  field,
  stored,
  words,
  listed,
  faultOf,
  none,
  footnote,
  consequence,
  said,
  asked,
}: ListSettingOf & Changing<readonly string[]>) {
  const typed = useSignal<string | null>(null)
  const problem = useSignal<string | undefined>(undefined)
  const before = stored.join('\n')
  const text = typed.value ?? before
  const entries = listed(text)
  const close = () => (asked.value = null)
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        const problems = entries.flatMap(entry => {
          const fault = faultOf(entry)
          return fault === null ? [] : words.atLine(entry, fault)
        })
        problem.value = problems.join(' ') || undefined
        if (problems.length === 0) asked.value = entries
      }}
    >
      {stored.length === 0 && <p>{none}</p>}
      <Field label={words.label} hint={words.hint} problem={problem.value}>
        {wiring => (
          <textarea
            {...wiring}
            class="input"
            rows={Math.max(4, entries.length + 1)}
            spellcheck={false}
            value={text}
            onInput={event => {
              typed.value = event.currentTarget.value
              problem.value = undefined
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
            if (failure.status !== 422) return
            problem.value = problemsAt(failure, `/${field}`)
              .map(({ message }) => message)
              .join(' ')
            close()
          }}
          onClose={close}
        >
          {consequence(asked.value)}
        </Confirm>
      )}
    </form>
  )
}
