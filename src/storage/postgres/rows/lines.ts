/** Rows as `copy` reads them: a line a row, its values parted by tabs (PostgreSQL's manual, COPY, "Text Format"). */

/** So few rows a statement adds as quickly, and without the round trip. */
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
