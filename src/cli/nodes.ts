import type { NodeList } from '../modules/operations/model.ts'
import type { Asker } from './asking.ts'
import type { Command } from './command.ts'
import { exitStatus } from './failure.ts'
import { operated, placeOf, serverOf } from './manage.ts'
import { counted, print, printJson, printTable, tell } from './output.ts'
import { addSettings } from './settings.ts'

export function addNodes(cairn: Command): void {
  addSettings(cairn.command('nodes'), ['data'])
    .description(
      'list the servers that share the database which CAIRN_DATABASE_URL names; exit status 1 unless all of them are well, and know of the last change',
    )
    .option(
      '--json',
      'print what GET /manage/nodes answers: {isShared, change, nodes: [{name, …}]}',
    )
    .examples(
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn nodes',
      'cairn nodes --config /etc/cairn/cairn.env',
      'cairn nodes --json | jq -r \'.nodes[] | select(.state != "running") | .name\'',
    )
    .notes(`A node reports every five seconds. One that has not reported for fifteen is
silent: it has lost the database, hangs, or was killed. After a minute it is
gone, which is no longer a problem, and after a day it is left out. A node that
is shut down properly is left out at once.`)
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const place = placeOf(command)
      const list = await operated(place, settled)
      if (!list.isShared) {
        const isServed = serverOf(place) !== null
        if (!isServed) process.exitCode = exitStatus.failure
        if (json) return printJson(list)
        return print(
          `${isServed ? 'one server alone serves' : 'no server serves'} ${place.data}, which no other server can share: to serve from several machines, move the data into a database with "cairn move"`,
        )
      }
      const fault = faultOf(list)
      if (fault !== null) process.exitCode = exitStatus.failure
      if (json) return printJson(list)
      printTable(
        ['node', 'release', 'since', 'state', 'last word', 'change', 'does alone'],
        list.nodes.map(node => rowOf(node, list.change)),
        'no node runs on this database: start one, "cairn serve"',
      )
      if (fault !== null && list.nodes.length > 0) tell(`cairn: ${fault}`)
    })
}

/** How long nodes may take to know of a change, and how often they are asked, milliseconds. */
const patienceMs = 5_000
const pauseMs = 250

/** Every node is behind for a moment after each change, which is no fault if it soon catches up. */
async function settled({ ask }: Asker): Promise<NodeList> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const list = await ask<NodeList>('GET /nodes')
    const isBehind = list.nodes.some(({ state }) => state === 'behind')
    if (!isBehind || performance.now() > deadline) return list
    await Bun.sleep(pauseMs)
  }
}

function rowOf(node: NodeList['nodes'][number], last: number): string[] {
  const { name, release, startedAt, state, silentSeconds, change, jobs } = node
  const behind = change < last ? ` (${last - change} behind)` : ''
  const ago = `${agoOf(silentSeconds)} ago`
  return [name, release, startedAt, state, ago, `${change}${behind}`, jobs.join(', ') || '–']
}

/** `2 s`, `3 min`, `5 h`. */
function agoOf(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** What is wrong; null if all is well. */
function faultOf({ nodes }: NodeList): string | null {
  const count = (state: string) => nodes.filter(node => node.state === state).length
  const [running, behind, silent] = ['running', 'behind', 'silent'].map(count) as [
    ...[number, number, number],
  ]
  if (running + behind === 0) return 'no node runs'
  const faults = [
    ...(silent === 0 ? [] : [`${counted(silent, 'node')} silent`]),
    ...(behind === 0 ? [] : [`${counted(behind, 'node')} behind the last change`]),
  ]
  return faults.length === 0 ? null : faults.join(', ')
}
