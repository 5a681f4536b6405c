import type { Summary } from '../../../modules/analytics/model.ts'
import { type Read, useRead } from '../api/read.ts'

export type FlowSummary = Summary['flows'][number]

/** Numbers of every flow are worked out anew for each answer: not for every glance. */
const everyMs = 30_000

/** The zone of this browser, where the address names none. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const dayMs = 86_400_000

/** A calendar day, so many days before today in a zone. */
export function dayBefore(days: number, timeZone: string, now = Date.now()): string {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone }).format(now)
  return new Date(Date.parse(`${today}T00:00:00Z`) - days * dayMs).toISOString().slice(0, 10)
}

/** The numbers of every flow over the last days, today included. */
export function useSummary(days: number, zone: string): Read<Summary> {
  const query = new URLSearchParams({ from: dayBefore(days - 1, zone), timezone: zone })
  return useRead<Summary>(`/manage/summary?${query}`, everyMs)
}
