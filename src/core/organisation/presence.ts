export const presenceStages = ['key_used', 'flows_fetched', 'heartbeat', 'events_flowing'] as const

/** What is noted of an organisation by its first and last time: the stages, and what hints at a fault. */
export const presenceMarks = [...presenceStages, 'old_key_used'] as const

export type PresenceMark = (typeof presenceMarks)[number]
