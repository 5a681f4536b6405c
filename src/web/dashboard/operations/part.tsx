import { type Column, Table } from '../parts/table.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatCount } from '../words/time.ts'
import { formatRate } from './amounts.ts'

/** A table, or why there is none. */
export const Rows = <Row,>({
  caption,
  columns,
  rows,
  keyOf,
  none,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  none: string
}) =>
  rows.length === 0 ? (
    <p class="hint">{none}</p>
  ) : (
    <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} />
  )

/** How often something was counted: lately, and in total. */
export const countedColumns: Column<{ perSecond: number; total: number }>[] = [
  {
    name: words.rate,
    isNumber: true,
    cell: ({ perSecond }) => formatRate(perSecond),
  },
  {
    name: words.sinceStart,
    isNumber: true,
    cell: ({ total }) => formatCount(total),
  },
]
