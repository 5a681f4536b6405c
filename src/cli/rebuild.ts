import type { Command } from 'commander'
import { rebuild } from '../storage/rebuild.ts'
import { takenUp, withData } from './data.ts'
import { examples } from './examples.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addRebuild(cairn: Command): void {
  addSettings(cairn.command('rebuild'), ['data'])
    .description('compute analytics anew from the stored events; changes nothing if all is well')
    .option('--json', 'print {flows, events, changed} as JSON, the last as the number of flows')
    .addHelpText('after', examples('cairn rebuild', 'cairn rebuild --data /var/lib/cairn --json'))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const result = await withData(data, async database => {
        const rebuilt = rebuild(database, showProgress())
        await takenUp(database, data)
        return rebuilt
      })
      if (json) return printJson(result)
      const { flows, events, changed } = result
      const outcome = changed === 0 ? 'nothing changed' : `${counted(changed, 'flow')} changed`
      print(`rebuilt ${counted(flows, 'flow')} from ${counted(events, 'event')}: ${outcome}`)
    })
}

/** A line that is written over, on a terminal alone. */
function showProgress() {
  const { stderr } = process
  if (!stderr.isTTY) return undefined
  return (done: { flow: string; flows: number; flowsDone: number; events: number }) => {
    const line = `${done.flowsDone} of ${done.flows} flows, ${done.events} events (${done.flow})`
    stderr.write(`\r\u001b[K${line}${done.flowsDone === done.flows ? '\n' : ''}`)
  }
}
