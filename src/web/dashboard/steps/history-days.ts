import { totalsOf } from '../../../core/step/health.ts'
import { addDays } from '../analytics/zone.ts'
import type { Slot } from '../charts/stacked-bars.tsx'
import { flowWords } from '../words/flows.ts'
import { historyWords as words } from '../words/health-history.ts'
import { formatCount, formatDay, formatShortDay } from '../words/time.ts'
import type { CheckedStep, StepCheck, StepState } from './health.ts'

export type HistoryDay = NonNullable<CheckedStep['history']>[number]
export type HistoryRange = NonNullable<StepCheck['historyRange']>

/** The people of a day who found the element as described, found it in another way, and missed it. */
export function foundOf({ people }: HistoryDay) {
  const { people: all, finds, makeshift, misses } = totalsOf(people)
  return { all, found: finds - makeshift, makeshift, misses }
}

/** A state, and the first day on which the step was in it. */
export interface StateChange {
  date: string
  state: StepState
  /** Null for the first known state. */
  before: StepState | null
}

/** The days on which the state changed. Days on which too few people reported do not count. */
export function changesOf(days: readonly HistoryDay[]): StateChange[] {
  const changes: StateChange[] = []
  for (const { date, state } of days) {
    const before = changes.at(-1)?.state ?? null
    if (state !== 'unknown' && state !== before) changes.push({ date, state, before })
  }
  return changes
}

function sayDay(day: HistoryDay): string {
  const { found, makeshift, misses } = foundOf(day)
  return [
    day.complete ? formatDay(day.date) : words.open(formatDay(day.date)),
    `${formatCount(found)} ${words.found}`,
    `${formatCount(makeshift)} ${words.makeshift}`,
    `${formatCount(misses)} ${words.misses}`,
    flowWords.health[day.state].toLowerCase(),
  ].join(', ')
}

/** All days of the range in order. Days that were not measured have nothing. */
export function slotsOf(days: readonly HistoryDay[], { from, to }: HistoryRange): Slot[] {
  const byDate = new Map(days.map(day => [day.date, day]))
  const changed = new Map(changesOf(days).map(change => [change.date, change]))
  const slots: Slot[] = []
  for (let date = from; date <= to; date = addDays(date, 1)) {
    const day = byDate.get(date)
    const change = changed.get(date)
    const counts = day && foundOf(day)
    slots.push({
      key: date,
      label: formatShortDay(date),
      said: day ? sayDay(day) : '',
      parts: counts ? [counts.found, counts.makeshift, counts.misses] : null,
      isOpen: day?.complete === false,
      mark: change?.before ? flowWords.health[change.state].toLowerCase() : null,
    })
  }
  return slots
}
