import { useSignal } from '@preact/signals'
import type { AlertSettings } from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { save, settingsPath } from './saving.ts'

const words = {
  rule: {
    stepBroken: {
      name: 'A step is broken',
      why: 'Most people did not find its element in the last 24 hours (at least 5 people).',
    },
    completionFell: {
      name: 'Completion of a flow fell',
      why: 'By 5 percentage points or more week over week, with at least 50 runs in each week. Alerts only on drops larger than chance.',
    },
    scoreLow: {
      name: 'A low NPS',
      why: 'More detractors than promoters in the last 7 days, with at least 20 answers.',
    },
    installStale: {
      name: 'Snippet inactive',
      why: 'No page loaded the snippet for 24 hours.',
    },
    deadLetters: {
      name: 'Events were rejected',
      why: 'The database could not store some events.',
    },
  },
}

type Rules = AlertSettings['rules']

const names = ['stepBroken', 'completionFell', 'scoreLow', 'installStale', 'deadLetters'] as const

/** What Cairn watches for. */
export function RulesSection() {
  const settings = useRead<AlertSettings>(settingsPath)
  return (
    <Reading of={settings} lines={4}>
      {({ rules }) => <RulesForm rules={rules} />}
    </Reading>
  )
}

function RulesForm({ rules }: { rules: Rules }) {
  const { isBusy, refused, run } = useAction()
  const chosen = useSignal(rules)
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        run(async () => {
          await save({ rules: chosen.value })
          say('Rules saved.')
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
      <Rejection failure={refused.value} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={isBusy.value}>
          Save rules
        </Button>
      </div>
    </form>
  )
}
