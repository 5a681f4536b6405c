export const presenceStages = ['key_used', 'flows_fetched', 'heartbeat', 'events_flowing'] as const

/** What is recorded about an organisation by first and last time: the stages, and a hint at a fault. */
export const presenceMarks = [...presenceStages, 'old_key_used'] as const

export type PresenceMark = (typeof presenceMarks)[number]
