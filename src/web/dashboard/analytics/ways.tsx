import { hasBranches } from '../../../core/flow/paths.ts'
import { never, useRead } from '../api/read.ts'
import { type Leg, type Stop, WayChart } from '../charts/way-chart.tsx'
import { flowPath, type VersionAnswer, writtenIn } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { formatCount, formatShare } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { type Analytics, everyMs, numbersPath, type Question, queryOf } from './question.ts'

const ends = ['completed', 'dismissed', null] as const

const endNames = { completed: 'Completed', dismissed: 'Dismissed', inProgress: 'Unfinished' }

const idOfEnd = (end: string | null) => `end ${end}`

/** The start, the steps in order, and the ends that at least one run reached. */
function stopsOf({ ways = [], steps, totals }: Analytics): Stop[] {
  const ended = (end: string | null) =>
    ways.reduce((sum, { to, runs }) => sum + (to === end ? runs : 0), 0)
  return [
    {
      ...{ id: 'start', name: 'Start', looks: 'start', past: null },
      runs: formatCount(totals.starts),
    },
    ...steps.map(
      ({ stepId, title, key, reached, leftOut = 0 }): Stop => ({
        ...{ id: stepId, name: title || key, looks: 'step', runs: formatCount(reached) },
        past: leftOut > 0 ? `${formatCount(leftOut)} skipped it` : null,
      }),
    ),
    ...ends
      .filter(end => ended(end) > 0)
      .map(
        (end): Stop => ({
          id: idOfEnd(end),
          name: endNames[end ?? 'inProgress'],
          looks: end === 'completed' ? 'completions' : end ? 'dismissals' : 'inProgress',
          runs: formatCount(ended(end)),
          past: null,
        }),
      ),
  ]
}

interface Row extends Leg {
  fromName: string
  toName: string
  /** The number of all runs that left the stop where this leg begins. */
  of: number
}

function rowsOf({ ways = [] }: Analytics, stops: readonly Stop[]): Row[] {
  const placeOf = (id: string) => stops.findIndex(stop => stop.id === id)
  const legs = ways.map(({ from, to, runs }): Leg => {
    const isEnd = (ends as readonly (string | null)[]).includes(to)
    const at = placeOf(from ?? 'start')
    return { from: at, to: placeOf(isEnd ? idOfEnd(to) : to!), runs, isEnd }
  })
  return legs.map(leg => ({
    ...leg,
    fromName: stops[leg.from]?.name ?? '',
    toName: stops[leg.to]?.name ?? '',
    of: legs.reduce((sum, { from, runs }) => sum + (from === leg.from ? runs : 0), 0),
  }))
}

const columns: Column<Row>[] = [
  { name: 'From', isTitle: true, value: ({ fromName }) => fromName },
  { name: 'To', value: ({ toName }) => toName },
  {
    name: 'Runs',
    means: 'The percentage is of all runs that went on from there.',
    isNumber: true,
    value: ({ runs }) => runs,
    cell: ({ runs, of }) => (
      <span class="rate">
        {formatCount(runs)}
        <small>{formatShare(runs, of)}</small>
      </span>
    ),
  },
]

function Taken({ flow, question }: { flow: AuthoredFlow; question: Question }) {
  const path = numbersPath(flow.id, queryOf(question, { ways: '1' }))
  const read = useRead<Analytics>(path, everyMs * 4)
  return (
    <Reading of={read} lines={5}>
      {data => {
        const stops = stopsOf(data)
        const rows = rowsOf(data, stops)
        if (data.totals.starts === 0) return <p class="footnote fine">No runs in this period.</p>
        return (
          <>
            <WayChart stops={stops} legs={rows} />
            <Table
              isFolded
              caption="Runs from one step to the next, by their first view of each"
              file={`${flow.key}-paths`}
              columns={columns}
              rows={rows}
              keyOf={({ from, to }) => `${from} ${to}`}
            />
          </>
        )
      }}
    </Reading>
  )
}

/** The ways that runs took through a flow whose steps may be shown in another order than written. */
export function Ways({ flow, question }: { flow: AuthoredFlow; question: Question }) {
  const version = question.version ?? flow.version
  const written = useRead<VersionAnswer>(
    version === null ? null : flowPath(flow.key, `/versions/${version}`),
    never,
  )
  if (!written.data || !hasBranches(writtenIn(written.data).steps)) return null
  return (
    <Part title="Paths">
      <Taken flow={flow} question={question} />
    </Part>
  )
}
