import { type Signal, useSignal } from '@preact/signals'
import type { AlertSettings } from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { alertWords as words } from '../words/alerts.ts'
import { Refused } from './refused.tsx'
import { save } from './saving.ts'

type Rules = AlertSettings['rules']

const names = ['stepBroken', 'completionFell', 'installStale', 'deadLetters'] as const

/** Which rules are on. */
export function RulesForm({
  rules,
  statusText,
}: {
  rules: Rules
  statusText: Signal<string | null>
}) {
  const { isBusy, refused, run } = useAction()
  const chosen = useSignal(rules)
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        run(async () => {
          await save({ rules: chosen.value })
          statusText.value = words.saved
        })
      }}
    >
      {names.map(name => (
        <Check
          key={name}
          label={words.rule[name].name}
          note={words.rule[name].why}
          checked={chosen.value[name].on}
          onChange={on => (chosen.value = { ...chosen.value, [name]: { on } })}
        />
      ))}
      <Refused of={refused.value} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={isBusy.value}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}
