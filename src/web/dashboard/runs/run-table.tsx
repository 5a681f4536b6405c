import type { RunList } from '../../../modules/runs/schema.ts'
import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Duration } from '../parts/duration.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { flowWords } from '../words/flows.ts'
import { runWords as words } from '../words/runs.ts'
import { formatMoment } from '../words/time.ts'

type Run = RunList['runs'][number]

const toneOfOutcome: Record<Run['outcome'], Tone> = {
  completed: 'good',
  dismissed: 'neutral',
  in_progress: 'accent',
}

/** The person whose run it was, with a link to them if the reader may see people. */
function Person({ run: { userId, anonymousId } }: { run: Run }) {
  const id = userId ?? anonymousId
  if (id === null) return <span class="hint">{words.nobody}</span>
  const name = userId ?? words.visitor(id)
  if (!may('people:read')) return <span class="address">{name}</span>
  const filters = userId === null ? { anonymous: id } : { user: id }
  return (
    <a class="row-link address" href={addressOf(['people'], filters)}>
      {name}
    </a>
  )
}

/** How long the run took. If it was not completed, the time until its last event. */
function Time({ run }: { run: Run }) {
  if (run.outcome === 'completed') return <Duration seconds={run.secondsToComplete} />
  const seconds = (Date.parse(run.lastAt) - Date.parse(run.startedAt)) / 1_000
  return (
    <span class="nought">
      <Duration seconds={seconds} />
    </span>
  )
}

const columnsIn = (zone: string): Column<Run>[] => [
  {
    name: words.person,
    isTitle: true,
    cell: run => <Person run={run} />,
  },
  {
    name: words.outcome,
    cell: ({ outcome }) => <Badge tone={toneOfOutcome[outcome]}>{words.outcomes[outcome]}</Badge>,
  },
  {
    name: words.furthest,
    cell: ({ lastStep }) =>
      lastStep ? (
        <span>{lastStep.title || lastStep.key}</span>
      ) : (
        <span class="hint">{words.noStep}</span>
      ),
  },
  {
    name: words.version,
    isNumber: true,
    cell: ({ version }) => flowWords.version(version),
  },
  {
    name: words.started,
    isNumber: true,
    cell: ({ startedAt }) => <time dateTime={startedAt}>{formatMoment(startedAt, zone)}</time>,
  },
  {
    name: words.time,
    means: words.timeMeans,
    isNumber: true,
    cell: run => <Time run={run} />,
  },
]

/** Single runs, the latest start first. */
export const RunTable = ({ runs, zone }: { runs: readonly Run[]; zone: string }) => (
  <Table
    caption={words.caption}
    columns={columnsIn(zone)}
    rows={runs}
    keyOf={({ runId, userId, anonymousId, startedAt }) =>
      `${runId} ${userId} ${anonymousId} ${startedAt}`
    }
  />
)
