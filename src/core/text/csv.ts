/** One cell. `null` is an empty cell. */
export type CsvCell = string | number | boolean | null

/** The UTF-8 byte order mark as a character; some spreadsheets take a file for UTF-8 only with it. */
export const csvBom = '\uFEFF'

/**
 * What a spreadsheet would run as a formula (OWASP, "CSV Injection"): some take a full-width sign for
 * its narrow form.
 */
const runsAsFormula = /^[=+\-@＝＋－＠\t\r\n]/

/**
 * RFC 4180 section 2; what some readers take for a separator too, so that a formula may begin behind
 * it; and outer spaces, which some trim unless they are quoted.
 */
const needsQuotes = /[",\r\n;\t|]|^ | $/

/** Either: most texts have nothing of it, and one look is enough for them. */
const isSpecial = /^[=+\-@＝＋－＠ ]|[",\r\n;\t|]| $/

/**
 * One line of CSV with its CRLF (RFC 4180). A text that a spreadsheet would take for a formula gets
 * a `'` in front; a number never does, so negative numbers stay numbers.
 *
 * @param cells `null` and `undefined` are empty, and so is a number that is not finite: JSON writes
 *   it as null, and both shapes of an answer must say the same
 */
export function csvRow(cells: readonly (CsvCell | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** As `csvRow`, for many rows: joining texts once is what makes an export of millions quick. */
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
