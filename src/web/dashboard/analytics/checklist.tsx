import { ShareBar } from '../charts/funnel-bar.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatCount, formatShare } from '../words/time.ts'
import type { Analytics } from './question.ts'

interface Row {
  key: string
  title: string
  people: number
}

/** How many people ticked each item. */
export function Checklist({ data }: { data: Analytics }) {
  const { checklist, definitions, totals } = data
  if (!checklist) return null
  const people = totals.uniqueUsers
  const rows: Row[] = [
    ...checklist.items.map(({ key, title, completions }) => ({ key, title, people: completions })),
    { key: '', title: words.whole, people: checklist.completedAll },
  ]
  const columns: Column<Row>[] = [
    {
      name: words.item,
      isTitle: true,
      cell: ({ title, key }) => (
        <>
          {title}
          {key && (
            <span class="row-note">
              <code>{key}</code>
            </span>
          )}
        </>
      ),
    },
    {
      head: <span class="unseen">{words.funnel}</span>,
      name: words.funnel,
      cell: row => <ShareBar part={row.people} whole={people} height={18} />,
    },
    {
      name: words.ticked,
      means: definitions['checklist.completions'],
      isNumber: true,
      cell: row => (
        <span class="rate">
          {formatCount(row.people)}
          <small>{formatShare(row.people, people)}</small>
        </span>
      ),
    },
  ]
  return (
    <Part title={words.checklist}>
      <Table
        caption={words.checklistCaption}
        class="funnel"
        columns={columns}
        rows={rows}
        keyOf={({ key }) => key}
      />
    </Part>
  )
}
