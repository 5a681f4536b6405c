import type { ComponentChildren } from 'preact'
import { Tip } from './tip.tsx'

/** A column: its name, and the cell of a row. */
export interface Column<Row> {
  /** The head, and the label of the cell if rows are cards. */
  name: string
  /** What the name means, shown to anybody who points at the head. */
  means?: string | undefined
  /** Shown in place of the name if rows are not cards. */
  head?: ComponentChildren
  cell: (row: Row) => ComponentChildren
  /** Numbers are aligned at the end, one under the other. */
  isNumber?: boolean
  /** Whether the column says what the row is about, which is the title if rows are cards. */
  isTitle?: boolean
}

/** A table. On narrow screens each row is a card. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  none,
  isCaptionSeen = false,
  class: more = '',
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** Said in its place if it has no rows. */
  none?: string
  isCaptionSeen?: boolean
  class?: string
}) {
  if (rows.length === 0 && none !== undefined) return <p class="hint">{none}</p>
  const kind = (column: Column<Row>) =>
    `${column.isNumber ? 'number' : ''} ${column.isTitle ? 'row-title' : ''}`
  return (
    <table class={`table ${more}`}>
      <caption class={isCaptionSeen ? '' : 'unseen'}>{caption}</caption>
      <thead>
        <tr>
          {columns.map(column => (
            <th key={column.name} scope="col" class={kind(column)}>
              {column.head ?? <Tip text={column.means}>{column.name}</Tip>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(column =>
              column.isTitle ? (
                <th key={column.name} scope="row" class={kind(column)}>
                  {column.cell(row)}
                </th>
              ) : (
                <td key={column.name} class={kind(column)} data-name={column.name}>
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
