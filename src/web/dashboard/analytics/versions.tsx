import { wilsonInterval } from '../../../core/number/interval.ts'
import { formatDate } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Behind } from './behind.tsx'
import { completionColumns } from './completion-columns.tsx'
import { type Analytics, type Question, runsBehind } from './question.ts'
import { type RunWords, wordsFor } from './run-words.ts'

type Version = Analytics['versions'][number]

const columnsOf = (
  { flowKey }: Analytics,
  question: Question,
  words: RunWords,
): Column<Version>[] => {
  const counted = (name: string, field: 'starts' | 'completions', outcome: string | null) => ({
    ...{ name, isNumber: true, value: (row: Version) => row[field] },
    cell: ({ version, [field]: count }: Version) => (
      <Behind
        count={count}
        href={runsBehind(flowKey, question, { version: `${version}`, outcome })}
      />
    ),
  })
  return [
    {
      name: 'Version',
      isTitle: true,
      value: ({ version }) => version,
      cell: row => `v${row.version}`,
    },
    {
      name: 'Published',
      value: ({ publishedAt }) => publishedAt,
      cell: ({ publishedAt }) => formatDate(publishedAt),
    },
    counted(words.starts, 'starts', null),
    counted(words.completed, 'completions', 'completed'),
    ...completionColumns<Version>(words, ({ starts, completions }) =>
      wilsonInterval(completions, starts),
    ),
  ]
}

/** How the versions of the flow compare in the range, whichever version is selected. */
export function Versions({
  data,
  question,
  isLauncher,
}: {
  data: Analytics
  question: Question
  isLauncher: boolean
}) {
  const words = wordsFor(isLauncher)
  return (
    <Part title="Versions">
      <Table
        caption={`${words.rate} of each version in this period`}
        class="versions"
        file={`${data.flowKey}-versions`}
        columns={columnsOf(data, question, words)}
        rows={data.versions.toReversed()}
        keyOf={({ version }) => version}
      />
    </Part>
  )
}
