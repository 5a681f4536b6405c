import { PartsBar } from '../charts/bars.tsx'
import { Badge } from '../parts/badge.tsx'
import { fewest, formatSeconds, none } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { isWell, nameOfState, toneOfState } from '../steps/health.ts'
import { Counted } from './behind.tsx'
import { type Analytics, type Question, runsBehind, type StepNumbers } from './question.ts'

/** Runs that left at a step: dismissed or stalled, and no further. */
export const leftAt = ({ droppedHere, activeHere = 0 }: StepNumbers) => droppedHere - activeHere

const Legend = ({ isCompared }: { isCompared: boolean }) => (
  <ul class="row gap-3 fine">
    <li class="key-on">went on</li>
    <li class="key-still">still active</li>
    <li class="key-left">left here</li>
    {isCompared && <li class="key-before">compared</li>}
  </ul>
)

/** A step's name; what is wrong with it opens its repair. */
function Name({
  step: { title, key, position, health },
  flow,
}: {
  step: StepNumbers
  flow: string
}) {
  return (
    <span class="step-name line start gap-3">
      <span class="step-number soft">{position + 1}</span>
      <span>
        {title || key}
        {!isWell(health.state) && (
          <a class="row-note fine" href={`${addressOf(['flows', flow, 'health'])}#step-${key}`}>
            <Badge tone={toneOfState[health.state]}>{nameOfState[health.state]}</Badge>
          </a>
        )}
      </span>
    </span>
  )
}

interface Shown {
  data: Analytics
  other: Analytics | null
  question: Question
}

/** The columns of the steps, on the page and in the file. */
export function stepColumns({ data, other, question }: Shown): Column<StepNumbers>[] {
  const { totals, flowKey } = data
  const isTimed = (step: StepNumbers) => step.medianSeconds !== null && step.reached >= fewest
  const otherShare = (key: string) => {
    const reached = other?.steps.find(step => step.key === key)?.reached
    const starts = other?.totals.starts
    return reached === undefined || !starts ? null : reached / starts
  }
  const counted = (
    name: string,
    means: string,
    value: (step: StepNumbers) => number,
    filters: (key: string) => Record<string, string>,
    of?: (step: StepNumbers) => number,
  ): Column<StepNumbers> => ({
    ...{ name, means, value, isNumber: true },
    cell: step => (
      <Counted
        count={value(step)}
        of={of?.(step)}
        href={runsBehind(flowKey, question, filters(step.key))}
      />
    ),
  })
  return [
    {
      name: 'Step',
      isTitle: true,
      value: ({ title, key, position }) => `${position + 1}. ${title || key}`,
      cell: step => <Name step={step} flow={flowKey} />,
    },
    {
      head: <span class="unseen">Share of all starts</span>,
      name: 'Share of all starts',
      cell: step => (
        <PartsBar
          whole={totals.starts}
          before={other && otherShare(step.key)}
          parts={[
            ['on', step.reached - step.droppedHere],
            ['still', step.activeHere ?? 0],
            ['left', leftAt(step)],
          ]}
        />
      ),
    },
    counted(
      'Reached',
      'Runs that saw the step. The percentage is of all starts.',
      step => step.reached,
      step => ({ step }),
      () => totals.starts,
    ),
    counted(
      'Completed',
      'Runs that completed the step.',
      step => step.completed,
      step => ({ step: `${step}:completed` }),
    ),
    counted(
      'Skipped',
      'Runs that skipped the step.',
      step => step.skipped,
      step => ({ step: `${step}:skipped` }),
    ),
    counted(
      'Missing',
      'Runs in which the page did not find the element of the step.',
      step => step.targetMissing,
      step => ({ step: `${step}:target_missing` }),
    ),
    counted(
      'Left here',
      'Runs that were dismissed here, or stopped here and had no activity for 7 days. The percentage is of runs that reached the step.',
      leftAt,
      step => ({ furthest: step, outcome: 'left' }),
      step => step.reached,
    ),
    counted(
      'Still active',
      'Runs whose furthest step this is, with activity in the last 7 days.',
      step => step.activeHere ?? 0,
      step => ({ furthest: step, outcome: 'active' }),
    ),
    {
      name: 'Median time',
      means: 'Half of the runs spent at most this long on the step.',
      unit: 'seconds',
      isNumber: true,
      value: step => (isTimed(step) ? step.medianSeconds : null),
      cell: step =>
        isTimed(step) ? (
          <span class="rate">
            <bdi>{formatSeconds(step.medianSeconds)}</bdi>
            <small>9 in 10 within {formatSeconds(step.p90Seconds)}</small>
          </span>
        ) : (
          none
        ),
    },
  ]
}

/** The steps in order: who reached each, what they did there, and where they left. */
export function Funnel(shown: Shown) {
  const { data, other } = shown
  if (data.steps.length === 0) return null
  return (
    <Part title="Where people leave" beside={<Legend isCompared={other !== null} />}>
      <Table
        caption="Steps with the runs that reached them"
        class="funnel"
        file={`${data.flowKey}-steps`}
        columns={stepColumns(shown)}
        rows={data.steps}
        keyOf={({ stepId }) => stepId}
      />
    </Part>
  )
}
