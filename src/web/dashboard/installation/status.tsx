import { momentHere } from '../analytics/zone.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Facts } from '../parts/facts.tsx'
import { formatAge, formatCount, formatSeconds, none } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import type { Installation } from './state.ts'
import { type Tick, Ticks } from './ticks.tsx'

type Stage = Installation['stages'][number]

/** Each stage of an installation: what it is called, and what is still awaited. */
const stages: Record<Stage['stage'], readonly [title: string, awaited: string]> = {
  key_used: ['Snippet key used', 'Waiting for the first request with the key.'],
  flows_fetched: ['First page loaded flows', 'Open a page that has the snippet.'],
  heartbeat: [
    'Snippet active on a page',
    'Pages report this every few minutes while they are open.',
  ],
  events_flowing: ['First event received', 'Open a page on which a published flow is shown.'],
}

const seen = ({ stage, firstAt, lastAt }: Stage): Tick => ({
  title: stages[stage][0],
  isDone: firstAt !== null,
  how: <p class="hint">{stages[stage][1]}</p>,
  since: firstAt && lastAt && (
    <p class="hint">
      Since {momentHere(firstAt)}
      {lastAt !== firstAt && `, last ${formatAge(lastAt)}`}
    </p>
  ),
})

function published(flows: readonly AuthoredFlow[]): Tick {
  const count = flows.filter(({ status }) => status === 'published').length
  return {
    title: 'A flow is published',
    isDone: count > 0,
    how: <p class="hint">Publish a flow, so that pages have something to show.</p>,
    since: (
      <p class="hint">
        {formatCount(count)} {count === 1 ? 'flow' : 'flows'}
      </p>
    ),
  }
}

function clockDifference(ms: number | null): string {
  if (ms === null) return none
  if (Math.abs(ms) < 1_000) return 'Under a second'
  return `${formatSeconds(Math.abs(ms) / 1_000)} ${ms > 0 ? 'behind' : 'ahead'}`
}

const countsOf = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${formatCount(count)} ${code.replaceAll('_', ' ')}`)
    .join(', ') || 'None'

/** Which parts of an installation work, in the order in which they usually start. */
export function InstallationStatus({
  of: { stages, snippetVersion, skewMsMedian, rejected24h, erased24h },
  flows,
}: {
  of: Installation
  flows: readonly AuthoredFlow[]
}) {
  const order = ['key_used', 'flows_fetched', 'published', 'events_flowing', 'heartbeat'] as const
  const ticks = order.flatMap(name => {
    if (name === 'published') return published(flows)
    const stage = stages.find(({ stage }) => stage === name)
    return stage ? seen(stage) : []
  })
  return (
    <Part title="Installation status">
      <Ticks ticks={ticks} />
      <Facts
        of={[
          ['Snippet version', snippetVersion ?? none],
          ['Median clock difference', clockDifference(skewMsMedian)],
          ['Events rejected, last 24 hours', countsOf(rejected24h)],
          ...(erased24h > 0
            ? [['Reports about erased people, discarded', formatCount(erased24h)] as const]
            : []),
        ]}
      />
    </Part>
  )
}
