import { useRead } from '../api/read.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { isWell } from '../steps/health.ts'
import { Behind } from './behind.tsx'
import {
  type Analytics,
  everyMs,
  numbersPath,
  type Question,
  queryOf,
  runsBehind,
} from './question.ts'
import { traitName, traitValue } from './start-reason.ts'

type Leavers = NonNullable<Analytics['leavers']>
type Common = Leavers['common'][number]

const nameOf = ({ kind, trait, value }: Common, { steps }: Analytics): string => {
  if (kind === 'version') return `Version ${value}`
  if (kind === 'trait') return `${traitName(trait!)}: ${traitValue(trait!, value)}`
  const title = steps.find(({ key }) => key === value)?.title
  return `Element of “${title || value}” was missing`
}

const mayBeChance = ({ difference }: Common) => difference.low <= 0

/** The runs of those who left here and have this in common. */
function filtersOf({ kind, trait, value }: Common, step: string): Record<string, string> {
  const here = { furthest: step, outcome: 'left' }
  if (kind === 'element_missing') return { ...here, step: `${value}:target_missing` }
  if (kind === 'version') return { ...here, version: value }
  return { ...here, segment: `${trait}:${value}` }
}

const columnsOf = (
  data: Analytics,
  { step, left, wentOn }: Leavers,
  question: Question,
): Column<Common>[] => [
  { name: 'In common', isTitle: true, value: row => nameOf(row, data) },
  {
    name: 'Of those who left',
    isNumber: true,
    value: row => row.left,
    cell: row => (
      <span class="rate">
        <Behind count={row.left} href={runsBehind(data.flowKey, question, filtersOf(row, step))}>
          {formatCount(row.left)} of {formatCount(left)}
        </Behind>
        <small>{formatShare(row.left, left)}</small>
      </span>
    ),
  },
  {
    name: 'Of those who went on',
    isNumber: true,
    value: row => row.wentOn,
    cell: row => (
      <span class="rate">
        {formatCount(row.wentOn)} of {formatCount(wentOn)}
        <small>{formatShare(row.wentOn, wentOn)}</small>
      </span>
    ),
  },
  {
    name: 'Difference',
    means:
      'Clear: larger than chance, even though many values are compared (95% for all of them together).',
    value: row => (mayBeChance(row) ? 'May be chance' : 'Clear'),
  },
]

/** What the runs that left at a step have in common, beside those that went on; and the way to its repair. */
export function Leavers({
  flow,
  step,
  question,
}: {
  flow: AuthoredFlow
  step: string
  question: Question
}) {
  const read = useRead<Analytics>(
    numbersPath(flow.id, queryOf(question, { left: step })),
    everyMs * 4,
  )
  return (
    <Reading of={read} lines={4}>
      {data => {
        const { leavers } = data
        const numbers = data.steps.find(({ key }) => key === step)
        if (!leavers || !numbers) return null
        const clear = leavers.common.filter(row => !mayBeChance(row))
        const shown = clear.length > 0 ? clear : leavers.common.slice(0, 5)
        const missed = leavers.common.find(({ kind }) => kind === 'element_missing')?.value
        const broken = missed ?? (isWell(numbers.health.state) ? null : step)
        return (
          <Part
            title={`What people who left at “${numbers.title || step}” have in common`}
            beside={
              broken !== null && (
                <LinkButton
                  look="primary"
                  href={`${addressOf(['flows', flow.key, 'health'])}#step-${broken}`}
                >
                  Fix step
                </LinkButton>
              )
            }
          >
            <p class="lead below-4">
              {formatCount(leavers.left)} of {formatCount(numbers.reached)} runs left here (
              {formatShare(leavers.left, numbers.reached)}). {formatCount(leavers.wentOn)} went on.
              {clear.length === 0 &&
                ' No clear difference between the two: what follows may be chance.'}
            </p>
            {shown.length > 0 && (
              <Table
                caption="Traits, versions and missing elements that are more frequent among runs that left"
                file={`${flow.key}-left-at-${step}`}
                columns={columnsOf(data, leavers, question)}
                rows={shown}
                keyOf={({ kind, trait, value }) => `${kind} ${trait} ${value}`}
              />
            )}
          </Part>
        )
      }}
    </Reading>
  )
}
