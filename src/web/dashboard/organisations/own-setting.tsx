import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { useAction } from '../api/action.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { settingsWords } from '../words/settings.ts'
import { problemsAt } from './saving.ts'

interface OwnSettingOf<Value extends string | number> {
  /** The name of the setting in the request to the server. */
  field: string
  stored: Value | null
  /** Offered if there is no own value yet. */
  usual: Value
  words: {
    legend: string
    /** The names of the two choices. */
    usual: string
    own: string
    label: string
    hint: string
  }
  /** Reads the typed value; a string says what is wrong with it. */
  read(text: string): { value: Value } | string
  suggestions?: readonly string[]
  /** Saves it, or asks first; null is the usual value. @throws Failure, which is shown here */
  onSave(value: Value | null): Promise<void> | void
  /** Shown below; a dialog that asks first puts there what the server has refused. */
  children?: (refused: Signal<Failure | null>) => ComponentChildren
}

/** A whole number from 1 to the most, or the message. */
export const readCount = (message: string, most: number) => (text: string) =>
  /^[1-9]\d*$/.test(text) && Number(text) <= most ? { value: Number(text) } : message

/** A form for a setting that is either the usual value or the organisation's own. */
export function OwnSetting<Value extends string | number>(props: OwnSettingOf<Value>) {
  const { field, stored, usual, words, read, suggestions, onSave, children } = props
  const chosen = useSignal<'usual' | 'own' | null>(null)
  const typed = useSignal<string | null>(null)
  const { isBusy, refused, run } = useAction()
  const list = useId()
  useEffect(() => {
    chosen.value = null
    typed.value = null
  }, [stored])
  const kind = chosen.value ?? (stored === null ? 'usual' : 'own')
  const text = typed.value ?? `${stored ?? usual}`
  const own = read(text.trim())
  const value = kind === 'usual' ? null : typeof own === 'string' ? undefined : own.value
  const problem =
    value === undefined ? (own as string) : problemsAt(refused.value, `/${field}`)[0]?.message
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        if (value !== undefined) run(() => onSave(value))
      }}
    >
      <div>
        <Segments
          label={words.legend}
          options={[
            ['usual', words.usual],
            ['own', words.own],
          ]}
          value={kind}
          onChange={one => (chosen.value = one)}
        />
      </div>
      {kind === 'own' && (
        <Field label={words.label} hint={words.hint} problem={problem}>
          {wiring => (
            <>
              <input
                {...wiring}
                class={suggestions ? 'input' : 'input short'}
                inputMode={typeof usual === 'number' ? 'numeric' : 'text'}
                list={suggestions && list}
                value={text}
                onInput={event => {
                  typed.value = event.currentTarget.value
                  refused.value = null
                }}
              />
              {suggestions && (
                <datalist id={list}>
                  {suggestions.map(one => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              )}
            </>
          )}
        </Field>
      )}
      {refused.value && !problem && (
        <p class="problem" role="alert">
          {settingsWords.failed}
        </p>
      )}
      <div class="row-actions">
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy.value}
          disabled={value === undefined || value === stored}
        >
          {settingsWords.save}
        </Button>
      </div>
      {children?.(refused)}
    </form>
  )
}
