import type { Server } from '../../../modules/operations/schema.ts'
import { Badge } from '../parts/badge.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatRate } from './amounts.ts'
import { countedColumns } from './counted.ts'

type rejection = Server['refusals'][number]
type Limit = Server['limits'][number]
type Organisation = Server['organisations'][number]

const refusalColumns: Column<rejection>[] = [
  {
    name: words.status,
    isTitle: true,
    cell: ({ status }) => (
      <>
        <Badge tone={status >= 500 ? 'bad' : 'neutral'}>{status}</Badge>{' '}
        {words.statuses[status] ?? ''}
      </>
    ),
  },
  ...countedColumns,
]

/** Requests that did not get the answer that they asked for. */
export const Refusals = ({ of: { refusals } }: { of: Server }) => (
  <Part title={words.refusals}>
    <Table
      caption={words.refusalsCaption}
      columns={refusalColumns}
      rows={refusals}
      keyOf={({ status }) => status}
      none={words.noRefusals}
    />
  </Part>
)

const limitColumns: Column<Limit>[] = [
  {
    name: words.bucket,
    isTitle: true,
    cell: ({ bucket }) => <code>{bucket}</code>,
  },
  ...countedColumns,
]

/** The limits that organisations exceed. */
export const Limits = ({ of: { limits } }: { of: Server }) => (
  <Part title={words.limits}>
    <Table
      caption={words.limitsCaption}
      columns={limitColumns}
      rows={limits}
      keyOf={({ bucket }) => bucket}
      none={words.noLimits}
    />
  </Part>
)

const rate = (name: string, of: Exclude<keyof Organisation, 'slug'>): Column<Organisation> => ({
  name,
  isNumber: true,
  cell: organisation => formatRate(organisation[of]),
})

const organisationColumns: Column<Organisation>[] = [
  {
    name: words.organisation,
    isTitle: true,
    cell: ({ slug }) => slug,
  },
  rate(words.requests, 'requests'),
  rate(words.limited, 'limited'),
  rate(words.accepted, 'accepted'),
  rate(words.duplicates, 'duplicates'),
  rate(words.refused, 'rejected'),
]

/** How much each organisation sends. */
export const Organisations = ({ of: { organisations } }: { of: Server }) => (
  <Part title={words.organisations}>
    <Table
      caption={words.organisationsCaption}
      columns={organisationColumns}
      rows={organisations}
      keyOf={({ slug }) => slug}
      none={words.noTraffic}
    />
  </Part>
)
