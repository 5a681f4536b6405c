/** Turns what a page says, which may be anything, into what can be kept and sent. */

/** What the API takes: well-formed Unicode without NUL. */
export const textOf = (value: unknown, longest: number): string =>
  String(value).slice(0, longest).toWellFormed().replaceAll('\0', '')

/**
 * A copy of a record's fields as JSON, without those that JSON cannot hold (a cycle, a function). It is a
 * copy because what the page changes later must not change what was passed.
 *
 * @returns null if it is not a record
 */
export function recordOf(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const names = Object.keys(value) as (keyof typeof value)[]
  return Object.fromEntries(
    names.map(name => [name, jsonOf(() => value[name])]).filter(([, copy]) => copy !== undefined),
  )
}

function jsonOf(read: () => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(read()))
  } catch {
    return undefined
  }
}

/** Tells two texts apart, nearly always. */
export function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}
