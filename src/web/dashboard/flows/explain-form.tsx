import { useSignal } from '@preact/signals'
import { may } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { explainWords as words } from '../words/explain.ts'
import { isWhole, type Question, traitsIn, withTraits } from './explain-question.ts'
import type { AuthoredFlow } from './flow-list.ts'
import { TraitRows } from './trait-rows.tsx'

/** Asks what to explain, and passes it on once all of it makes sense. */
export function ExplainForm({
  question,
  flows,
  onAsk,
}: {
  question: Question
  flows: readonly AuthoredFlow[]
  onAsk: (question: Question) => void
}) {
  const typed = useSignal(question)
  const hasTried = useSignal(question.url !== '' && !isWhole(question))
  const { url, flow, user, anonymous, traits } = typed.value
  const set = (changed: Partial<Question>) => {
    typed.value = { ...typed.value, ...changed }
  }
  const urlProblem = hasTried.value && !URL.canParse(url) ? words.urlWrong(url) : undefined
  const submit = (event: Event) => {
    event.preventDefault()
    hasTried.value = true
    if (!isWhole(typed.value)) return
    onAsk({ ...typed.value, url: url.trim() })
  }
  const offered = flows.filter(({ status }) => status !== 'archived')
  const people = [
    ['user', words.user, words.userHint, user],
    ['anonymous', words.anonymous, words.anonymousHint, anonymous],
  ] as const
  return (
    <form class="asking" onSubmit={submit} noValidate>
      <div class="wide">
        <Field
          label={words.url}
          hint={words.urlHint}
          problem={urlProblem}
          isProblemOld={question.url !== ''}
        >
          {wiring => (
            <input
              {...wiring}
              class="input"
              type="url"
              maxLength={2_048}
              value={url}
              onInput={event => set({ url: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label={words.flow}>
        {wiring => (
          <select
            {...wiring}
            class="input select"
            value={flow}
            onChange={event => set({ flow: event.currentTarget.value })}
          >
            <option value="">{words.everyFlow}</option>
            {offered.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
            {flow !== '' && !offered.some(({ key }) => key === flow) && (
              <option value={flow}>{flow}</option>
            )}
          </select>
        )}
      </Field>
      {may('people:read') ? (
        people.map(([name, label, hint, value]) => (
          <Field key={name} label={label} hint={hint}>
            {wiring => (
              <input
                {...wiring}
                class="input"
                maxLength={128}
                autocomplete="off"
                spellcheck={false}
                value={value}
                onInput={event => set({ [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))
      ) : (
        <p class="hint">{words.noPeople}</p>
      )}
      <details class="wide" open={traits !== ''}>
        <summary>Other traits</summary>
        <TraitRows traits={traitsIn(question)} onChange={changed => set(withTraits(changed))} />
      </details>
      <div class="wide">
        <Button type="submit" look="primary">
          {words.ask}
        </Button>
      </div>
    </form>
  )
}
