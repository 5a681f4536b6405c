import { PartsBar } from '../charts/bars.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import type { Analytics } from './question.ts'

interface Row {
  key: string
  title: string
  people: number
}

/** How many people ticked each item. */
export function Checklist({ data: { checklist, totals, flowKey } }: { data: Analytics }) {
  if (!checklist) return null
  const people = totals.uniqueUsers
  const rows: Row[] = [
    ...checklist.items.map(({ key, title, completions }) => ({ key, title, people: completions })),
    { key: '', title: 'All items', people: checklist.completedAll },
  ]
  const columns: Column<Row>[] = [
    { name: 'Item', isTitle: true, value: ({ title }) => title },
    {
      head: <span class="unseen">Share of people</span>,
      name: 'Share of people',
      cell: row => <PartsBar parts={[['on', row.people]]} whole={people} height={18} />,
    },
    {
      name: 'People',
      means: 'People in these runs who ticked the item, at any time.',
      isNumber: true,
      value: row => row.people,
      cell: row => (
        <span class="rate">
          {formatCount(row.people)}
          <small>{formatShare(row.people, people)}</small>
        </span>
      ),
    },
  ]
  return (
    <Part title="Checklist">
      <Table
        caption="People in these runs who ticked each item"
        class="funnel"
        file={`${flowKey}-items`}
        columns={columns}
        rows={rows}
        keyOf={({ key }) => key}
      />
    </Part>
  )
}
