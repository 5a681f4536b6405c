import { useSignal } from '@preact/signals'
import type { PushedFlows, VersionList } from '../../../modules/authoring/schema.ts'
import type { Analytics } from '../analytics/question.ts'
import { useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Badge } from '../parts/badge.tsx'
import { Check } from '../parts/choice.tsx'
import { Opener } from '../parts/opener.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { formatCount, formatMoment, none } from '../words/time.ts'
import { versionWords as words } from '../words/versions.ts'
import { ChangeDialog } from './change-dialog.tsx'
import type { Changing } from './draft-section.tsx'

type Version = VersionList['versions'][number]

/** Makes an older version the newest again. */
function RollBack({ flow, said, to }: Changing & { to: number }) {
  const isNow = useSignal(true)
  const { key, hasDraft } = flow
  const newest = flow.version!
  return (
    <Opener label={words.restore} aria-label={words.restoreTitle(to)}>
      {close => (
        <ChangeDialog
          flowKey={key}
          title={words.restoreTitle(to)}
          why={
            <>
              {isNow.value ? words.restoreWhy(newest + 1) : words.restoreDraftWhy}{' '}
              {hasDraft && words.restoreDraftLost}
            </>
          }
          verb={words.restore}
          compare={{ from: `${newest}`, to: `${to}` }}
          names={[words.side(newest), words.side(to)]}
          extra={
            <Check
              label={words.restoreNow}
              checked={isNow.value}
              onChange={checked => (isNow.value = checked)}
            />
          }
          act={async ({ etag }, note) => {
            const { flows } = await act<PushedFlows>(flowPath(key, `/versions/${to}/restore`), {
              body: { publish: isNow.value, ...note },
              ifMatch: etag,
            })
            said.value = words.restored(to, isNow.value ? flows[0]!.version : null)
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
  { flow, said }: Changing,
  zone: string,
  starts: ReadonlyMap<number, number> | null,
): Column<Version>[] => [
  {
    name: words.version,
    isTitle: true,
    cell: ({ version }) => (
      <span class="badges">
        {words.one(version)}
        {version === flow.version && (
          <Badge tone={flow.status === 'published' ? 'good' : 'neutral'}>
            {flow.status === 'published' ? words.live : words.newest}
          </Badge>
        )}
      </span>
    ),
  },
  {
    name: words.when,
    cell: ({ publishedAt }) => (
      <time dateTime={publishedAt}>{formatMoment(publishedAt, zone)}</time>
    ),
  },
  {
    name: words.by,
    cell: ({ publishedBy }) =>
      publishedBy ? (
        <span>
          {withoutId(publishedBy.name)} <small class="hint">{words.via[publishedBy.via]}</small>
        </span>
      ) : (
        <span class="hint">{words.unknownBy}</span>
      ),
  },
  {
    name: words.note,
    cell: ({ note }) => note ?? <span class="hint">{words.noNote}</span>,
  },
  {
    name: words.size,
    cell: ({ stepCount, itemCount }) => words.sizeOf(stepCount, itemCount),
  },
  {
    name: words.starts,
    isNumber: true,
    cell: ({ version }) => (starts === null ? none : formatCount(starts.get(version) ?? 0)),
  },
  {
    name: words.actions,
    isNumber: true,
    cell: ({ version }) => (
      <span class="row-actions">
        <a href={addressOf(['flows', flow.key], { version: `${version}` })}>{words.results}</a>
        <a href={addressOf(['flows', flow.key, 'runs'], { version: `${version}` })}>{words.runs}</a>
        {version !== flow.version && (
          <a
            href={addressOf(['flows', flow.key, 'versions'], {
              from: `${version}`,
              to: `${flow.version}`,
            })}
            aria-label={words.compareWith(version)}
          >
            {words.compareOne}
          </a>
        )}
        {version !== flow.version && may('flows:publish') && (
          <RollBack flow={flow} said={said} to={version} />
        )}
      </span>
    ),
  },
]

/** All published versions, the newest first. */
export function Ledger({
  versions,
  zone,
  ...changing
}: Changing & { versions: readonly Version[]; zone: string }) {
  const query = new URLSearchParams({ timezone: zone })
  const { data } = useRead<Analytics>(`/flows/${changing.flow.id}/analytics?${query}`, startsMs)
  const starts = data && new Map(data.versions.map(({ version, starts }) => [version, starts]))
  return (
    <Table
      caption={words.ledger}
      columns={columnsOf(changing, zone, starts)}
      rows={versions}
      keyOf={({ version }) => version}
    />
  )
}
