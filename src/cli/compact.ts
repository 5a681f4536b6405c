import type { Compacted } from '../modules/operations/port.ts'
import type { Command } from './command.ts'
import { requireData } from './data.ts'
import { sizeOf } from './doctor/finding.ts'
import { operated } from './manage.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addCompact(cairn: Command): void {
  addSettings(cairn.command('compact'), ['data'])
    .description('write the database anew, as small as it can be; the server must be stopped')
    .option('--json', 'print {bytesBefore, bytesAfter}')
    .examples('cairn compact', 'cairn compact --data /var/lib/cairn --json')
    .notes(`A running server gives free space back by itself, but for a tenth of the file or
64 MiB, whichever is more. A database that was made before Cairn deleted events
does so from its first compaction on. It needs room for what the database holds
twice more, and takes some seconds a gigabyte; interrupted, it leaves all as it
was.`)
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      requireData(data)
      const sizes = await operated(data, ask => ask<Compacted>('POST /compact'))
      if (json) return printJson(sizes)
      print(`the database took ${sizeOf(sizes.bytesBefore)}, it takes ${sizeOf(sizes.bytesAfter)}`)
    })
}
