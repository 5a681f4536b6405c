import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { AlertSettings } from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/check.tsx'
import { Choice } from '../parts/choice.tsx'
import { InputField } from '../parts/field.tsx'
import { alertWords as words } from '../words/alerts.ts'
import { Refused } from './refused.tsx'
import { save } from './saving.ts'

type Rules = AlertSettings['rules']

/** A rule, whether it is on, and its thresholds if it is. */
function Rule({
  name,
  isOn,
  children,
}: {
  name: keyof Rules
  isOn: Signal<boolean>
  children?: ComponentChildren
}) {
  return (
    <div class="alert-rule">
      <Check
        label={words.rule[name].name}
        note={words.rule[name].why}
        checked={isOn.value}
        onChange={checked => (isOn.value = checked)}
      />
      {isOn.value && <div class="alert-rule-fields">{children}</div>}
    </div>
  )
}

const isWhole = (text: string) => /^[1-9]\d{0,5}$/.test(text.trim())

function Whole({ label, of }: { label: string; of: Signal<string> }) {
  return (
    <InputField
      label={label}
      problem={isWhole(of.value) ? undefined : words.badNumber}
      of={of}
      class="input short"
      inputMode="numeric"
    />
  )
}

/** Which rules are on, and at which thresholds they alert. */
export function RulesForm({ rules, said }: { rules: Rules; said: Signal<string | null> }) {
  const { isBusy, refused, run } = useAction()
  const step = useSignal(rules.stepBroken.on)
  const from = useSignal<string>(rules.stepBroken.from)
  const completion = useSignal(rules.completionFell.on)
  const points = useSignal(`${rules.completionFell.points}`)
  const fewestRuns = useSignal(`${rules.completionFell.fewestRuns}`)
  const install = useSignal(rules.installStale.on)
  const hours = useSignal(`${rules.installStale.hours}`)
  const letters = useSignal(rules.deadLetters.on)
  const fewest = useSignal(`${rules.deadLetters.fewest}`)
  const isReady = [points, fewestRuns, hours, fewest].every(({ value }) => isWhole(value))
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        run(async () => {
          await save({
            rules: {
              stepBroken: { on: step.value, from: from.value as 'broken' },
              completionFell: {
                ...{ on: completion.value, points: Number(points.value) },
                fewestRuns: Number(fewestRuns.value),
              },
              installStale: { on: install.value, hours: Number(hours.value) },
              deadLetters: { on: letters.value, fewest: Number(fewest.value) },
            },
          })
          said.value = words.saved
        })
      }}
    >
      <Rule name="stepBroken" isOn={step}>
        <Choice
          label={words.from}
          value={from.value}
          options={words.states}
          onChoose={chosen => (from.value = chosen)}
        />
      </Rule>
      <Rule name="completionFell" isOn={completion}>
        <Whole label={words.points} of={points} />
        <Whole label={words.fewestRuns} of={fewestRuns} />
      </Rule>
      <Rule name="installStale" isOn={install}>
        <Whole label={words.hours} of={hours} />
      </Rule>
      <Rule name="deadLetters" isOn={letters}>
        <Whole label={words.fewest} of={fewest} />
      </Rule>
      <Refused of={refused.value} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={isBusy.value} disabled={!isReady}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}
