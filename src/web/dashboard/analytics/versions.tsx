import { wilsonInterval } from '../../../core/number/interval.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { analyticsWords as words } from '../words/analytics.ts'
import { flowWords } from '../words/flows.ts'
import { formatCount, formatMoment, formatShare } from '../words/time.ts'
import { intervalColumn } from './interval-column.tsx'
import type { Analytics } from './question.ts'

type Version = Analytics['versions'][number]

const columns = ({ definitions, range }: Analytics): Column<Version>[] => [
  {
    name: words.version,
    isTitle: true,
    cell: ({ version }) => flowWords.version(version),
  },
  {
    name: words.published,
    means: definitions.publishedAt,
    cell: ({ publishedAt }) => formatMoment(publishedAt, range.timezone),
  },
  {
    name: words.starts,
    means: definitions.starts,
    isNumber: true,
    cell: ({ starts }) => formatCount(starts),
  },
  {
    name: words.completions,
    means: definitions.completions,
    isNumber: true,
    cell: ({ completions }) => formatCount(completions),
  },
  {
    name: words.rate,
    means: definitions.completionRate,
    isNumber: true,
    cell: ({ starts, completions }) => formatShare(completions, starts),
  },
  intervalColumn(words.interval, ({ starts, completions }) => wilsonInterval(completions, starts)),
]

/** How the versions of the flow compare in the range, whichever version is selected. */
export function Versions({ data }: { data: Analytics }) {
  return (
    <Part title={<Tip text={data.definitions.versions}>{words.versions}</Tip>}>
      <Table
        caption={words.versionsCaption}
        class="versions"
        columns={columns(data)}
        rows={data.versions.toReversed()}
        keyOf={({ version }) => version}
      />
    </Part>
  )
}
