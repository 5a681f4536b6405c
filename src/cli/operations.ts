import type { Static } from '@sinclair/typebox'
import { lasting } from '../core/time/durations.ts'
import type { AuditLog } from '../modules/access/schema.ts'
import type {
  Compacted,
  DeadLetterList,
  NodeList,
  Rebuilt,
  RetriedLetters,
} from '../modules/operations/schema.ts'
import type { RebuildProgress } from '../storage/interfaces/operations.ts'
import type { Command } from './command.ts'
import { exitStatus, UsageFailure, warn } from './failure.ts'
import type { Manager } from './manage.ts'
import { counted, print, sizeOf } from './output.ts'
import { addGroup, addRow, type Given, option, type Row, row } from './table.ts'

export const addAudit = (cairn: Command) => addRow(cairn, auditRow)
export const addNodes = (cairn: Command) => addRow(cairn, nodesRow)
export const addRebuild = (cairn: Command) => addRow(cairn, rebuildRow)
export const addCompact = (cairn: Command) => addRow(cairn, compactRow)

/** What was changed, as commands call it: settings have their names, and not the organisation's id. */
function subjectOf({ action, subject, after }: AuditLog['lines'][number]): string {
  if (action === 'settings.change') return Object.keys(after ?? {}).join(', ')
  const isOrganisation = /^(organisation|key|identity_secret)\./.test(action)
  return isOrganisation ? 'organisation' : subject
}

const auditRow: Row = {
  name: 'audit',
  about: 'list the latest changes to an organisation and who made them, newest first',
  options: [option('--subject <name>', 'only changes to this, such as the key of a flow')],
  route: 'GET /audit',
  query: ({ subject }) => ({ subject }),
  part: 'lines',
  columns: {
    time: 'at',
    actor: 'actor',
    via: 'via',
    action: 'action',
    subject: subjectOf,
    note: 'note',
  },
  none: 'No changes.',
  examples: ['cairn audit', 'cairn audit --subject welcome --json'],
}

const nodesRow = row<NodeList>({
  name: 'nodes',
  about:
    'list the servers that share a database; exit status 1 unless all are healthy and up to date',
  scope: 'server',
  run: settledNodes,
  check(list) {
    if (!areHealthy(list)) process.exitCode = exitStatus.failure
  },
  items: 'nodes',
  columns: {
    node: 'name',
    version: 'release',
    started: 'startedAt',
    state: 'state',
    'last seen': ({ silentSeconds: seconds }) =>
      `${seconds < 120 ? `${Math.round(seconds)} s` : lasting(seconds * 1_000)} ago`,
    change: 'change',
    jobs: 'jobs',
  },
  none: ({ isShared }) =>
    isShared
      ? 'No node is running. Start one with "cairn serve".'
      : 'One server uses this data directory. To run several, move the data into a database with "cairn move".',
  examples: [
    'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn nodes',
    'cairn nodes --config /etc/cairn/cairn.env',
  ],
  notes: `States: running; behind, while it has not applied the last change; silent, after
15 s without a report, because it hangs, was killed or cannot reach the
database; gone, after a minute. A node that is shut down is not listed.`,
})

/** How long nodes may take to apply a change, and how often they are checked, milliseconds. */
const patienceMs = 5_000
const pauseMs = 250

/** Every node is behind for a moment after each change. */
async function settledNodes({ ask }: Manager): Promise<NodeList> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const list = await ask<NodeList>('GET /nodes')
    const isBehind = list.nodes.some(({ state }) => state === 'behind')
    if (!isBehind || performance.now() > deadline) return list
    await Bun.sleep(pauseMs)
  }
}

function areHealthy({ isShared, nodes }: NodeList): boolean {
  const states = nodes.map(({ state }) => state as string)
  const hasProblem = states.includes('silent') || states.includes('behind')
  return !isShared || (states.includes('running') && !hasProblem)
}

const chosenLetters = {
  scope: 'here',
  args: { '[id...]': 'ids of dead letters' },
  options: [option('--all', 'all dead letters')],
  body({ id, all = false }: Given) {
    const wrong = id.find((text: string) => !/^[1-9]\d{0,14}$/.test(text))
    if (wrong !== undefined) {
      throw new UsageFailure(`"${wrong.slice(0, 20)}" is not an id: see "cairn dead-letters list"`)
    }
    if (all === id.length > 0) throw new UsageFailure('name ids of dead letters, or use --all')
    return all ? { all } : { ids: id.map(Number) }
  },
} satisfies Partial<Row>

const deadLetterRows: Row[] = [
  row<DeadLetterList>({
    name: 'list',
    about: 'list events that could not be stored and why, oldest first',
    scope: 'here',
    route: 'GET /dead-letters',
    part: 'letters',
    columns: {
      id: 'id',
      received: 'receivedAt',
      kind: 'kind',
      event: 'eventId',
      reason: 'reason',
    },
    none: 'No dead letters.',
    check({ letters, count }) {
      if (count > letters.length) warn(`showing the oldest ${letters.length} of ${count}`)
    },
    examples: ['cairn dead-letters list', 'cairn dead-letters list --json'],
  }),
  row<Static<typeof RetriedLetters>>({
    ...chosenLetters,
    name: 'retry',
    about: 'try to store events again; exit status 1 if any is rejected again',
    route: 'POST /dead-letters/retry',
    part: 'letters',
    columns: { id: 'id', verdict: 'verdict' },
    none: 'No dead letters.',
    check({ letters }) {
      if (letters.some(({ verdict }) => verdict === 'refused')) {
        process.exitCode = exitStatus.failure
      }
    },
    examples: ['cairn dead-letters retry 17', 'cairn dead-letters retry --all'],
  }),
  row<{ dropped: number }>({
    ...chosenLetters,
    name: 'drop',
    about: 'delete events permanently',
    route: 'POST /dead-letters/drop',
    show: ({ dropped }) => print(`Deleted ${counted(dropped, 'dead letter')}.`),
    examples: ['cairn dead-letters drop 17 18', 'cairn dead-letters drop --all'],
  }),
]

export function addDeadLetters(cairn: Command): void {
  addGroup(
    cairn,
    {
      name: 'dead-letters',
      about: 'events that could not be stored: list, retry or delete them',
      examples: ['cairn dead-letters list', 'cairn dead-letters retry --all'],
      notes: `The sender received the code "storage" for such an event, or a 500 error for a
completion, tick, health report or fingerprint. If it was sent again since, a
retry reports a duplicate and removes the dead letter.`,
    },
    deadLetterRows,
  )
}

const rebuildRow = row<Rebuilt>({
  name: 'rebuild',
  about: 'recompute analytics from the stored events; changes nothing if they are correct',
  scope: 'server',
  route: 'POST /rebuild',
  progress: ({ flow, flows, flowsDone, events }: RebuildProgress) =>
    `${flowsDone} of ${flows} flows, ${events} events (${flow})`,
  show({ flows, events, changed }) {
    const change = changed === 0 ? 'Nothing changed.' : `${counted(changed, 'flow')} changed.`
    print(`Rebuilt ${counted(flows, 'flow')} from ${counted(events, 'event')}. ${change}`)
  },
  examples: ['cairn rebuild', 'cairn rebuild --data /var/lib/cairn --json'],
  notes: `Ctrl-C leaves the numbers of the remaining flows as they are. A running server
continues the rebuild.`,
})

const compactRow = row<Compacted>({
  name: 'compact',
  about: 'rewrite the database without unused space; the server must be stopped',
  scope: 'server',
  route: 'POST /compact',
  show: ({ bytesBefore, bytesAfter }) =>
    print(`Compacted the database from ${sizeOf(bytesBefore)} to ${sizeOf(bytesAfter)}.`),
  examples: ['cairn compact', 'cairn compact --data /var/lib/cairn --json'],
  notes: `A running server frees unused space by itself, up to a tenth of the file or
64 MiB, whichever is more. Compaction needs free space for two more copies of
the data. With several machines, compact each directory.`,
})
