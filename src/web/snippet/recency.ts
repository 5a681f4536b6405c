/**
 * Whether a time is less than this long ago, milliseconds. A time in the future was written by a clock
 * that has been set since, and counts as long ago.
 */
export function isWithin(at: number, ms: number): boolean {
  const age = Date.now() - at
  return age >= 0 && age < ms
}
