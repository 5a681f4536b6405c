import { lasting } from '../core/time/durations.ts'
import type { NodeList } from '../modules/operations/schema.ts'
import type { Asker } from './asking.ts'
import type { Command } from './command.ts'
import { exitStatus } from './failure.ts'
import { cellOf, counted, print, printTable, tell } from './output.ts'
import { addRow, row } from './table.ts'

export function addNodes(cairn: Command): void {
  addRow(
    cairn,
    row<NodeList>({
      name: 'nodes',
      about:
        'list the servers that share a database; exit status 1 unless all of them are healthy and know of the last change',
      scope: 'server',
      run: settled,
      check: list => {
        if (problemOf(list) !== null) process.exitCode = exitStatus.failure
      },
      show: printNodes,
      examples: [
        'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn nodes',
        'cairn nodes --config /etc/cairn/cairn.env',
      ],
      notes: `A node reports every five seconds. One that has not reported for fifteen is
silent: it has lost the database, hangs, or was killed. After a minute it is
gone, which is no longer a problem, and after a day it is left out. A node that
is shut down properly is left out at once.`,
    }),
  )
}

/** How long nodes may take to know of a change, and how often they are asked, milliseconds. */
const patienceMs = 5_000
const pauseMs = 250

/** Every node is behind for a moment after each change, which is no problem if it soon catches up. */
async function settled({ ask }: Asker): Promise<NodeList> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const list = await ask<NodeList>('GET /nodes')
    const isBehind = list.nodes.some(({ state }) => state === 'behind')
    if (!isBehind || performance.now() > deadline) return list
    await Bun.sleep(pauseMs)
  }
}

function printNodes(list: NodeList): void {
  if (!list.isShared) {
    print(
      'one server has these data alone: to serve from several machines, move them into a database with "cairn move"',
    )
    return
  }
  printTable(
    ['node', 'release', 'since', 'state', 'last word', 'change', 'does alone'],
    list.nodes.map(({ name, release, startedAt, state, silentSeconds, change, jobs }) => {
      const behind = change < list.change ? ` (${list.change - change} behind)` : ''
      const silence =
        silentSeconds < 120 ? `${Math.round(silentSeconds)} s` : lasting(silentSeconds * 1_000)
      return [
        ...[name, release, startedAt, state, `${silence} ago`, `${change}${behind}`, cellOf(jobs)],
      ]
    }),
    'no node runs on this database: start one with "cairn serve"',
  )
  const problem = problemOf(list)
  if (problem !== null && list.nodes.length > 0) tell(`cairn: ${problem}`)
}

/** What is wrong; null if all is well. */
function problemOf({ isShared, nodes }: NodeList): string | null {
  if (!isShared) return null
  const count = (state: string) => nodes.filter(node => node.state === state).length
  const [silent, behind] = [count('silent'), count('behind')]
  if (count('running') + behind === 0) return 'no node runs'
  const problems = [
    ...(silent === 0 ? [] : [`${counted(silent, 'node')} silent`]),
    ...(behind === 0 ? [] : [`${counted(behind, 'node')} behind the last change`]),
  ]
  return problems.length === 0 ? null : problems.join(', ')
}
