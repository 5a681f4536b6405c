import { defaultZone, momentHere } from '../analytics/zone.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Part } from '../parts/part.tsx'
import { installationWords as words } from '../words/installation.ts'
import { formatAge } from '../words/time.ts'
import type { Installation } from './state.ts'
import { type Step, Steps } from './steps.tsx'

type Stage = Installation['stages'][number]

const seenStage = ({ stage, firstAt, lastAt }: Stage): Step => ({
  title: words.stage[stage],
  isDone: firstAt !== null,
  how: <p class="hint">{words.waiting[stage]}</p>,
  since: firstAt && lastAt && (
    <p class="hint">
      {words.first(momentHere(firstAt))}
      {lastAt !== firstAt && `, ${words.last(formatAge(lastAt))}`}
    </p>
  ),
})

function publishedStage(flows: readonly AuthoredFlow[]): Step {
  const published = flows.filter(({ status }) => status === 'published').length
  return {
    title: words.stage.published,
    isDone: published > 0,
    how: <p class="hint">{words.waiting.published}</p>,
    since: <p class="hint">{words.publishedFlows(published)}</p>,
  }
}

/** How far an installation has come, in the order in which that usually happens. */
export function Stages({
  installation: { stages },
  flows,
}: {
  installation: Installation
  flows: readonly AuthoredFlow[]
}) {
  const order = ['key_used', 'flows_fetched', 'published', 'events_flowing', 'heartbeat'] as const
  const steps = order.flatMap(name => {
    if (name === 'published') return publishedStage(flows)
    const stage = stages.find(({ stage }) => stage === name)
    return stage ? seenStage(stage) : []
  })
  return (
    <Part
      title={words.stages}
      beside={
        <span class="hint">
          {words.stagesWhy} {defaultZone()}
        </span>
      }
    >
      <Steps steps={steps} />
    </Part>
  )
}
