import { useSignal } from '@preact/signals'
import { reportableKinds } from '../../../core/event/event.ts'
import { browserZone } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { type Installation, installPath } from '../installation/state.ts'
import { Badge } from '../parts/badge.tsx'
import { Button, LinkButton } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Filters } from '../parts/filters.tsx'
import { formatCount, formatSecondOfDay } from '../parts/format.ts'
import { Select } from '../parts/select.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { EventTable, kindName, verdictNames } from './event-table.tsx'
import { useWatch, type Watched } from './watch.ts'

const verdicts = ['accepted', 'duplicate', 'rejected'] as const

function Controls() {
  const { filters, setFilters } = useFilters()
  const { data } = useRead<FlowList>(flowsPath)
  const flows = (data?.flows ?? []).filter(({ version }) => version !== null)
  return (
    <div class="controls below-4">
      <Filters>
        <Segments
          label="Result"
          options={[['', 'All'], ...verdicts.map(one => [one, verdictNames[one]] as const)]}
          value={verdicts.find(one => one === filters.verdict) ?? ''}
          onChange={verdict => setFilters({ verdict })}
        />
        <Select
          isInline
          label="Event"
          value={filters.kind ?? ''}
          none="All events"
          options={reportableKinds.map(kind => [kind, kindName(kind)] as const)}
          onChange={kind => setFilters({ kind })}
        />
        <Select
          isInline
          label="Flow"
          value={filters.flow ?? ''}
          none="All flows"
          options={flows.map(({ key, name }) => [key, name] as const)}
          onChange={flow => setFilters({ flow })}
        />
      </Filters>
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
      title="Waiting for events"
      actions={
        isNew && (
          <>
            <LinkButton href={addressOf(['install'])}>Check installation</LinkButton>
            <LinkButton href={manual('troubleshoot')} isOutside>
              Nothing shows up?
            </LinkButton>
          </>
        )
      }
    >
      {isNew && 'No event has arrived yet.'} Open a page of your application and start a flow. Its
      events show here within seconds.
    </Notice>
  )
}

function Events({ watched: { events, missed, since } }: { watched: Watched }) {
  const { filters } = useFilters()
  const { data } = useRead<FlowList>(flowsPath)
  const nameOf = (key: string) => data?.flows.find(flow => flow.key === key)?.name ?? key
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
        <p class="hint">None of the {formatCount(events.length)} events that arrived match.</p>
      ) : (
        <EventTable events={shown} nameOf={nameOf} />
      )}
      <p class="footnote fine">
        {missed > 0 && `${formatCount(missed)} more arrived faster than they can be shown. `}
        Events since {formatSecondOfDay(since, browserZone)}, newest first. The list starts again
        after you pause it or hide this tab for 30 seconds.
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
              {isPaused.value ? 'Paused' : 'Watching'}
            </Badge>
          </span>
        }
        actions={<Button onClick={press}>{isPaused.value ? 'Resume' : 'Pause'}</Button>}
      />
      <Controls />
      <Reading of={watched} lines={6}>
        {data => <Events watched={data} />}
      </Reading>
    </>
  )
}
