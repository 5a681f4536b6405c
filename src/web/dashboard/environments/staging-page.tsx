import { useSignal } from '@preact/signals'
import type { StagedFlows } from '../../../modules/environments/schema.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button, LinkButton } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Select } from '../parts/select.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { flowWords } from '../words/flows.ts'
import { environmentsPath, useLinks } from './links.ts'
import { Promote, type StagedFlow } from './promote.tsx'

const words = {
  version: (version: number) => `Version ${version}`,
  states: { new: 'New', changed: 'Changed', same: 'Same', missing: 'Not in staging' },
  promoteNamed: (name: string) => `Promote “${name}”`,
  lead: (name: string) => `Compare flows in ${name} with this organisation.`,
}

const tones: Readonly<Record<StagedFlow['state'], Tone>> = {
  new: 'accent',
  changed: 'warn',
  same: 'good',
  missing: 'neutral',
}

function There({ staging }: Pick<StagedFlow, 'staging'>) {
  if (!staging) return 'None'
  const { side, version, hasDraft } = staging
  if (side === 'draft' || version === null) return 'Draft'
  return (
    <>
      {words.version(version)}
      {hasDraft && <span class="hint"> + unpublished draft</span>}
    </>
  )
}

function Here({ production }: Pick<StagedFlow, 'production'>) {
  if (!production) return 'None'
  const { version, hasDraft, isLocked } = production
  return (
    <>
      {version === null ? 'Draft' : words.version(version)}
      {version !== null && hasDraft && <span class="hint"> + unpublished draft</span>}
      {isLocked && (
        <>
          {' '}
          <Badge>Locked</Badge>
        </>
      )}
    </>
  )
}

const columns = (promote: (flow: StagedFlow) => void): Column<StagedFlow>[] => [
  {
    name: 'Flow',
    isTitle: true,
    cell: ({ key, name, production }) =>
      production ? <a href={addressOf(['flows', key, 'versions'])}>{name}</a> : name,
  },
  {
    name: 'Difference',
    cell: ({ state }) => <Badge tone={tones[state]}>{words.states[state]}</Badge>,
  },
  { name: 'Staging', cell: There },
  { name: 'This organisation', cell: Here },
  {
    head: <span class="unseen">Actions</span>,
    name: '',
    cell: flow =>
      may('flows:write') &&
      (flow.state === 'new' || flow.state === 'changed') &&
      !flow.production?.isLocked && (
        <Button aria-label={words.promoteNamed(flow.name)} onClick={() => promote(flow)}>
          Promote
        </Button>
      ),
  },
]

function Compared({ data }: { data: StagedFlows }) {
  const { filters, setFilters } = useFilters()
  const said = useSignal<string | null>(null)
  const confirming = useSignal<StagedFlow | null>(null)
  const { organisation, flows } = data
  const isShort = filters.changed === '1'
  const shown = isShort ? flows.filter(({ state }) => state !== 'same') : flows
  return (
    <>
      <p class="lead">{words.lead(organisation.name)}</p>
      <StatusMessage of={said} />
      <Check
        label="Only show differences"
        checked={isShort}
        onChange={checked => setFilters({ changed: checked ? '1' : null })}
      />
      <Table
        caption="Flows in staging and here"
        columns={columns(flow => (confirming.value = flow))}
        rows={shown}
        keyOf={({ key }) => key}
        none="No flows yet"
      />
      {confirming.value && (
        <Promote
          flow={confirming.value}
          staging={organisation}
          onPromoted={sentence => (said.value = sentence)}
          onClose={() => (confirming.value = null)}
        />
      )}
    </>
  )
}

const None = () => (
  <Notice
    icon="flows"
    title="No staging organisation linked"
    actions={
      may('settings:write') && (
        <LinkButton href={addressOf(['settings', 'staging'])}>Link staging organisation</LinkButton>
      )
    }
  >
    A staging organisation has its own key and data. Try flows there, then promote them here.
  </Notice>
)

/** Flows that were tried elsewhere and are to come here. */
export default function StagingPage() {
  const { filters, setFilters } = useFilters()
  const links = useLinks()
  const staging = links.data?.staging ?? []
  const chosen = staging.find(({ slug }) => slug === filters.in) ?? staging[0]
  const compared = useRead<StagedFlows>(chosen ? `${environmentsPath}/${chosen.slug}/flows` : null)
  return (
    <>
      <PageHead title="Staging" above={<a href={addressOf(['flows'])}>{flowWords.title}</a>} />
      {staging.length > 1 && (
        <div class="controls">
          <Select
            isInline
            label="Staging organisation"
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
