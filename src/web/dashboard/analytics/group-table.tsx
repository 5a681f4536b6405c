import type { ComponentChildren } from 'preact'
import { Table } from '../parts/table.tsx'
import { segmentWords as words } from '../words/segments.ts'
import { formatCount, formatShare, formatTypical } from '../words/time.ts'
import { intervalColumn } from './interval-column.tsx'
import type { Analytics } from './question.ts'

/** The numbers of a group of runs. */
export type Group = Omit<
  NonNullable<Analytics['segments']>[number],
  'trait' | 'kind' | 'value' | 'values'
>

/** Groups of runs side by side, each with its rate and the interval of that rate. */
export function GroupTable<Row extends Group>({
  caption,
  of,
  definitions,
  rows,
  keyOf,
  nameOf,
}: {
  caption: string
  /** What distinguishes the groups. */
  of: string
  definitions: Analytics['definitions']
  rows: readonly Row[]
  keyOf: (row: Row) => string
  nameOf: (row: Row) => ComponentChildren
}) {
  const counted = (name: string, label: string, cell: (row: Row) => ComponentChildren) => ({
    name: label,
    means: definitions[name],
    isNumber: true,
    cell,
  })
  return (
    <Table
      caption={caption}
      isCaptionSeen
      class="groups"
      rows={rows}
      keyOf={keyOf}
      columns={[
        { name: of, isTitle: true, cell: nameOf },
        counted('starts', words.starts, ({ starts }) => formatCount(starts)),
        counted('uniqueUsers', words.people, ({ uniqueUsers }) => formatCount(uniqueUsers)),
        counted('completions', words.completions, ({ completions }) => formatCount(completions)),
        counted('dismissals', words.dismissed, ({ dismissals }) => formatCount(dismissals)),
        counted('timeToComplete', words.median, ({ timeToComplete }) =>
          formatTypical(timeToComplete.medianSeconds, timeToComplete.count),
        ),
        counted('completionRate', words.rate, ({ starts, completions }) =>
          formatShare(completions, starts),
        ),
        intervalColumn<Row>(words.interval, ({ interval }) => interval),
      ]}
    />
  )
}
