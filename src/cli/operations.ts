import type { Static } from '@sinclair/typebox'
import type { Compacted, Rebuilt } from '../modules/operations/model.ts'
import type { RebuildProgress } from '../modules/operations/port.ts'
import type { Command } from './command.ts'
import { operated, placeOf } from './manage.ts'
import { counted, print, printJson, sizeOf } from './output.ts'
import { liveLine } from './progress.ts'
import { addSettings } from './settings.ts'

export function addRebuild(cairn: Command): void {
  addSettings(cairn.command('rebuild'), ['data'])
    .description('compute analytics anew from the stored events; changes nothing if all is well')
    .option('--json', 'print {flows, events, changed} as JSON; changed is a number of flows')
    .examples('cairn rebuild', 'cairn rebuild --data /var/lib/cairn --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const line = liveLine()
      const onProgress = ({ flow, flows, flowsDone, events }: RebuildProgress) =>
        line.show(`${flowsDone} of ${flows} flows, ${events} events (${flow})`)
      const result = await operated(
        placeOf(command),
        ({ ask }) => ask<typeof Rebuilt>('POST /rebuild', { onProgress }),
        {
          here: 'some flows may not be rebuilt; their numbers are as they were',
          onServer: 'the rebuild goes on in the server',
        },
      ).finally(line.end)
      if (json) return printJson(result)
      print(outcome(result))
    })
}

/** The result of a rebuild; `changed` is the number of flows whose numbers were wrong before. */
export function outcome(done: Static<typeof Rebuilt>): string {
  const [flows, changed] = [counted(done.flows, 'flow'), counted(done.changed, 'flow')]
  const change = done.changed === 0 ? 'nothing changed' : `${changed} changed`
  return `rebuilt ${flows} from ${counted(done.events, 'event')}: ${change}`
}

export function addCompact(cairn: Command): void {
  addSettings(cairn.command('compact'), ['data'])
    .description('write the database anew, as small as it can be; the server must be stopped')
    .option('--json', 'print {bytesBefore, bytesAfter}')
    .examples('cairn compact', 'cairn compact --data /var/lib/cairn --json')
    .notes(`A running server frees unused space by itself, except for a tenth of the file or
64 MiB, whichever is more. A database that was made before Cairn deleted events
does so after its first compaction. It needs free space for two more copies of
the data, and takes some seconds per gigabyte; interrupted, it changes nothing.
Of several machines, each compacts its own directory.`)
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const sizes = await operated(
        placeOf(command),
        ({ ask }) => ask<typeof Compacted>('POST /compact'),
        {
          here: 'the database may be as large as before; nothing in it was changed',
          onServer: 'nothing was changed',
        },
      )
      if (json) return printJson(sizes)
      print(
        `the database took ${sizeOf(sizes.bytesBefore)} and now takes ${sizeOf(sizes.bytesAfter)}`,
      )
    })
}
