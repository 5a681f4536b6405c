import { useSignal } from '@preact/signals'
import { reportableKinds } from '../../../core/event/event.ts'
import { defaultZone } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { type Installation, installPath } from '../installation/state.ts'
import { Badge } from '../parts/badge.tsx'
import { Button, LinkButton } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Select } from '../parts/select.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { activityWords as words } from '../words/activity.ts'
import { formatCount, formatSecondOfDay } from '../words/time.ts'
import { EventTable } from './event-table.tsx'
import { useWatch, type Watched } from './watch.ts'

const verdicts = ['accepted', 'duplicate', 'rejected'] as const

/** The known values, and the one in the address, whatever it is. */
const optionsOf = (all: string, values: readonly string[], chosen: string | undefined) => [
  ['', all] as const,
  ...[...new Set([...values, ...(chosen ? [chosen] : [])])].map(one => [one, one] as const),
]

function Controls() {
  const { filters, setFilters } = useFilters()
  const { data } = useRead<FlowList>(flowsPath)
  const keys = (data?.flows ?? []).filter(({ version }) => version !== null).map(({ key }) => key)
  return (
    <div class="controls">
      <Segments
        label={words.verdict}
        options={[['', words.all], ...verdicts.map(one => [one, words.verdicts[one]] as const)]}
        value={verdicts.find(one => one === filters.verdict) ?? ''}
        onChange={verdict => setFilters({ verdict })}
      />
      <Select
        isInline
        label={words.kind}
        value={filters.kind ?? ''}
        options={optionsOf(words.allKinds, reportableKinds, filters.kind)}
        onChange={kind => setFilters({ kind })}
      />
      <Select
        isInline
        label={words.flow}
        value={filters.flow ?? ''}
        options={optionsOf(words.allFlows, keys, filters.flow)}
        onChange={flow => setFilters({ flow })}
      />
    </div>
  )
}

/** Shown if no event has come while somebody watches. The installation knows whether any ever came. */
function Waiting() {
  const { data } = useRead<Installation>(installPath)
  const flowing = data?.stages.find(({ stage }) => stage === 'events_flowing')
  const isNew = data !== null && flowing?.firstAt == null
  return (
    <Notice
      icon="activity"
      title={words.waiting}
      actions={
        isNew && (
          <>
            <LinkButton href={addressOf(['install'])}>{words.install}</LinkButton>
            <LinkButton href={manual('troubleshoot')} isOutside>
              {words.manual}
            </LinkButton>
          </>
        )
      }
    >
      {isNew && words.never} {words.waitingWhy}
    </Notice>
  )
}

function Events({ watched: { events, missed, since } }: { watched: Watched }) {
  const { filters } = useFilters()
  const verdict = verdicts.find(one => one === filters.verdict)
  const shown = events.filter(
    event =>
      (!verdict || event.verdict === verdict) &&
      (!filters.kind || event.kind === filters.kind) &&
      (!filters.flow || event.flowKey === filters.flow),
  )
  return (
    <>
      {events.length === 0 ? (
        <Waiting />
      ) : shown.length === 0 ? (
        <p class="hint">{words.nothing(formatCount(events.length))}</p>
      ) : (
        <EventTable events={shown} zone={defaultZone()} />
      )}
      <p class="footnote">
        {missed > 0 && `${words.missed(formatCount(missed))} `}
        {words.since(formatSecondOfDay(since, defaultZone()), defaultZone())}
      </p>
    </>
  )
}

/** Events as they arrive, each with its outcome. */
export default function ActivityPage() {
  const isPaused = useSignal(false)
  const watched = useWatch(isPaused.value)
  const press = () => (isPaused.value = !isPaused.value)
  return (
    <>
      <PageHead
        title="Live events"
        beside={
          <span role="status">
            <Badge tone={isPaused.value ? 'warn' : 'good'}>
              {isPaused.value ? words.paused : words.watching}
            </Badge>
          </span>
        }
        actions={<Button onClick={press}>{isPaused.value ? words.goOn : words.pause}</Button>}
      />
      <Controls />
      <Reading of={watched} lines={6}>
        {data => <Events watched={data} />}
      </Reading>
    </>
  )
}
