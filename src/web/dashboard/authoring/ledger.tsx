import { useSignal } from '@preact/signals'
import type { PushedFlows, VersionList } from '../../../modules/authoring/schema.ts'
import type { Analytics } from '../analytics/question.ts'
import { defaultZone, momentHere, momentThere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Badge } from '../parts/badge.tsx'
import { Check } from '../parts/choice.tsx'
import { formatCount, none } from '../parts/format.ts'
import { Opener } from '../parts/opener.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { partsIn } from './parts-in.ts'
import type { Changing } from './publish.tsx'

type Version = VersionList['versions'][number]

/** Makes an older version the newest again. */
function RollBack({ flow, to }: Changing & { to: number }) {
  const isNow = useSignal(true)
  const { key, hasDraft } = flow
  const newest = flow.version!
  return (
    <Opener label="Roll back" aria-label={`Roll back to version ${to}`}>
      {close => (
        <ChangeDialog
          flowKey={key}
          title={`Roll back to version ${to}?`}
          why={
            <>
              {isNow.value
                ? `Publishes this content as version ${newest + 1}. Visitors get it on their next page.`
                : 'This content becomes the draft. Visitors see no change until you publish it.'}{' '}
              {hasDraft && 'It replaces the unpublished draft.'}
            </>
          }
          verb="Roll back"
          compare={{ from: `${newest}`, to: `${to}` }}
          names={[`version ${newest}`, `version ${to}`]}
          extra={
            <Check
              label="Publish now"
              checked={isNow.value}
              onChange={checked => (isNow.value = checked)}
            />
          }
          act={async ({ etag }, note) => {
            const { flows } = await act<PushedFlows>(flowPath(key, `/versions/${to}/restore`), {
              body: { publish: isNow.value, ...note },
              ifMatch: etag,
            })
            say(
              isNow.value
                ? `Version ${to} is live again, as version ${flows[0]!.version}.`
                : `Version ${to} is the draft now.`,
            )
          }}
          onClose={close}
        />
      )}
    </Opener>
  )
}

/** The starts of the last 30 days are computed anew for each answer. */
const startsMs = 60_000

/** A token without its id, because readers here know it by its name. The audit log has the id. */
const withoutId = (name: string) => name.replace(/ \(token_\w+\)$/, '')

const columnsOf = (
  { flow }: Changing,
  starts: ReadonlyMap<number, number> | null,
): Column<Version>[] => [
  {
    name: 'Version',
    isTitle: true,
    cell: ({ version }) => (
      <span class="row gap-1">
        Version {version}
        {version === flow.version && (
          <Badge tone={flow.status === 'published' ? 'good' : 'neutral'}>
            {flow.status === 'published' ? 'Live' : 'Newest'}
          </Badge>
        )}
      </span>
    ),
  },
  {
    name: 'Published',
    cell: ({ publishedAt }) => (
      <time dateTime={publishedAt}>
        <Tip text={momentThere(publishedAt)}>{momentHere(publishedAt)}</Tip>
      </time>
    ),
  },
  {
    name: 'By',
    cell: ({ publishedBy }) =>
      publishedBy ? (
        <span>
          {withoutId(publishedBy.name)} <small class="hint">{publishedBy.via}</small>
        </span>
      ) : (
        <span class="hint">Unknown</span>
      ),
  },
  {
    name: 'Note',
    cell: ({ note }) => note ?? <span class="hint">{none}</span>,
  },
  {
    name: 'Parts',
    cell: ({ stepCount, itemCount }) => partsIn(stepCount, itemCount),
  },
  {
    name: 'Runs, 30 days',
    isNumber: true,
    cell: ({ version }) => (starts === null ? none : formatCount(starts.get(version) ?? 0)),
  },
  {
    name: 'Actions',
    isNumber: true,
    cell: ({ version }) => (
      <span class="row-actions">
        <a href={addressOf(['flows', flow.key], { version: `${version}` })}>Results</a>
        <a href={addressOf(['flows', flow.key, 'runs'], { version: `${version}` })}>Runs</a>
        {version !== flow.version && (
          <a
            href={addressOf(['flows', flow.key, 'versions'], {
              from: `${version}`,
              to: `${flow.version}`,
            })}
            aria-label={`Compare version ${version} with the newest`}
          >
            Compare
          </a>
        )}
        {version !== flow.version && may('flows:publish') && <RollBack flow={flow} to={version} />}
      </span>
    ),
  },
]

/** All published versions, the newest first. */
export function Ledger({ versions, ...changing }: Changing & { versions: readonly Version[] }) {
  const query = new URLSearchParams({ timezone: defaultZone() })
  const { data } = useRead<Analytics>(`/flows/${changing.flow.id}/analytics?${query}`, startsMs)
  const starts = data && new Map(data.versions.map(({ version, starts }) => [version, starts]))
  return (
    <Table
      caption="Published versions"
      columns={columnsOf(changing, starts)}
      rows={versions}
      keyOf={({ version }) => version}
    />
  )
}
