import type { ComponentChildren } from 'preact'
import { type CsvCell, csvBom, csvRows } from '../../../core/text/csv.ts'

/** A column: its name, and the cell of a row. */
export interface Column<Row> {
  /** The head, and the label of the cell if rows are cards. */
  name: string
  /** What the name means, shown to anybody who points at the head. */
  means?: string | undefined
  /** Shown in place of the name if rows are not cards. */
  head?: ComponentChildren
  /** What rows are sorted by, and what a spreadsheet gets. A column without it does neither. */
  value?: (row: Row) => string | number | null
  /** The unit of the values, in the head of a spreadsheet only. */
  unit?: string
  /** Default: the value. */
  cell?: (row: Row) => ComponentChildren
  /** Numbers are aligned at the end, one under the other. */
  isNumber?: boolean
  /** Whether the column says what the row is about, which is the title if rows are cards. */
  isTitle?: boolean
}

/** Rows without a value come last, in either direction. */
export function sortRows<Row>(
  rows: readonly Row[],
  { value }: Column<Row>,
  isDown: boolean,
): Row[] {
  const valued = rows.map(row => [row, value!(row)] as const)
  return valued
    .sort(([, a], [, b]) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null)
      const order =
        typeof a === 'number' && typeof b === 'number'
          ? a - b
          : String(a).localeCompare(String(b), undefined, { numeric: true })
      return isDown ? -order : order
    })
    .map(([row]) => row)
}

/** A table as the page shows it, for a spreadsheet. */
export function tableCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const kept = columns.filter(({ value }) => value)
  const heads: CsvCell[] = kept.map(({ name, unit }) => (unit ? `${name} (${unit})` : name))
  return csvBom + csvRows([heads, ...rows.map(row => kept.map(({ value }) => value!(row)))])
}
