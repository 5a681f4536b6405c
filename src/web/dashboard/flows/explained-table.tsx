import { Badge } from '../parts/badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useFilters } from '../shell/address.ts'
import {
  type Explanation,
  isUnknown,
  ruleNames,
  unknownVerdict,
  verdictOf,
} from './explanation.tsx'

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
      name: 'Flow',
      isTitle: true,
      cell: ({ flow }) => (
        <a class="row-link" href={withFilters({ flow: flow.key })}>
          {nameOf(flow.key)}
        </a>
      ),
    },
    {
      name: 'Result',
      cell: explanation => (
        <Badge tone={explanation.shown ? 'good' : 'neutral'}>{verdictOf(explanation)}</Badge>
      ),
    },
    {
      name: 'Reason',
      cell: explanation => {
        const reason = reasonOf(explanation)
        if (reason) return `${ruleNames[reason.rule]}: ${reason.why}`
        if (!isUnknown(explanation)) return 'All conditions passed'
        return unknownVerdict(explanation)
      },
    },
  ]
  return (
    <section class="part">
      <Table
        caption="Troubleshoot"
        columns={columns}
        rows={explanations}
        keyOf={({ flow }) => flow.key}
      />
    </section>
  )
}
