import { useSignal } from '@preact/signals'
import { may } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Select } from '../parts/select.tsx'
import { TextField } from '../parts/text-field.tsx'
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
  const urlWrong =
    url.trim() === '' ? 'Enter a page URL.' : 'Enter the full URL, with https:// or http://.'
  const urlProblem = hasTried.value && !URL.canParse(url) ? urlWrong : undefined
  const submit = (event: Event) => {
    event.preventDefault()
    hasTried.value = true
    if (!isWhole(typed.value)) return
    onAsk({ ...typed.value, url: url.trim() })
  }
  const offered = flows.filter(({ status }) => status !== 'archived')
  const people = [
    ['user', 'User ID', 'Empty for a new visitor.', user],
    ['anonymous', 'Anonymous ID', 'Of a browser without a signed-in user.', anonymous],
  ] as const
  return (
    <form class="asking grid" onSubmit={submit} noValidate>
      <div class="wide">
        <TextField
          label="Page URL"
          hint="As the browser shows it, such as https://app.example.com/projects"
          problem={urlProblem}
          isProblemOld={question.url !== ''}
          type="url"
          maxLength={2_048}
          value={url}
          onChange={text => set({ url: text })}
        />
      </div>
      <Select
        label="Flow"
        value={flow}
        none="Every published flow"
        options={offered.map(({ key, name }) => [key, name] as const)}
        onChange={chosen => set({ flow: chosen })}
      />
      {may('people:read') ? (
        people.map(([name, label, hint, value]) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            maxLength={128}
            autocomplete="off"
            value={value}
            onChange={text => set({ [name]: text })}
          />
        ))
      ) : (
        <p class="hint">Your role can check new visitors only.</p>
      )}
      <details class="wide" open={traits !== ''}>
        <summary>Other traits</summary>
        <TraitRows traits={traitsIn(question)} onChange={changed => set(withTraits(changed))} />
      </details>
      <div class="wide">
        <Button type="submit" look="primary">
          Check
        </Button>
      </div>
    </form>
  )
}
