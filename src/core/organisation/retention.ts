import { dayMs } from '../time/durations.ts'
import type { Organisation } from './catalogue.ts'

/** For how many days raw events are accepted and kept: at least one, at most these. */
export const longestRetentionDays = 3_650

/**
 * The earliest time of an event that an organisation may still send, epoch milliseconds. What was
 * received before it is deleted: an event occurs before it is received, so none is accepted that would
 * be deleted at once, and none twice whose id was given back.
 *
 * @param serverDays the server's own setting, for organisations without one
 */
export const oldestAccepted = (
  { retentionDays }: Pick<Organisation, 'retentionDays'>,
  serverDays: number,
  now: number,
): number => now - (retentionDays ?? serverDays) * dayMs
