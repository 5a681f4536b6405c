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

const rules = [
  [
    'stepBroken',
    'A step is broken',
    'Most people did not find its element in the last 24 hours (at least 5 people).',
  ],
  [
    'completionFell',
    'Completion of a flow fell',
    'By 5 percentage points or more week over week, with at least 50 runs in each week. Alerts only on drops larger than chance.',
  ],
  [
    'scoreLow',
    'A low NPS',
    'More detractors than promoters in the last 7 days, with at least 20 answers.',
  ],
  ['installStale', 'Snippet inactive', 'No page loaded the snippet for 24 hours.'],
  ['deadLetters', 'Events were rejected', 'The database could not store some events.'],
] as const

/** What Cairn watches for. */
export function RulesSection() {
  const settings = useRead<AlertSettings>(settingsPath)
  return (
    <Reading of={settings} lines={4}>
      {data => <RulesForm stored={data} />}
    </Reading>
  )
}

function RulesForm({ stored }: { stored: AlertSettings }) {
  const { isBusy, refused, run } = useAction()
  const chosen = useSignal(stored.rules)
  const isMailed = useSignal(stored.report.alerts)
  return (
    <form
      class="setting-form stack gap-3"
      onSubmit={event => {
        event.preventDefault()
        run(async () => {
          await save({ rules: chosen.value, report: { alerts: isMailed.value } })
          say('Rules saved.')
        })
      }}
    >
      {rules.map(([rule, name, means]) => (
        <Check
          key={rule}
          label={name}
          note={means}
          checked={chosen.value[rule].on}
          onChange={on => (chosen.value = { ...chosen.value, [rule]: { on } })}
        />
      ))}
      <Check
        label="Send alerts by email"
        note="To the confirmed addresses under Weekly report. Webhooks get alerts in any case."
        checked={isMailed.value}
        onChange={checked => (isMailed.value = checked)}
      />
      <Rejection failure={refused.value} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={isBusy.value}>
          Save rules
        </Button>
      </div>
    </form>
  )
}
