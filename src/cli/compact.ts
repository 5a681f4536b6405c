import type { Command } from 'commander'
import { freeBytesOf } from '../storage/backup/room.ts'
import { compact, databaseSize, emptyLog } from '../storage/compact.ts'
import { withData } from './data.ts'
import { sizeOf } from './doctor/finding.ts'
import { examples } from './examples.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson } from './output.ts'
import { underLock } from './own-storage.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addCompact(cairn: Command): void {
  addSettings(cairn.command('compact'), ['data'])
    .description('write the database anew, as small as it can be; the server must be stopped')
    .option('--json', 'print {bytesBefore, bytesAfter}')
    .addHelpText(
      'after',
      `${examples('cairn compact', 'cairn compact --data /var/lib/cairn --json')}

A running server gives free space back by itself, but for a tenth of the file or
64 MiB, whichever is more. A database that was made before Cairn deleted events
does so from its first compaction on. It needs room for what the database holds
twice more, and takes some seconds a gigabyte; interrupted, it leaves all as it
was.`,
    )
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const sizes = await withData(data, database =>
        underLock(data, () => {
          const { bytes, usedBytes } = databaseSize(database)
          requireRoom(data, 2 * usedBytes)
          compact(database, data)
          emptyLog(database)
          return { bytesBefore: bytes, bytesAfter: databaseSize(database).bytes }
        }),
      )
      if (json) return printJson(sizes)
      print(`the database took ${sizeOf(sizes.bytesBefore)}, it takes ${sizeOf(sizes.bytesAfter)}`)
    })
}

function requireRoom(data: string, bytes: number): void {
  const free = freeBytesOf(data)
  if (free >= bytes) return
  throw new CommandFailure(
    `compacting needs ${sizeOf(bytes)} for a while, and the disk of ${data} has ${sizeOf(free)}: make room and try again`,
  )
}
