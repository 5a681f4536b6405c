import type { StagedFlows } from '../../../modules/environments/schema.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Opener } from '../parts/opener.tsx'
import { Select } from '../parts/select.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { environmentsPath, useLinks } from './links.ts'
import { Promote, type StagedFlow } from './promote.tsx'

const states: Readonly<Record<StagedFlow['state'], readonly [tone: Tone, name: string]>> = {
  new: ['accent', 'New'],
  changed: ['warn', 'Changed'],
  same: ['good', 'Same'],
  missing: ['neutral', 'Not in staging'],
}

/** Which version or draft a side has, in a few words. */
const sideOf = (side: { version: number | null; hasDraft: boolean } | null, isDraft = false) => {
  if (!side) return <span class="hint">None</span>
  if (isDraft || side.version === null) return 'Draft'
  return `Version ${side.version}${side.hasDraft ? ' and a newer draft' : ''}`
}

const canPromote = ({ state, production }: StagedFlow) =>
  may('flows:write') && (state === 'new' || state === 'changed') && !production?.isLocked

const columns = (staging: StagedFlows['organisation']): Column<StagedFlow>[] => [
  {
    name: 'Flow',
    isTitle: true,
    value: ({ name }) => name,
    cell: ({ key, name, production }) =>
      production ? <a href={addressOf(['flows', key, 'versions'])}>{name}</a> : name,
  },
  {
    name: 'Status',
    value: ({ state }) => states[state][1],
    cell: ({ state, production }) => (
      <span class="row gap-1">
        <Badge tone={states[state][0]}>{states[state][1]}</Badge>
        {production?.isLocked && <Badge>Locked</Badge>}
      </span>
    ),
  },
  {
    name: staging.name,
    cell: ({ staging }) => sideOf(staging, staging?.side === 'draft'),
  },
  { name: 'Here', cell: ({ production }) => sideOf(production) },
  actionsColumn(
    flow =>
      canPromote(flow) && (
        <Opener label="Promote…" aria-label={`Promote “${flow.name}”`}>
          {close => <Promote flow={flow} staging={staging} onClose={close} />}
        </Opener>
      ),
  ),
]

function Compared({ data: { organisation, flows } }: { data: StagedFlows }) {
  const { filters, setFilters } = useFilters()
  const isShort = filters.changed === '1'
  const shown = isShort ? flows.filter(({ state }) => state !== 'same') : flows
  return (
    <>
      <p class="lead below-4">Compare flows in {organisation.name} with this organisation.</p>
      <Check
        label="Only differences"
        checked={isShort}
        onChange={checked => setFilters({ changed: checked ? '1' : null })}
      />
      <Table
        caption="Flows in staging and here"
        columns={columns(organisation)}
        rows={shown}
        keyOf={({ key }) => key}
        none="No flows yet"
      />
    </>
  )
}

const None = () => (
  <Notice
    icon="flows"
    title="No staging organisation"
    actions={
      may('settings:write') && (
        <LinkButton href={addressOf(['settings', 'staging'])}>Link one in Settings</LinkButton>
      )
    }
  >
    Try flows in an organisation with its own key and data first, then promote them to here.
  </Notice>
)

/** Flows that were tried in a staging organisation, and are to come here. */
export default function StagingPage() {
  const { filters, setFilters } = useFilters()
  const links = useLinks()
  const staging = links.data?.staging ?? []
  const chosen = staging.find(({ slug }) => slug === filters.in) ?? staging[0]
  const compared = useRead<StagedFlows>(chosen ? `${environmentsPath}/${chosen.slug}/flows` : null)
  return (
    <>
      <PageHead title="Staging" above={<a href={addressOf(['flows'])}>Flows</a>} />
      {staging.length > 1 && (
        <div class="controls row below-4">
          <Select
            label="Staging organisation"
            isInline
            value={chosen!.slug}
            options={staging.map(({ slug, name }) => [slug, name] as const)}
            onChange={slug => setFilters({ in: slug })}
          />
        </div>
      )}
      <Reading of={links}>
        {() =>
          chosen ? (
            <Reading of={compared}>{data => <Compared key={chosen.id} data={data} />}</Reading>
          ) : (
            <None />
          )
        }
      </Reading>
    </>
  )
}
