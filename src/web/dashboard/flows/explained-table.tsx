import { Badge } from '../parts/badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useFilters } from '../shell/address.ts'
import { explainWords as words } from '../words/explain.ts'
import { type Explanation, isUnknown, verdictOf } from './explanation.tsx'

/** Why a flow is not shown: the first condition that does not hold. */
const reasonOf = ({ rules }: Explanation) => rules.find(({ holds }) => holds === false)

/** The verdicts on several flows, each with a link to its conditions. */
export function ExplainedTable({
  explanations,
  nameOf,
}: {
  explanations: readonly Explanation[]
  nameOf: (key: string) => string
}) {
  const { withFilters } = useFilters()
  const columns: Column<Explanation>[] = [
    {
      name: words.columns.flow,
      isTitle: true,
      cell: ({ flow }) => (
        <>
          <a class="row-link" href={withFilters({ flow: flow.key })}>
            {nameOf(flow.key)}
          </a>
          <span class="row-note fine">
            <code>{flow.key}</code>
          </span>
        </>
      ),
    },
    {
      name: words.columns.verdict,
      cell: explanation => (
        <Badge tone={explanation.shown ? 'good' : 'neutral'}>{verdictOf(explanation)}</Badge>
      ),
    },
    {
      name: words.columns.why,
      cell: explanation => {
        const reason = reasonOf(explanation)
        if (reason) return `${words.rules[reason.rule]}: ${reason.why}`
        if (!isUnknown(explanation)) return words.allHold
        return words.unknownVerdict(explanation.unreported.join(', '))
      },
    },
  ]
  return (
    <section class="part">
      <Table
        caption={words.title}
        columns={columns}
        rows={explanations}
        keyOf={({ flow }) => flow.key}
      />
    </section>
  )
}
