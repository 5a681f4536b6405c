import type { Signal } from '@preact/signals'
import type { FlowDefinition } from '../../../core/flow/flow.ts'
import { defaultZone } from '../analytics/zone.ts'
import { DateField } from '../parts/date-field.tsx'
import { Select } from '../parts/select.tsx'

/** To how many people a flow is shown at first, and between which times. */
export interface Plan {
  percent: number
  /** As `DateField` has them; empty if not set. */
  from: string
  to: string
}

export const planOf = ({ rollout, schedule }: FlowDefinition): Plan => ({
  percent: rollout?.percent ?? 100,
  from: schedule?.from ?? '',
  to: schedule?.to ?? '',
})

const isSame = (a: Plan, b: Plan) => a.percent === b.percent && a.from === b.from && a.to === b.to

/** The flow with a plan; null if it has that already. */
export function planned(flow: FlowDefinition, plan: Plan): FlowDefinition | null {
  if (isSame(planOf(flow), plan)) return null
  const { rollout, schedule, ...rest } = flow
  const { percent, from, to } = plan
  const holdOut = rollout?.holdOut
  const timezone = schedule?.timezone ?? defaultZone()
  return {
    ...rest,
    ...((percent < 100 || holdOut !== undefined) && { rollout: { ...rollout, percent } }),
    ...((from || to) && { schedule: { ...(from && { from }), ...(to && { to }), timezone } }),
  }
}

const shares = [100, 50, 25, 10, 5, 1]

/** Fields for the share of people to begin with, and for the schedule. */
export function RolloutPlan({ of, flow }: { of: Signal<Plan | null>; flow: FlowDefinition }) {
  const plan = of.value ?? planOf(flow)
  const set = (changed: Partial<Plan>) => (of.value = { ...plan, ...changed })
  const options = [...new Set([...shares, plan.percent])].sort((a, b) => b - a)
  return (
    <div class="row gap-4 start">
      <Select
        label="Show it to"
        hint="Always the same people."
        value={`${plan.percent}`}
        options={options.map(
          share => [`${share}`, share === 100 ? 'Everyone' : `${share}% of people`] as const,
        )}
        onChange={share => set({ percent: Number(share) })}
      />
      <DateField
        label="Starts"
        isOptional
        hint="Empty: now."
        hasTime
        value={plan.from}
        onChange={from => set({ from })}
      />
      <DateField
        label="Ends"
        isOptional
        hint="Empty: when you unpublish it."
        hasTime
        value={plan.to}
        min={plan.from.slice(0, 10)}
        onChange={to => set({ to })}
      />
    </div>
  )
}
