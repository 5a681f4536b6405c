import type { Command } from 'commander'
import { rebuild } from '../storage/rebuild.ts'
import { whileRewriting } from '../storage/rewriting.ts'
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
        const rebuilt = await whileRewriting(data, () => rebuild(database, showProgress()))
        await takenUp(database, data)
        return rebuilt
      })
      if (json) return printJson(result)
      print(outcome(result))
    })
}

/** What a rebuild did; `changed` is the number of flows whose numbers were wrong before. */
export function outcome(done: { flows: number; events: number; changed: number }): string {
  const [flows, changed] = [counted(done.flows, 'flow'), counted(done.changed, 'flow')]
  const change = done.changed === 0 ? 'nothing changed' : `${changed} changed`
  return `rebuilt ${flows} from ${counted(done.events, 'event')}: ${change}`
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
