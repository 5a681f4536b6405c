/** Rows as `copy` reads them: one per line, values separated by tabs (PostgreSQL's manual, COPY, "Text Format"). */

/** Up to so many rows, a statement is as quick as `copy` and saves the round trip. */
export const mostByStatement = 100

const special = /[\\\t\n\r]/
const specials = /[\\\t\n\r]/g
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

/** A value in its line. Texts have no NUL. */
export function fieldOf(value: string | number | null): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return `${value}`
  return special.test(value) ? value.replace(specials, found => escapes[found]!) : value
}
