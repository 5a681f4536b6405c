import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { formatCount, none as noValue } from './format.ts'
import { Icon } from './icon.tsx'
import { saveFile } from './save-file.ts'
import { type Column, sortRows, tableCsv } from './table-rows.ts'
import { Tip } from './tip.tsx'

export type { Column }

/** A column of buttons. Its head is only read aloud. */
export const actionsColumn = <Row,>(buttons: (row: Row) => ComponentChildren): Column<Row> => ({
  name: '',
  head: <span class="unseen">Actions</span>,
  cell: row => <span class="row-actions">{buttons(row)}</span>,
})

const shown = (value: string | number | null): string =>
  value === null ? noValue : typeof value === 'number' ? formatCount(value) : value

/**
 * A table. Columns with a value sort: numbers from the greatest, texts from the first; a third press gives
 * the order of the page back. On narrow screens each row is a card.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  none,
  isCaptionSeen = false,
  isPart = false,
  isFolded = false,
  file,
  class: more = '',
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** Shown in its place if it has no rows. */
  none?: string
  isCaptionSeen?: boolean
  /** Whether there are more rows than these. Sorting these alone would mislead. */
  isPart?: boolean
  /** Whether it says the same as a chart above it, so that it opens only on request. */
  isFolded?: boolean
  /** The name of the file in which the table can be downloaded, without `.csv`. */
  file?: string
  class?: string
}) {
  const sort = useSignal<{ name: string; isDown: boolean } | null>(null)
  if (rows.length === 0 && none !== undefined) return <p class="hint">{none}</p>
  const kind = (column: Column<Row>) =>
    `${column.isNumber ? 'number' : ''} ${column.isTitle ? 'row-title' : ''}`
  const canSort = !isPart && rows.length > 1
  const by = canSort && columns.find(({ name, value }) => value && name === sort.value?.name)
  const ordered = by ? sortRows(rows, by, sort.value!.isDown) : rows
  const press = ({ name, isNumber = false }: Column<Row>) => {
    const now = sort.value?.name === name ? sort.value : null
    if (now === null) sort.value = { name, isDown: isNumber }
    else sort.value = now.isDown === isNumber ? { name, isDown: !isNumber } : null
  }
  const headOf = (column: Column<Row>) => {
    if (column.head) return column.head
    const name = <Tip text={column.means}>{column.name}</Tip>
    if (!canSort || !column.value) return name
    return (
      <button type="button" class="sort" onClick={() => press(column)}>
        {name}
      </button>
    )
  }
  const cellOf = (column: Column<Row>, row: Row) =>
    column.cell ? column.cell(row) : shown(column.value?.(row) ?? null)
  const table = (
    <>
      <table class={`table ${more}`}>
        <caption class={isCaptionSeen ? '' : 'unseen'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <th
                key={column.name}
                scope="col"
                class={kind(column)}
                aria-sort={
                  by !== column ? undefined : sort.value!.isDown ? 'descending' : 'ascending'
                }
              >
                {headOf(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(column =>
                column.isTitle ? (
                  <th key={column.name} scope="row" class={kind(column)}>
                    {cellOf(column, row)}
                  </th>
                ) : (
                  <td key={column.name} class={kind(column)} data-name={column.name}>
                    {cellOf(column, row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {file !== undefined && rows.length > 0 && !isPart && (
        <button
          type="button"
          class="file-link off-paper"
          onClick={() => {
            const type = 'text/csv;charset=utf-8'
            saveFile(new Blob([tableCsv(columns, ordered)], { type }), `${file}.csv`)
          }}
        >
          <Icon name="download" />
          Download CSV
        </button>
      )}
    </>
  )
  if (!isFolded) return table
  return (
    <details class="as-table">
      <summary class="fine">Show as a table</summary>
      {table}
    </details>
  )
}
