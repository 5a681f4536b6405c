import { type Signal, useSignal } from '@preact/signals'
import type { AlertSettings } from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { addressOf } from '../shell/address.ts'
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

const names = ['stepBroken', 'completionFell', 'scoreLow', 'installStale', 'deadLetters'] as const

/** What Cairn watches for. */
export function RulesSection() {
  const settings = useRead<AlertSettings>(settingsPath)
  const statusText = useSignal<string | null>(null)
  return (
    <>
      <StatusMessage of={statusText} />
      <Reading of={settings} lines={4}>
        {settings => <RulesForm settings={settings} statusText={statusText} />}
      </Reading>
    </>
  )
}

function RulesForm({
  settings: { rules, report },
  statusText,
}: {
  settings: AlertSettings
  statusText: Signal<string | null>
}) {
  const { isBusy, refused, run } = useAction()
  const chosen = useSignal(rules)
  const isMailed = useSignal(report.alerts)
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        run(async () => {
          await save({ rules: chosen.value, report: { alerts: isMailed.value } })
          statusText.value = 'Rules saved.'
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
      <Check
        label="Send alerts by email"
        note={
          <>
            To the confirmed addresses of the{' '}
            <a href={addressOf(['settings', 'report'])}>weekly report</a>. Webhooks get alerts in
            any case.
          </>
        }
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
