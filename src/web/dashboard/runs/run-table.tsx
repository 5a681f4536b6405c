import type { RunList } from '../../../modules/runs/schema.ts'
import { momentHere, momentThere } from '../analytics/zone.ts'
import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { formatSeconds } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf } from '../shell/address.ts'

type Run = RunList['runs'][number]

/** How a run ended, or that it is active or stalled. */
function outcomeOf({ outcome, stalled }: Run): [Tone, string] {
  if (outcome === 'completed') return ['good', 'Completed']
  if (outcome === 'dismissed') return ['neutral', 'Dismissed']
  return stalled ? ['warn', 'Stalled'] : ['accent', 'Active']
}

const nameOf = ({ userId, anonymousId }: Run): string =>
  userId ?? (anonymousId === null ? 'Unknown' : `Visitor ${anonymousId}`)

/** The person whose run it was, with a link to them if the reader may see people. */
function Person({ run }: { run: Run }) {
  const { userId, anonymousId } = run
  if (userId === null && anonymousId === null) return <span class="hint">{nameOf(run)}</span>
  if (!may('people:read')) return <span class="break">{nameOf(run)}</span>
  const filters = userId === null ? { anonymous: anonymousId } : { user: userId }
  return (
    <a class="row-link break" href={addressOf(['people'], filters)}>
      {nameOf(run)}
    </a>
  )
}

/** From the start to the completion, else to the last activity, in seconds. */
const lengthOf = ({ outcome, secondsToComplete, startedAt, lastAt }: Run): number | null =>
  outcome === 'completed' ? secondsToComplete : (Date.parse(lastAt) - Date.parse(startedAt)) / 1_000

const columns: Column<Run>[] = [
  { name: 'Person', isTitle: true, value: nameOf, cell: run => <Person run={run} /> },
  {
    name: 'Outcome',
    means: 'Stalled runs had no activity for 7 days. Active ones may still be finished.',
    value: run => outcomeOf(run)[1],
    cell: run => {
      const [tone, name] = outcomeOf(run)
      return <Badge tone={tone}>{name}</Badge>
    },
  },
  {
    name: 'Furthest step',
    value: ({ lastStep }) => (lastStep ? lastStep.title || lastStep.key : 'None'),
  },
  {
    name: 'Version',
    isNumber: true,
    value: ({ version }) => version,
    cell: run => `v${run.version}`,
  },
  {
    name: 'Started',
    isNumber: true,
    value: ({ startedAt }) => startedAt,
    cell: ({ startedAt }) => (
      <time dateTime={startedAt}>
        <Tip text={momentThere(startedAt)}>{momentHere(startedAt)}</Tip>
      </time>
    ),
  },
  {
    name: 'Duration',
    means: 'From start to completion. Grey: to the last activity of a run that is not completed.',
    unit: 'seconds',
    isNumber: true,
    value: lengthOf,
    cell: run => (
      <bdi class={run.outcome === 'completed' ? '' : 'soft'}>{formatSeconds(lengthOf(run))}</bdi>
    ),
  },
]

/** Single runs, latest start first. */
export const RunTable = ({
  runs,
  isPart,
  file,
}: {
  runs: readonly Run[]
  isPart: boolean
  file: string
}) => (
  <Table
    caption="Runs, latest start first"
    columns={columns}
    rows={runs}
    isPart={isPart}
    file={file}
    keyOf={({ runId, userId, anonymousId, startedAt }) =>
      `${runId} ${userId} ${anonymousId} ${startedAt}`
    }
  />
)
