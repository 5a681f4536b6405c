import { flowKinds } from '../../../core/flow/names.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { formatCount, formatDateTime, none } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import type { PersonHistory } from './person.ts'

type Met = PersonHistory['flows'][number]
type State = 'progress' | 'completed' | 'dismissed' | 'none'

const nameOf: Record<State, string> = {
  progress: 'Unfinished',
  completed: 'Completed',
  dismissed: 'Dismissed',
  none: 'No run',
}

const toneOf: Record<State, Tone> = {
  progress: 'accent',
  completed: 'good',
  dismissed: 'neutral',
  none: 'neutral',
}

const moment = (at: string | null) => (at === null ? none : formatDateTime(at))

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
      <summary>
        {done} of {items.length}
      </summary>
      <ul class="stack gap-1 fine">
        {items.map(({ key, title, completedAt }) => (
          <li key={key} class="line gap-1">
            {completedAt && <Icon name="done" size={14} />}
            {title}
            <span class="unseen"> ({completedAt ? 'ticked' : 'not ticked'})</span>
            {completedAt && <span> {moment(completedAt)}</span>}
          </li>
        ))}
      </ul>
    </details>
  )
}

const columns: Column<Met>[] = [
  {
    name: 'Flow',
    isTitle: true,
    cell: ({ flowKey, name, kind }) => (
      <>
        <a class="row-link" href={addressOf(['flows', flowKey])}>
          {name}
        </a>
        <span class="row-note fine">{flowKinds[kind]}</span>
      </>
    ),
  },
  {
    name: 'State',
    cell: met => {
      const state = stateOf(met)
      const completedAt = met.completedAt ?? met.flowCompletedAt
      return (
        <span>
          <Badge tone={toneOf[state]}>{nameOf[state]}</Badge>
          {completedAt && <small class="row-note fine">{moment(completedAt)}</small>}
        </span>
      )
    },
  },
  {
    name: 'Checklist',
    cell: met => <Items {...met} />,
  },
  {
    name: 'Latest start',
    cell: ({ startedAt }) => moment(startedAt),
  },
  {
    name: 'Runs',
    isNumber: true,
    cell: ({ runs }) => formatCount(runs),
  },
]

/** The flows that a person has started, completed or ticked an item of. */
export const MetFlows = ({ flows }: Pick<PersonHistory, 'flows'>) => (
  <Part title="Flows seen">
    <Table
      caption="Flows seen"
      columns={columns}
      rows={flows}
      keyOf={({ flowId }) => flowId}
      none="No flows yet"
    />
  </Part>
)
