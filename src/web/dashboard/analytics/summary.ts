import type { Summary } from '../../../modules/analytics/schema.ts'
import { type Read, useRead } from '../api/read.ts'
import { addDays, dayIn } from './zone.ts'

export type FlowSummary = Summary['flows'][number]

/** The numbers of every flow are computed anew for each answer, so they are read less often. */
const everyMs = 60_000

/** The numbers of every flow over the last days, today included. */
export function useSummary(days: number, zone: string): Read<Summary> {
  const from = addDays(dayIn(zone), 1 - days)
  return useRead<Summary>(
    `/manage/summary?${new URLSearchParams({ from, timezone: zone })}`,
    everyMs,
  )
}
