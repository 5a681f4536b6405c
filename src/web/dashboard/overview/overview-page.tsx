import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AlertList } from '../../../modules/alerts/schema.ts'
import { alertsMs, alertsPath } from '../alerts/saving.ts'
import { useSummary } from '../analytics/summary.ts'
import { useZone } from '../analytics/use-zone.ts'
import { defaultMs, type Read, soonMs, useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { FlowTable } from '../flows/flow-table.tsx'
import {
  type Installation,
  installPath,
  isOnTheWay,
  nameOfInstall,
  toneOfInstall,
} from '../installation/state.ts'
import { Badge } from '../parts/badge.tsx'
import { Part } from '../parts/part.tsx'
import { addressOf } from '../shell/address.ts'
import { lazy } from '../shell/lazy.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { healthMs, healthPath, type StepCheck } from '../steps/health.ts'
import { flowWords } from '../words/flows.ts'
import { overviewWords as words } from '../words/overview.ts'
import { formatAge } from '../words/time.ts'
import { Needs } from './needs.tsx'

/** Most visits do not need it, nor the preview that it brings. */
const FirstTour = lazy(() => import('../installation/first-tour.tsx'))

const days = 7

/** Several readings as one: there once all are, and failed if one has failed. */
function together<A, B, C>(a: Read<A>, b: Read<B>, c: Read<C>): Read<[A, B, C]> {
  const all = [a, b, c]
  const isThere = all.every(({ data }) => data !== null)
  return {
    data: isThere ? [a.data as A, b.data as B, c.data as C] : null,
    failure: all.find(({ failure }) => failure)?.failure ?? null,
    at: Math.min(...all.map(({ at }) => at ?? 0)),
    isOld: false,
    again: () => {
      for (const { again } of all) again()
    },
  }
}

/** Whether the snippet is alive, in one line. */
const Snippet = ({ of: { state, lastSeenAt, snippetVersion } }: { of: Installation }) => (
  <p class="snippet-state">
    <strong>{words.snippet}</strong>
    <Badge tone={toneOfInstall[state]}>{nameOfInstall[state]}</Badge>
    <span class="hint">
      {[
        lastSeenAt && words.lastSeen(formatAge(lastSeenAt)),
        snippetVersion && words.snippetVersion(snippetVersion),
      ]
        .filter(Boolean)
        .join(' · ')}
    </span>
  </p>
)

function Flows({ flows, check }: FlowList & { check: StepCheck }) {
  const summary = useSummary(days, useZone())
  return (
    <Part title={words.flows} beside={<a href={addressOf(['flows'])}>{words.allFlows}</a>}>
      <Reading of={summary}>
        {data => (
          <>
            <FlowTable
              flows={flows.filter(({ status }) => status !== 'archived')}
              summary={data}
              check={check}
            />
            <p class="footnote">{flowWords.lastDays(days, data.range.timezone)}</p>
          </>
        )}
      </Reading>
    </Part>
  )
}

/** What needs a person, and how all flows are doing. */
export default function OverviewPage() {
  const everyMs = useSignal(defaultMs)
  const list = useRead<FlowList>(flowsPath, everyMs.value)
  const health = useRead<StepCheck>(healthPath, healthMs)
  const install = useRead<Installation>(installPath, everyMs.value)
  const alerts = useRead<AlertList>(alertsPath, alertsMs)
  const isNew =
    list.data !== null && install.data !== null && isOnTheWay(list.data.flows, install.data)
  useEffect(() => {
    everyMs.value = isNew ? soonMs : defaultMs
  }, [isNew])
  return (
    <>
      <PageHead title={words.title} />
      <Reading of={together(list, health, install)} lines={6}>
        {([{ flows }, check, installation]) => {
          return (
            <>
              <Snippet of={installation} />
              {isNew ? (
                <FirstTour flows={flows} installation={installation} />
              ) : (
                <Part title={words.needed}>
                  <Needs
                    flows={flows}
                    check={check}
                    installation={installation}
                    alerts={alerts.data}
                  />
                </Part>
              )}
              {flows.length > 0 && <Flows flows={flows} check={check} />}
            </>
          )
        }}
      </Reading>
    </>
  )
}
