import type { Server } from '../../../modules/operations/model.ts'
import { Badge } from '../parts/badge.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatSeconds } from '../words/time.ts'

type Thread = Server['threads'][number]

/** A thread silent for this long hangs, because each one reports several times a second that it runs. */
const stuckSeconds = 5

const columns: Column<Thread>[] = [
  {
    name: words.thread,
    isTitle: true,
    cell: ({ name }) => <code>{name}</code>,
  },
  {
    name: words.state,
    cell: ({ silentSeconds }) =>
      silentSeconds < stuckSeconds ? (
        <Badge tone="good">{words.nodeStates.running()}</Badge>
      ) : (
        <Badge tone="bad">{words.stuck(formatSeconds(silentSeconds))}</Badge>
      ),
  },
]

/** Whether each thread is running. */
export function Threads({ of: { threads } }: { of: Server }) {
  return (
    <Part title={words.threads}>
      <Table
        caption={words.threads}
        columns={columns}
        rows={threads}
        keyOf={({ name }) => name}
        none={words.unknown}
      />
    </Part>
  )
}
