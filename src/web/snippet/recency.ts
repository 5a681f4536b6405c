/**
 * Whether a time is less than so long ago, milliseconds. One that is yet to come was written by a
 * clock that has been set since: it counts as long ago.
 */
export function isWithin(at: number, ms: number): boolean {
  const age = Date.now() - at
  return age >= 0 && age < ms
}
