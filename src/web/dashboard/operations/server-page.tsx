import type { NodeList, Server } from '../../../modules/operations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Facts } from '../parts/facts.tsx'
import { formatAge, formatSeconds } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { Table } from '../parts/table.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { DeadLetters } from './dead-letters.tsx'

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** A size such as 5.3 MB. */
function formatBytes(bytes: number | null): string {
  if (bytes === null) return 'Unknown'
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const amount = bytes / 1_000 ** power
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`
}

/** When backups are made, and whether they are. */
function Backups({ of: { backups, isShared } }: { of: Server }) {
  const { everySeconds, last, nextAt, overdueSeconds, isFailing } = backups
  const isOwn = everySeconds > 0 && !isShared
  return (
    <Part title="Backups">
      {isShared && <p>Use PostgreSQL’s own tools to back up the shared log.</p>}
      {!isShared && everySeconds === 0 && <p>No backups are scheduled.</p>}
      {isOwn && (
        <Facts
          of={[
            ['Interval', formatSeconds(everySeconds)],
            [
              'Last',
              last === null
                ? 'None yet'
                : `${momentHere(last.at)} (${formatAge(last.at)}), ${formatBytes(last.bytes)}`,
            ],
            [
              'Next',
              overdueSeconds > 0 ? (
                <Badge tone="bad">Overdue by {formatSeconds(overdueSeconds)}</Badge>
              ) : (
                nextAt && momentHere(nextAt)
              ),
            ],
          ]}
        />
      )}
      {isFailing && <p class="problem">The last backup failed. The server’s log says why.</p>}
      <p class="footnote fine">
        <a href={manual(isShared ? 'several-machines#back-up-and-restore' : 'backup')}>
          How to back up
        </a>
      </p>
    </Part>
  )
}

const tones = { running: 'good', behind: 'warn', silent: 'bad', gone: 'neutral' } satisfies Record<
  NodeList['nodes'][number]['state'],
  Tone
>

/** The servers that share the data. */
function Nodes() {
  const list = useRead<NodeList>('/manage/nodes')
  return (
    <Part title="Nodes">
      <Reading of={list} lines={2}>
        {({ nodes }) => (
          <Table
            caption="Nodes"
            columns={[
              { name: 'Node', isTitle: true, cell: ({ name }) => name },
              {
                name: 'Status',
                cell: ({ state, silentSeconds }) => (
                  <Badge tone={tones[state]}>
                    {state}
                    {(state === 'silent' || state === 'gone') && ` ${formatSeconds(silentSeconds)}`}
                  </Badge>
                ),
              },
              { name: 'Jobs', cell: ({ jobs }) => jobs.join(', ') },
              { name: 'Version', cell: ({ release }) => release },
              { name: 'Started', cell: ({ startedAt }) => formatAge(startedAt) },
            ]}
            rows={nodes}
            keyOf={({ name, startedAt }) => `${name} ${startedAt}`}
            none="No node has reported yet."
          />
        )}
      </Reading>
    </Part>
  )
}

/** How the server is doing, for its operator. Everything else is in its metrics. */
export default function ServerPage() {
  const server = useRead<Server>('/manage/server')
  return (
    <>
      <PageHead title="Server" />
      <Reading of={server} lines={8}>
        {data => (
          <>
            {[...data.notReady, ...data.warnings].map(reason => (
              <p key={reason} class="problem">
                {reason}
              </p>
            ))}
            {data.limitsServer?.isAway && (
              <p class="problem">
                The server that counts rate limits is unreachable. Run “cairn doctor” to see why.
              </p>
            )}
            <Facts
              of={[
                [
                  'Status',
                  <Badge key="status" tone={data.notReady.length === 0 ? 'good' : 'bad'}>
                    {data.notReady.length === 0 ? 'Ready' : 'Not ready'}
                  </Badge>,
                ],
                ['Version', `${data.version}, started ${formatAge(data.startedAt)}`],
                ['Database', formatBytes(data.disk.databaseBytes)],
                ['Free disk space', formatBytes(data.disk.freeBytes)],
              ]}
            />
            <p class="footnote fine">
              <a href={manual('operations')}>Monitoring: metrics, traffic and errors</a>
            </p>
            {data.isShared && <Nodes />}
            <Backups of={data} />
            <DeadLetters />
          </>
        )}
      </Reading>
    </>
  )
}
