/** Durations in milliseconds. */
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const weekMs = 7 * dayMs
const yearMs = 365 * dayMs

/** A duration in words, which read the same in every time zone, such as 1 minute, 47 hours, 3 days or 70 years. */
export function lasting(ms: number): string {
  const [size, unit] =
    ms < hourMs
      ? [minuteMs, 'minute']
      : ms < 2 * dayMs
        ? [hourMs, 'hour']
        : ms < 2 * yearMs
          ? [dayMs, 'day']
          : [yearMs, 'year']
  const count = Math.max(1, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Whether a time may be that of something counted by the hour: only the hour in which it began is known. */
export const isFullHour = (iso: string): boolean => Date.parse(iso) % hourMs === 0

/** The most hours for which a rotated key or secret keeps working: a year. */
export const maxGraceHours = 8_760
