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
import { environmentWords as words } from '../words/environments.ts'
import { flowWords } from '../words/flows.ts'
import { environmentsPath, useLinks } from './links.ts'
import { Promote, type StagedFlow } from './promote.tsx'

const tones: Readonly<Record<StagedFlow['state'], Tone>> = {
  new: 'accent',
  changed: 'warn',
  same: 'good',
  missing: 'neutral',
}

function There({ staging }: Pick<StagedFlow, 'staging'>) {
  if (!staging) return words.nothing
  const { side, version, hasDraft } = staging
  if (side === 'draft' || version === null) return words.draft
  return (
    <>
      {words.version(version)}
      {hasDraft && <span class="hint"> {words.newerDraft}</span>}
    </>
  )
}

function Here({ production }: Pick<StagedFlow, 'production'>) {
  if (!production) return words.nothing
  const { version, hasDraft, isLocked } = production
  return (
    <>
      {version === null ? words.draft : words.version(version)}
      {version !== null && hasDraft && <span class="hint"> {words.newerDraft}</span>}
      {isLocked && (
        <>
          {' '}
          <Badge>{words.locked}</Badge>
        </>
      )}
    </>
  )
}

const columns = (promote: (flow: StagedFlow) => void): Column<StagedFlow>[] => [
  {
    name: words.columns.flow,
    isTitle: true,
    cell: ({ key, name, production }) =>
      production ? <a href={addressOf(['flows', key, 'versions'])}>{name}</a> : name,
  },
  {
    name: words.columns.state,
    cell: ({ state }) => <Badge tone={tones[state]}>{words.states[state]}</Badge>,
  },
  { name: words.columns.there, cell: There },
  { name: words.columns.here, cell: Here },
  {
    head: <span class="unseen">{words.columns.do}</span>,
    name: '',
    cell: flow =>
      may('flows:write') &&
      (flow.state === 'new' || flow.state === 'changed') &&
      !flow.production?.isLocked && (
        <Button aria-label={words.promoteNamed(flow.name)} onClick={() => promote(flow)}>
          {words.promote}
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
        label={words.onlyChanged}
        checked={isShort}
        onChange={checked => setFilters({ changed: checked ? '1' : null })}
      />
      <Table
        caption={words.caption}
        columns={columns(flow => (confirming.value = flow))}
        rows={shown}
        keyOf={({ key }) => key}
        none={words.empty}
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
    title={words.none}
    actions={
      may('settings:write') && (
        <LinkButton href={addressOf(['settings', 'environments'])}>{words.noneDo}</LinkButton>
      )
    }
  >
    {words.noneWhy}
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
      <PageHead title={words.title} above={<a href={addressOf(['flows'])}>{flowWords.title}</a>} />
      {staging.length > 1 && (
        <div class="controls">
          <Select
            isInline
            label={words.which}
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
