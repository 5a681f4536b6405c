import { useSummary } from '../analytics/summary.ts'
import { useZone } from '../analytics/use-zone.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { useLinks } from '../environments/links.ts'
import { LinkButton } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { zoneName } from '../parts/format.ts'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading, StaleNote } from '../shell/states.tsx'
import { healthMs, healthPath, type StepCheck } from '../steps/health.ts'
import { type AuthoredFlow, type FlowList, flowsPath } from './flow-list.ts'
import { FlowTable } from './flow-table.tsx'

const days = 30

/** A link to the place where flows are tried first. */
const Staging = () =>
  useLinks().data?.staging.length ? (
    <LinkButton href={addressOf(['staging'])}>Staging</LinkButton>
  ) : null

const NewFlow = () =>
  may('flows:write') ? (
    <LinkButton look="primary" href={addressOf(['flows', 'new'])}>
      New flow
    </LinkButton>
  ) : null

/** Leads to a first flow. */
const NoFlows = () => (
  <Notice icon="flows" title="No flows yet" actions={<NewFlow />}>
    Start with a goal, such as a welcome tour.
  </Notice>
)

/** The flows that the address asks for, with their numbers. */
function Found({ flows }: { flows: readonly AuthoredFlow[] }) {
  const { filters } = useFilters()
  const summary = useSummary(days, useZone())
  const { data: check } = useRead<StepCheck>(healthPath, healthMs)
  const typed = (filters.find ?? '').toLowerCase()
  const found = flows
    .filter(({ status }) => status !== 'archived' || filters.archived === '1')
    .filter(({ name, key }) => `${name} ${key}`.toLowerCase().includes(typed))
  const { failure, at, again } = summary
  return (
    <>
      {failure && failure.status !== 401 && (
        <StaleNote failure={failure} at={at ?? Date.now()} again={again} />
      )}
      {found.length === 0 ? (
        <Notice icon="search" title="No matching flows" />
      ) : (
        <FlowTable flows={found} summary={summary.data} check={check} />
      )}
      {summary.data && (
        <p class="footnote fine">
          Last {days} days. Days start at midnight in {zoneName(summary.data.range.timezone)}.
        </p>
      )}
    </>
  )
}

/** All flows of the organisation. */
export default function FlowsPage() {
  const { filters, setFilters } = useFilters()
  const list = useRead<FlowList>(flowsPath)
  const flows = list.data?.flows ?? []
  const hasArchived = flows.some(({ status }) => status === 'archived')
  return (
    <>
      <PageHead
        title="Flows"
        actions={
          <>
            <Staging />
            {flows.length > 0 && <NewFlow />}
          </>
        }
      />
      {flows.length > 0 && (
        <div class="controls row below-4">
          <input
            class="input search"
            type="search"
            placeholder="Find a flow"
            aria-label="Find a flow"
            value={filters.find ?? ''}
            onInput={event => setFilters({ find: event.currentTarget.value }, { replace: true })}
          />
          {hasArchived && (
            <Check
              label="Show archived"
              checked={filters.archived === '1'}
              onChange={checked => setFilters({ archived: checked ? '1' : null })}
            />
          )}
        </div>
      )}
      <Reading of={list}>
        {({ flows }) => (flows.length === 0 ? <NoFlows /> : <Found flows={flows} />)}
      </Reading>
    </>
  )
}
