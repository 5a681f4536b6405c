import { startReasonTrait } from '../../../core/event/start-reason.ts'
import { useRead } from '../api/read.ts'
import { formatCount } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { ByTrait } from './by-trait.tsx'
import {
  type Analytics,
  everyMs,
  numbersPath,
  type Question,
  queryOf,
  type StepNumbers,
} from './question.ts'
import { Respondents } from './respondents.tsx'
import {
  Distribution,
  formatScore,
  groupNames,
  groups,
  type Numbers,
  Score,
  scoreOf,
  Trend,
} from './scores.tsx'
import { traitName, traitValue } from './start-reason.ts'

type Segment = NonNullable<Numbers['segments']>[number]

const nameOf = ({ kind, value }: Segment, trait: string): string =>
  kind === 'other' ? 'Other values' : traitValue(trait, value)

function BySegment({
  segments,
  trait,
  file,
}: {
  segments: readonly Segment[]
  trait: string
  file: string
}) {
  const hasScore = segments.some(segment => segment.average !== null)
  const hasNps = segments.some(({ nps }) => nps)
  return (
    <Table
      caption={`Answers by ${trait === startReasonTrait ? 'what started the run' : trait}`}
      isCaptionSeen
      file={file}
      rows={segments}
      keyOf={({ kind, value }) => `${kind}:${value}`}
      columns={[
        { name: traitName(trait), isTitle: true, value: segment => nameOf(segment, trait) },
        { name: 'Answers', isNumber: true, value: ({ answers }) => answers },
        ...(hasScore
          ? [
              {
                name: hasNps ? 'NPS' : 'Average',
                isNumber: true,
                value: scoreOf,
                cell: (segment: Segment) => formatScore(scoreOf(segment)),
              },
            ]
          : []),
        ...(hasNps
          ? groups.map(group => ({
              name: groupNames[group],
              isNumber: true,
              value: ({ nps }: Segment) => nps?.[group] ?? null,
            }))
          : []),
      ]}
    />
  )
}

interface Shown {
  data: Analytics
  question: Question
  traits: readonly string[]
}

function OfStep({
  step,
  numbers,
  data,
  question,
}: Shown & { step: StepNumbers; numbers: Numbers }) {
  const title = step.title || step.key
  const { answers, type, segments } = numbers
  return (
    <div class="survey-question stack gap-3" id={`question-${step.key}`}>
      <h3>{title}</h3>
      {answers === 0 ? (
        <p class="hint">No answers in this period.</p>
      ) : (
        <>
          {type === 'rating' ? (
            <>
              <Score step={step} numbers={numbers} />
              <Trend numbers={numbers} title={title} />
            </>
          ) : (
            <p class="hint">
              {formatCount(answers)} of {formatCount(step.reached)} runs that saw it answered.
            </p>
          )}
          {type !== 'text' && <Distribution step={step} numbers={numbers} flowKey={data.flowKey} />}
          {segments && question.by !== null && (
            <BySegment
              segments={segments}
              trait={question.by}
              file={`${data.flowKey}-${step.key}-by-${question.by}`}
            />
          )}
          <Respondents flowKey={data.flowKey} step={step} type={type} question={question} />
        </>
      )}
    </div>
  )
}

/** The answers to the questions of the flow's steps: score, trend, histogram, by trait, and who gave them. */
export function Answers(shown: Shown) {
  const { data, question, traits } = shown
  const isAsked = data.steps.some(step => step.question)
  const by: Record<string, string> =
    question.by !== null && traits.includes(question.by) ? { segment: question.by } : {}
  const interval = question.interval === 'month' ? 'month' : 'week'
  const query = queryOf(question, { answers: '1', interval, ...by })
  const read = useRead<Analytics>(isAsked ? numbersPath(data.flowId, query) : null, everyMs * 4)
  if (!isAsked) return null
  return (
    <Part
      title="Answers"
      beside={traits.length > 0 && <ByTrait by={question.by} traits={traits} />}
    >
      <Reading of={read} lines={5}>
        {detailed =>
          detailed.steps.map(step =>
            step.question ? (
              <OfStep key={step.stepId} {...shown} step={step} numbers={step.question} />
            ) : null,
          )
        }
      </Reading>
    </Part>
  )
}
