import type { RebuildProgress, Rebuilt } from '../modules/operations/port.ts'
import type { Command } from './command.ts'
import { requireData } from './data.ts'
import { operated } from './manage.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addRebuild(cairn: Command): void {
  addSettings(cairn.command('rebuild'), ['data'])
    .description('compute analytics anew from the stored events; changes nothing if all is well')
    .option('--json', 'print {flows, events, changed} as JSON, the last as the number of flows')
    .examples('cairn rebuild', 'cairn rebuild --data /var/lib/cairn --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      requireData(data)
      const result = await operated(data, ask =>
        ask<Rebuilt>('POST /rebuild', { onProgress: showProgress }),
      )
      if (json) return printJson(result)
      print(outcome(result))
    })
}

/** What a rebuild did; `changed` is the number of flows whose numbers were wrong before. */
export function outcome(done: Rebuilt): string {
  const [flows, changed] = [counted(done.flows, 'flow'), counted(done.changed, 'flow')]
  const change = done.changed === 0 ? 'nothing changed' : `${changed} changed`
  return `rebuilt ${flows} from ${counted(done.events, 'event')}: ${change}`
}

/** A line that is written over, on a terminal alone. */
function showProgress({ flow, flows, flowsDone, events }: RebuildProgress): void {
  const { stderr } = process
  if (!stderr.isTTY) return
  const line = `${flowsDone} of ${flows} flows, ${events} events (${flow})`
  stderr.write(`\r\u001b[K${line}${flowsDone === flows ? '\n' : ''}`)
}
