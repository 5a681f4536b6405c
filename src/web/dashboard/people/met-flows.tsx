import { momentHere } from '../analytics/zone.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { flowWords } from '../words/flows.ts'
import { peopleWords as words } from '../words/people.ts'
import { formatCount, none } from '../words/time.ts'
import type { PersonHistory } from './person.ts'

type Met = PersonHistory['flows'][number]
type State = keyof typeof words.states

const toneOf: Record<State, Tone> = {
  progress: 'accent',
  completed: 'good',
  dismissed: 'neutral',
  none: 'neutral',
}

const moment = (at: string | null) => (at === null ? none : momentHere(at))

function stateOf({ runs, inProgress, completedAt, flowCompletedAt }: Met): State {
  if (inProgress) return 'progress'
  if (completedAt ?? flowCompletedAt) return 'completed'
  return runs > 0 ? 'dismissed' : 'none'
}

function Items({ items }: Met) {
  if (items.length === 0) return <>{none}</>
  const done = items.filter(({ completedAt }) => completedAt !== null).length
  return (
    <details>
      <summary>{words.items(done, items.length)}</summary>
      <ul class="ticks fine">
        {items.map(({ key, title, completedAt }) => (
          <li key={key}>
            {completedAt && <Icon name="done" size={14} />}
            {title}
            <span class="unseen"> ({completedAt ? words.ticked : words.notTicked})</span>
            {completedAt && <span> {moment(completedAt)}</span>}
          </li>
        ))}
      </ul>
    </details>
  )
}

const columns: Column<Met>[] = [
  {
    name: words.columns.flow,
    isTitle: true,
    cell: ({ flowKey, name, kind }) => (
      <>
        <a class="row-link" href={addressOf(['flows', flowKey])}>
          {name}
        </a>
        <span class="row-note fine">
          {flowWords.kinds[kind]} · <code>{flowKey}</code>
        </span>
      </>
    ),
  },
  {
    name: words.columns.state,
    cell: met => {
      const state = stateOf(met)
      const completedAt = met.completedAt ?? met.flowCompletedAt
      return (
        <span>
          <Badge tone={toneOf[state]}>{words.states[state]}</Badge>
          {completedAt && (
            <small class="row-note fine">{words.completedAt(moment(completedAt))}</small>
          )}
        </span>
      )
    },
  },
  {
    name: words.columns.checklist,
    cell: met => <Items {...met} />,
  },
  {
    name: words.columns.started,
    cell: ({ startedAt }) => moment(startedAt),
  },
  {
    name: words.columns.runs,
    isNumber: true,
    cell: ({ runs }) => formatCount(runs),
  },
]

/** The flows that a person has started, completed or ticked an item of. */
export const MetFlows = ({ flows }: Pick<PersonHistory, 'flows'>) => (
  <Part title={words.met}>
    <Table
      caption={words.met}
      columns={columns}
      rows={flows}
      keyOf={({ flowId }) => flowId}
      none={words.metNothing}
    />
  </Part>
)
