import { ShareBar } from '../charts/funnel-bar.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { answerWords as words } from '../words/answers.ts'
import { fewest, formatCount, formatShare, none } from '../words/time.ts'
import type { Analytics, Question, StepNumbers } from './question.ts'
import { Written } from './written.tsx'

type Asked = NonNullable<StepNumbers['question']>
type Row = Asked['distribution'][number]

/** A number about all answers with at most two decimals; `none` if there are too few. */
const formatNumber = (value: number | null, answers: number) =>
  value === null || answers < fewest
    ? none
    : new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(value)

const Figure = ({ name, value, means }: { name: string; value: string; means?: string }) => (
  <div class="answer-figure">
    <dt>{means ? <Tip text={means}>{name}</Tip> : name}</dt>
    <dd>{value}</dd>
  </div>
)

/** Promoters, passives and detractors as one bar, and in words. */
function Score({
  nps,
  answers,
  means,
}: {
  nps: NonNullable<Asked['nps']>
  answers: number
  means?: string
}) {
  const groups = ['promoters', 'passives', 'detractors'] as const
  const share = (count: number) => (answers === 0 ? 0 : (count / answers) * 100)
  const starts = [0, share(nps.promoters), share(nps.promoters + nps.passives)]
  return (
    <div class="nps">
      <dl class="answer-figures">
        <Figure name={words.score} value={formatNumber(nps.score, answers)} means={means} />
        {groups.map(group => (
          <div class={`answer-figure ${group}`} key={group}>
            <dt>{words[group]}</dt>
            <dd>
              {formatCount(nps[group])} <small>{formatShare(nps[group], answers)}</small>
            </dd>
          </div>
        ))}
      </dl>
      <svg class="nps-bar" width="100%" height="14" aria-hidden="true">
        <rect class="rail" width="100%" height="14" rx="3" />
        {groups.map((group, i) => (
          <rect
            key={group}
            class={group}
            x={`${starts[i]}%`}
            width={`${share(nps[group])}%`}
            height="14"
          />
        ))}
      </svg>
    </div>
  )
}

function columnsOf({ answers }: Asked): Column<Row>[] {
  return [
    {
      name: words.answer,
      isTitle: true,
      cell: ({ value, label }) =>
        typeof value === 'number' ? (
          <span class="answer-value">
            {value}
            {label && <small>{label}</small>}
          </span>
        ) : (
          <>
            {label ?? value}
            <span class="row-note">
              <code>{value}</code>
            </span>
          </>
        ),
    },
    {
      head: <span class="unseen">{words.bar}</span>,
      name: words.bar,
      cell: ({ count }) => <ShareBar part={count} whole={answers} height={16} />,
    },
    {
      name: words.count,
      isNumber: true,
      cell: ({ count }) => (
        <span class={count === 0 ? 'rate nought' : 'rate'}>
          {formatCount(count)}
          {count > 0 && <small>{formatShare(count, answers)}</small>}
        </span>
      ),
    },
  ]
}

function OfStep({
  step,
  asked,
  data,
  question,
}: {
  step: StepNumbers
  asked: Asked
  data: Analytics
  question: Question
}) {
  const { definitions } = data
  const { answers, average, median, nps, distribution, type } = asked
  return (
    <div class="asked">
      <h3>
        {step.title || step.key} <code>{step.key}</code>
      </h3>
      <p class="hint">
        {answers === 0
          ? words.nobody
          : words.answered(formatCount(answers), formatCount(step.reached))}
        {answers > 0 && answers < fewest && type !== 'text' && ` ${words.tooFew}`}
      </p>
      {nps && <Score nps={nps} answers={answers} means={definitions.nps} />}
      {type === 'rating' && (
        <dl class="answer-figures">
          <Figure
            name={words.average}
            value={formatNumber(average, answers)}
            means={definitions['question.average']}
          />
          <Figure
            name={words.median}
            value={formatNumber(median, answers)}
            means={definitions['question.median']}
          />
        </dl>
      )}
      {type === 'text' ? (
        answers > 0 && <Written flowKey={data.flowKey} stepKey={step.key} question={question} />
      ) : (
        <Table
          caption={words.caption(step.title || step.key)}
          class="funnel"
          columns={columnsOf(asked)}
          rows={distribution}
          keyOf={({ value }) => value}
        />
      )}
    </div>
  )
}

/** The answers to the questions of the flow's steps. */
export function Answers({ data, question }: { data: Analytics; question: Question }) {
  const asking = data.steps.flatMap(step => (step.question ? [{ step, asked: step.question }] : []))
  if (asking.length === 0) return null
  return (
    <Part title={words.answers}>
      {asking.map(({ step, asked }) => (
        <OfStep key={step.stepId} {...{ step, asked, data, question }} />
      ))}
    </Part>
  )
}
