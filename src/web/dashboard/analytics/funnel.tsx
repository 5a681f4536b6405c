import type { ComponentChildren } from 'preact'
import { Bar, SecondsRange } from '../charts/funnel-bar.tsx'
import { Badge } from '../parts/badge.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { isWell, toneOfState } from '../steps/health.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { flowWords } from '../words/flows.ts'
import { fewest, formatCount, formatShare, none } from '../words/time.ts'
import type { Analytics, StepNumbers } from './question.ts'

/** A count, with its share below it if it is part of something. */
const Counted = ({
  count,
  of,
  children,
}: {
  count: number
  of?: number
  children?: ComponentChildren
}) => (
  <span class={count === 0 ? 'rate nought' : 'rate'}>
    {formatCount(count)}
    {of !== undefined && count > 0 && <small>{formatShare(count, of)}</small>}
    {children}
  </span>
)

/** Those who have left, and below them those who were here lately. */
function Left({ step: { droppedHere, stillHere, reached } }: { step: StepNumbers }) {
  const left = droppedHere - stillHere
  return (
    <Counted count={left} of={reached}>
      {stillHere > 0 && <small>{words.still(formatCount(stillHere))}</small>}
    </Counted>
  )
}

const Legend = ({ isCompared }: { isCompared: boolean }) => (
  <ul class="legend">
    <li class="key-on">{words.legendOn}</li>
    <li class="key-still">{words.legendStill}</li>
    <li class="key-left">{words.legendLeft}</li>
    {isCompared && <li class="key-before">{words.legendBefore}</li>}
  </ul>
)

function columnsOf(data: Analytics, other: Analytics | null): Column<StepNumbers>[] {
  const { definitions, totals } = data
  const isTimed = (step: StepNumbers) => step.medianSeconds !== null && step.reached >= fewest
  const longest = Math.max(0, ...data.steps.filter(isTimed).map(step => step.p90Seconds ?? 0))
  const otherShare = (key: string) => {
    const reached = other?.steps.find(step => step.key === key)?.reached
    const starts = other?.totals.starts
    return reached === undefined || !starts ? null : reached / starts
  }
  const counted = (name: string, field: 'completed' | 'skipped' | 'targetMissing') => ({
    name,
    means: definitions[field],
    isNumber: true,
    cell: (step: StepNumbers) => <Counted count={step[field]} />,
  })
  return [
    {
      name: words.step,
      isTitle: true,
      cell: ({ title, key, position, health }) => (
        <span class="step-name">
          <span class="step-number">{position + 1}</span>
          <span>
            {title}
            <span class="row-note">
              <code>{key}</code>
              {!isWell(health.state) && (
                <Badge tone={toneOfState[health.state]}>{flowWords.health[health.state]}</Badge>
              )}
            </span>
          </span>
        </span>
      ),
    },
    {
      head: <span class="unseen">{words.funnel}</span>,
      name: words.funnel,
      cell: step => <Bar step={step} starts={totals.starts} before={otherShare(step.key)} />,
    },
    {
      name: words.reached,
      means: definitions.reached,
      isNumber: true,
      cell: ({ reached }) => <Counted count={reached} of={totals.starts} />,
    },
    counted(words.stepCompleted, 'completed'),
    counted(words.skipped, 'skipped'),
    counted(words.missing, 'targetMissing'),
    {
      name: words.left,
      means: words.leftMeans,
      isNumber: true,
      cell: step => <Left step={step} />,
    },
    {
      name: words.time,
      means: definitions.stepSeconds,
      cell: step => (isTimed(step) ? <SecondsRange step={step} longest={longest} /> : none),
    },
  ]
}

/** The steps in order: who reached each, what they did there, and where they left. */
export function Funnel({ data, other }: { data: Analytics; other: Analytics | null }) {
  if (data.steps.length === 0) return null
  return (
    <Part title={words.steps} beside={<Legend isCompared={other !== null} />}>
      <Table
        caption={words.stepsCaption}
        class="funnel"
        columns={columnsOf(data, other)}
        rows={data.steps}
        keyOf={({ stepId }) => stepId}
      />
    </Part>
  )
}
