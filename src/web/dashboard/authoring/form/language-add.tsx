import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { localeProblem } from '../../../../core/flow/texts/locale.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { languagesWords as words } from '../../words/languages.ts'

/** Adds another language. */
export function AddLanguage({
  flow: { locale, texts = {} },
  onAdd,
}: {
  flow: FlowDefinition
  onAdd: (tag: string) => void
}) {
  const typed = useSignal('')
  const problem = useSignal('')
  const add = () => {
    const tag = typed.value.trim()
    const isThere = tag === locale || Object.hasOwn(texts, tag)
    problem.value = (isThere ? words.isThere : localeProblem(tag)) ?? ''
    if (problem.value !== '') return
    typed.value = ''
    onAdd(tag)
  }
  return (
    <Field label={words.add} hint={words.addHint} problem={problem.value}>
      {wiring => (
        <span class="beside">
          <input
            {...wiring}
            class="input code-input short"
            autocomplete="off"
            spellcheck={false}
            dir="ltr"
            value={typed.value}
            onInput={event => (typed.value = event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add()
            }}
          />
          <Button icon="add" onClick={add}>
            {words.addButton}
          </Button>
        </span>
      )}
    </Field>
  )
}
