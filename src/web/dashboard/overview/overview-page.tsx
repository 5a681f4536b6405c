import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AlertList } from '../../../modules/alerts/schema.ts'
import { alertsMs, alertsPath } from '../alerts/saving.ts'
import { useSummary } from '../analytics/summary.ts'
import { useZone } from '../analytics/use-zone.ts'
import { defaultMs, type Read, soonMs, useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import {
  type Installation,
  installPath,
  isOnTheWay,
  nameOfInstall,
  toneOfInstall,
} from '../installation/state.ts'
import { Badge } from '../parts/badge.tsx'
import { formatAge, zoneName } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { addressOf } from '../shell/address.ts'
import { lazy } from '../shell/lazy.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { healthMs, healthPath, type StepCheck } from '../steps/health.ts'
import { Losses, lossesOf } from './losses.tsx'
import { Needs } from './needs.tsx'
import { Week } from './week.tsx'

/** Most visits do not need it, nor the preview that it brings. */
const FirstTour = lazy(() => import('../installation/first-tour.tsx'))

const days = 30

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
const Snippet = ({ of: { state, lastSeenAt } }: { of: Installation }) => (
  <p class="row">
    <strong>Snippet</strong>
    <Badge tone={toneOfInstall[state]}>{nameOfInstall[state]}</Badge>
    <span class="hint">{lastSeenAt && `last seen ${formatAge(lastSeenAt)}`}</span>
  </p>
)

/** The week beside the one before, and the flows ranked by what is lost. */
function Numbers({ flows, check }: FlowList & { check: StepCheck }) {
  const zone = useZone()
  const summary = useSummary(days, zone)
  return (
    <Reading of={summary} lines={6}>
      {data => (
        <>
          <Part title="Last 7 days">
            <Week flows={data.flows} />
          </Part>
          <Part
            title={`Flows, last ${days} days`}
            beside={<a href={addressOf(['flows'])}>All flows</a>}
          >
            <Losses
              losses={lossesOf(flows, data.flows, check.steps)}
              params={{ from: data.range.from, tz: zone }}
            />
            <p class="footnote fine">Days start at midnight in {zoneName(data.range.timezone)}.</p>
          </Part>
        </>
      )}
    </Reading>
  )
}

/** What needs attention, and how all flows are doing. */
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
      <PageHead title="Overview" />
      <Reading of={together(list, health, install)} lines={6}>
        {([{ flows }, check, installation]) => {
          return (
            <>
              <Snippet of={installation} />
              {isNew ? (
                <FirstTour flows={flows} installation={installation} />
              ) : (
                <Part title="Needs attention">
                  <Needs
                    flows={flows}
                    check={check}
                    installation={installation}
                    alerts={alerts.data}
                  />
                </Part>
              )}
              {flows.length > 0 && <Numbers flows={flows} check={check} />}
            </>
          )
        }}
      </Reading>
    </>
  )
}
