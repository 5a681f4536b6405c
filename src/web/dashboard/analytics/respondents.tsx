import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerList } from '../../../modules/runs/schema.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { formatDateTime } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { TextField } from '../parts/text-field.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { type Question, queryOf, type StepNumbers } from './question.ts'
import { traitName, traitValue } from './start-reason.ts'

type Answer = AnswerList['answers'][number]
type QuestionNumbers = NonNullable<StepNumbers['question']>

const groupNames: Readonly<Record<string, string>> = {
  '9-10': 'Promoters',
  '7-8': 'Passives',
  '0-6': 'Detractors',
}

const personOf = ({ userId, anonymousId }: Answer) => userId ?? `Visitor ${anonymousId}`

/** What the person wrote: in answer to this question, or to others of the same run. */
const wordsOf = ({ text, written }: Answer): string =>
  [text, ...written.map(({ text }) => text)].filter(Boolean).join('\n')

function columnsOf(
  type: QuestionNumbers['type'],
  distribution: QuestionNumbers['distribution'],
  by: string | null,
) {
  const labelOf = (key: string) => distribution.find(({ value }) => value === key)?.label ?? key
  const given = ({ answer }: Answer) =>
    typeof answer === 'number' ? answer : [answer ?? []].flat().map(labelOf).join(', ')
  const columns: Column<Answer>[] = [
    {
      name: 'Person',
      isTitle: true,
      value: personOf,
      cell: answer => {
        const { userId, anonymousId } = answer
        const filters = userId === null ? { anonymous: anonymousId } : { user: userId }
        return (
          <a class="row-link break" href={addressOf(['people'], filters)}>
            {personOf(answer)}
          </a>
        )
      },
    },
    ...(type === 'text' ? [] : [{ name: 'Answer', isNumber: type === 'rating', value: given }]),
    {
      name: 'What they wrote',
      value: wordsOf,
      cell: answer => <bdi class="written">{wordsOf(answer)}</bdi>,
    },
    ...(by === null
      ? []
      : [
          {
            name: traitName(by),
            value: ({ traits }: Answer) => (by in traits ? traitValue(by, traits[by]!) : null),
          },
        ]),
    {
      name: 'Answered',
      value: ({ answeredAt }) => answeredAt,
      cell: ({ answeredAt }) => <time dateTime={answeredAt}>{formatDateTime(answeredAt)}</time>,
    },
  ]
  return columns
}

/** How long typing has to pause before the server searches. */
const searchAfterMs = 300

interface Shown {
  flowKey: string
  step: StepNumbers
  type: QuestionNumbers['type']
  question: Question
}

function List({ flowKey, step, type, question, value }: Shown & { value: string }) {
  const [typed, setTyped] = useState('')
  const [contains, setContains] = useState('')
  const [after, setAfter] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => {
      setContains(typed.trim())
      setAfter(null)
    }, searchAfterMs)
    return () => clearTimeout(timer)
  }, [typed])
  const query = queryOf(question, { step: step.key, limit: '20' })
  if (value !== '') query.set('value', value)
  if (contains !== '') query.set('contains', contains)
  if (after !== null) query.set('after', after)
  const list = useRead<AnswerList>(flowPath(flowKey, `/answers?${query}`))
  return (
    <>
      <TextField
        label="Search what people wrote"
        isInline
        type="search"
        maxLength={100}
        value={typed}
        onChange={setTyped}
      />
      <Reading of={list} lines={4}>
        {({ answers, next }) => (
          <>
            <Table
              caption={`People who answered “${step.title || step.key}”`}
              none="No answers match."
              file={`${flowKey}-${step.key}-people`}
              columns={columnsOf(type, step.question?.distribution ?? [], question.by)}
              rows={answers}
              keyOf={answer => `${answer.runId} ${personOf(answer)} ${answer.answeredAt}`}
            />
            {(next || after) && (
              <nav class="pager footnote row" aria-label="Pages of answers">
                {after && <Button onClick={() => setAfter(null)}>Latest answers</Button>}
                {next && <Button onClick={() => setAfter(next)}>Earlier answers</Button>}
              </nav>
            )}
          </>
        )}
      </Reading>
    </>
  )
}

/** Who answered what, and what they wrote, shown once somebody wants to read it. The address says which answers. */
export function Respondents(shown: Shown) {
  const { filters, withFilters } = useFilters()
  const { key } = shown.step
  const isOpen = filters.survey === key
  const value = isOpen ? (filters.value ?? '') : ''
  const shownOnly = groupNames[value] ?? value
  const list = useRef<HTMLDivElement>(null)
  // The number that opens the list is far above it.
  useEffect(() => {
    if (isOpen) list.current?.scrollIntoView()
  }, [isOpen, value])
  if (!may('people:read')) {
    return <p class="hint">Only editors and owners see who answered and what they wrote.</p>
  }
  return (
    <div ref={list} id={`respondents-${key}`} class="stack gap-2">
      {isOpen ? (
        <>
          <h4>
            {value === '' ? 'People who answered' : `People who answered: ${shownOnly}`}{' '}
            {value !== '' && (
              <LinkButton href={withFilters({ survey: key, value: null })}>
                Show all answers
              </LinkButton>
            )}
          </h4>
          <List key={value} {...shown} value={value} />
        </>
      ) : (
        <div>
          <LinkButton href={`${withFilters({ survey: key, value: null })}#respondents-${key}`}>
            {shown.type === 'text' ? 'Read answers' : 'See who answered'}
          </LinkButton>
        </div>
      )}
    </div>
  )
}
