import { PartsBar } from '../charts/bars.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import type { Analytics, StepNumbers } from './question.ts'

/** How often each item of a launcher was chosen. */
export function Choices({ data: { steps, totals, flowKey } }: { data: Analytics }) {
  const columns: Column<StepNumbers>[] = [
    { name: 'Item', isTitle: true, value: ({ title, key }) => title || key },
    {
      head: <span class="unseen">Share of openings</span>,
      name: 'Share of openings',
      cell: ({ completed }) => (
        <PartsBar parts={[['on', completed]]} whole={totals.starts} height={18} />
      ),
    },
    {
      name: 'Chosen',
      means: 'How often it was chosen, as a share of all openings.',
      isNumber: true,
      value: ({ completed }) => completed,
      cell: ({ completed }) => (
        <span class="rate">
          {formatCount(completed)}
          <small>{formatShare(completed, totals.starts)}</small>
        </span>
      ),
    },
  ]
  return (
    <Part title="Items">
      <Table
        caption="How often each item was chosen"
        class="funnel"
        file={`${flowKey}-items`}
        columns={columns}
        rows={steps}
        keyOf={({ key }) => key}
      />
    </Part>
  )
}
