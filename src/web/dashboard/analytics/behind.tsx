import type { ComponentChildren } from 'preact'
import { PartsBar } from '../charts/bars.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import type { Column } from '../parts/table.tsx'

/** A number that opens what it counts. Nothing is behind a zero. */
export const Behind = ({
  count,
  href,
  children = formatCount(count),
}: {
  count: number
  href: string | undefined
  children?: ComponentChildren
}) =>
  count === 0 || href === undefined ? (
    <span class={count === 0 ? 'soft' : ''}>{children}</span>
  ) : (
    <a class="behind" href={href}>
      {children}
    </a>
  )

/** Such a number with its share of a whole, if it has one. */
export const Counted = ({
  count,
  of,
  href,
}: {
  count: number
  of: number | undefined
  href?: string
}) => (
  <span class="rate">
    <Behind count={count} href={href} />
    {of !== undefined && count > 0 && <small>{formatShare(count, of)}</small>}
  </span>
)

/** A column of bars that show a part of the same whole in each row. */
export const barColumn = <Row,>(
  name: string,
  whole: number,
  partOf: (row: Row) => number,
): Column<Row> => ({
  name,
  head: <span class="unseen">{name}</span>,
  cell: row => <PartsBar parts={[['on', partOf(row)]]} whole={whole} />,
})
