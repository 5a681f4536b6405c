/** One cell. `null` is an empty cell. */
export type CsvCell = string | number | boolean | null

/** The UTF-8 byte order mark as a character. Some spreadsheets recognise UTF-8 only with it. */
export const csvBom = '\uFEFF'

/**
 * What a spreadsheet would run as a formula (OWASP, "CSV Injection"). Some treat full-width signs like the
 * narrow ones.
 */
const runsAsFormula = /^[=+\-@＝＋－＠\t\r\n]/

/**
 * Characters that need quotes by RFC 4180, section 2. Also what some readers take for a separator, because
 * a formula could begin after it, and outer spaces, which some readers trim unless they are quoted.
 */
const needsQuotes = /[",\r\n;\t|]|^ | $/

/** Either of the two. Most texts have none of this, so one check is enough for them. */
const isSpecial = /^[=+\-@＝＋－＠ ]|[",\r\n;\t|]| $/

/**
 * One line of CSV with its CRLF (RFC 4180). A text that a spreadsheet would take for a formula gets a `'`
 * in front. A number never does, so that negative numbers stay numbers.
 *
 * @param cells `null` and `undefined` are empty, and so is a number that is not finite: JSON writes it as
 *   null, and both forms of an answer must say the same
 */
export function csvRow(cells: readonly (CsvCell | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Like `csvRow`, for many rows. Joining texts only once is what makes an export of millions of rows fast. */
export function csvRows(rows: readonly (readonly (CsvCell | undefined)[])[]): string {
  const lines = rows.map(cells => cells.map(csvCell).join(','))
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`
}

function csvCell(cell: CsvCell | undefined): string {
  if (typeof cell === 'string') return isSpecial.test(cell) ? specialCell(cell) : cell
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : ''
  return String(cell)
}

function specialCell(cell: string): string {
  const text = runsAsFormula.test(cell) ? `'${cell}` : cell
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
