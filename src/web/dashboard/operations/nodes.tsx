import type { NodeList } from '../../../modules/operations/schema.ts'
import { useRead } from '../api/read.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatAge, formatSeconds } from '../words/time.ts'

type Node = NodeList['nodes'][number]

const tones = {
  running: 'good',
  behind: 'warn',
  silent: 'bad',
  gone: 'neutral',
} satisfies Record<Node['state'], Tone>

const columns: Column<Node>[] = [
  {
    name: words.node,
    isTitle: true,
    cell: ({ name }) => <code>{name}</code>,
  },
  {
    name: words.state,
    cell: ({ state, silentSeconds }) => (
      <Badge tone={tones[state]}>{words.nodeStates[state](formatSeconds(silentSeconds))}</Badge>
    ),
  },
  { name: words.release, cell: ({ release }) => release },
  {
    name: words.started,
    cell: ({ startedAt }) => formatAge(startedAt),
  },
  { name: words.doesAlone, cell: ({ jobs }) => jobs.join(', ') || '–' },
]

/** The servers that share the database. */
export function Nodes({ everyMs }: { everyMs: number }) {
  const list = useRead<NodeList>('/manage/nodes', everyMs)
  return (
    <Part title={words.nodes} beside={<span class="hint">{words.nodesWhy}</span>}>
      <Reading of={list} lines={2}>
        {({ nodes }) => (
          <Table
            caption={words.nodes}
            columns={columns}
            rows={nodes}
            keyOf={({ name, startedAt }) => `${name} ${startedAt}`}
            none={words.unknown}
          />
        )}
      </Reading>
    </Part>
  )
}
