/**
 * What started a run, as the `reason` of its `flow_started` says. Runs keep it beside the listed traits, under a
 * name of its own, and so it is filtered and grouped by as they are. A run without one began by the rules of
 * its flow, or a back end reported it.
 */

export const startReasons = [
  'launcher',
  'button',
  'checklist',
  'trigger',
  'code',
  /** Of a launcher: it was opened while it showed unread announcements. */
  'unread',
] as const
export type StartReason = (typeof startReasons)[number]

export const startReasonTrait = '$start_reason'

/** Whether a reason is one of those that runs keep. Others are kept with their events alone. */
export const isStartReason = (reason: unknown): reason is StartReason =>
  (startReasons as readonly unknown[]).includes(reason)
