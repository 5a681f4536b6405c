/** Durations in milliseconds. */
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const weekMs = 7 * dayMs

/** Whether a time may be that of something counted by the hour: only the hour in which it began is known. */
export const isFullHour = (iso: string): boolean => Date.parse(iso) % hourMs === 0

/** The most hours for which a rotated key or secret keeps working: a year. */
export const longestGraceHours = 8_760
