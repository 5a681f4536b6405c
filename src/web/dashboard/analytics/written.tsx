import { useState } from 'preact/hooks'
import type { AnswerList } from '../../../modules/runs/schema.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Button } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { answerWords as words } from '../words/answers.ts'
import { runWords } from '../words/runs.ts'
import { formatMoment } from '../words/time.ts'
import type { Question } from './question.ts'

type Answer = AnswerList['answers'][number]

const columnsOf = (zone: string): Column<Answer>[] => [
  {
    name: words.text,
    isTitle: true,
    cell: ({ text }) =>
      text === null ? <span class="hint">{words.gone}</span> : <bdi class="written">{text}</bdi>,
  },
  {
    name: words.person,
    cell: ({ userId, anonymousId }) => <bdi>{userId ?? runWords.visitor(anonymousId ?? '')}</bdi>,
  },
  {
    name: words.when,
    cell: ({ answeredAt }) => formatMoment(answeredAt, zone),
  },
]

function List({
  flowKey,
  stepKey,
  question: { from, to, zone, version },
}: {
  flowKey: string
  stepKey: string
  question: Question
}) {
  const [after, setAfter] = useState<string | null>(null)
  const query = new URLSearchParams({ step: stepKey, from, to, timezone: zone, limit: '20' })
  if (version !== null) query.set('version', version)
  if (after !== null) query.set('after', after)
  const list = useRead<AnswerList>(flowPath(flowKey, `/answers?${query}`))
  return (
    <Reading of={list} lines={4}>
      {({ answers, next }) => (
        <>
          <Table
            caption={words.written}
            columns={columnsOf(zone)}
            rows={answers}
            keyOf={({ runId, answeredAt, userId, anonymousId }) =>
              `${runId} ${userId} ${anonymousId} ${answeredAt}`
            }
          />
          {(next || after) && (
            <nav class="pager" aria-label={words.pages}>
              {after && <Button onClick={() => setAfter(null)}>{words.newest}</Button>}
              {next && <Button onClick={() => setAfter(next)}>{words.next}</Button>}
            </nav>
          )}
        </>
      )}
    </Reading>
  )
}

/** What people wrote, shown only once somebody asks to read it. */
export function Written(props: { flowKey: string; stepKey: string; question: Question }) {
  const [isOpen, setOpen] = useState(false)
  if (!may('people:read')) return <p class="hint">{words.hidden}</p>
  if (isOpen) return <List {...props} />
  return (
    <div>
      <Button onClick={() => setOpen(true)}>{words.read}</Button>
    </div>
  )
}
