/** The tables of a Markdown file. */

export interface Table {
  /** Of its head, counted from 1. */
  line: number
  /** The heading that it stands under. */
  section: string
  /** The sentence that begins with "Every row" between the table before and this one. */
  everyRow: string
  columns: readonly string[]
  rows: readonly { line: number; cells: readonly string[] }[]
}

const codeSpan = /`([^`]*)`/g

export const spansIn = (cell: string) => [...cell.matchAll(codeSpan)].map(([, span = '']) => span)

/** What a cell says outside of its code spans. */
export const plainIn = (cell: string) => cell.replaceAll(codeSpan, '').trim()

const cellsIn = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

const isRule = (line: string) => /^[|\s:-]+$/.test(line)

/** @throws Error for a row with more or fewer cells than its table has columns */
export function tablesIn(text: string): Table[] {
  const tables: (Table & { rows: { line: number; cells: string[] }[] })[] = []
  let section = ''
  let everyRow = ''
  let open: (typeof tables)[number] | null = null
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1
    if (!content.startsWith('|')) {
      open = null
      if (content.startsWith('Every row: ')) everyRow = content
      if (/^#+ /.test(content)) section = content.replace(/^#+ /, '')
    } else if (!open) {
      open = { line, section, everyRow, columns: cellsIn(content), rows: [] }
      everyRow = ''
      tables.push(open)
    } else if (!isRule(content)) {
      const cells = cellsIn(content)
      const expected = open.columns.length
      if (cells.length !== expected) {
        throw new Error(`line ${line} has ${cells.length} cells, its table ${expected} columns`)
      }
      open.rows.push({ line, cells })
    }
  }
  return tables
}

/** A table's rows as functions from a column's name to the cell. */
export const recordsOf = ({ columns, rows }: Table) =>
  rows.map(
    ({ cells }) =>
      (column: string) =>
        cells[columns.indexOf(column)] ?? '',
  )
