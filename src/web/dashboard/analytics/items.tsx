import { Part } from '../parts/part.tsx'
import { Table } from '../parts/table.tsx'
import { barColumn, Counted } from './behind.tsx'
import type { Analytics } from './question.ts'

interface Row {
  key: string
  title: string
  count: number
}

/** The items of a list, and how often each was used out of a whole. */
const Items = ({
  title,
  caption,
  counts: [name, means],
  whole: [ofWhat, whole],
  file,
  rows,
}: {
  title: string
  caption: string
  counts: readonly [name: string, means: string]
  whole: readonly [name: string, count: number]
  file: string
  rows: readonly Row[]
}) => (
  <Part title={title}>
    <Table<Row>
      caption={caption}
      class="funnel items"
      file={file}
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { name: 'Item', isTitle: true, value: row => row.title },
        barColumn(`Share of ${ofWhat}`, whole, row => row.count),
        {
          ...{ name, means, isNumber: true, value: row => row.count },
          cell: row => <Counted count={row.count} of={whole} />,
        },
      ]}
    />
  </Part>
)

/** How many people ticked each item of a checklist. */
export function Checklist({ data: { checklist, totals, flowKey } }: { data: Analytics }) {
  if (!checklist) return null
  const items = checklist.items.map(({ completions, ...item }) => ({ ...item, count: completions }))
  return (
    <Items
      title="Checklist"
      caption="People in these runs who ticked each item"
      counts={['People', 'People in these runs who ticked the item, at any time.']}
      whole={['people', totals.uniqueUsers]}
      file={`${flowKey}-items`}
      rows={[...items, { key: '', title: 'All items', count: checklist.completedAll }]}
    />
  )
}

/** How often each item of a launcher was chosen. */
export const Choices = ({ data: { steps, totals, flowKey } }: { data: Analytics }) => (
  <Items
    title="Items"
    caption="How often each item was chosen"
    counts={['Chosen', 'How often it was chosen, as a share of all openings.']}
    whole={['openings', totals.starts]}
    file={`${flowKey}-items`}
    rows={steps.map(({ key, title, completed }) => ({
      key,
      title: title || key,
      count: completed,
    }))}
  />
)
