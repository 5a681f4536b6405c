import type { Static } from '@sinclair/typebox'
import type { Compacted, Rebuilt } from '../modules/operations/schema.ts'
import type { RebuildProgress } from '../storage/interfaces/operations.ts'
import type { Command } from './command.ts'
import { counted, print, sizeOf } from './output.ts'
import { addRow, row } from './table.ts'

export function addRebuild(cairn: Command): void {
  addRow(
    cairn,
    row<Static<typeof Rebuilt>>({
      name: 'rebuild',
      about: 'compute analytics anew from the stored events; changes nothing if all is well',
      scope: 'server',
      route: 'POST /rebuild',
      progress: ({ flow, flows, flowsDone, events }: RebuildProgress) =>
        `${flowsDone} of ${flows} flows, ${events} events (${flow})`,
      interrupted: {
        here: 'some flows may not be rebuilt; their numbers are as they were',
        onServer: 'the rebuild goes on in the server',
      },
      show: ({ flows, events, changed }) => {
        const change = changed === 0 ? 'nothing changed' : `${counted(changed, 'flow')} changed`
        print(`rebuilt ${counted(flows, 'flow')} from ${counted(events, 'event')}: ${change}`)
      },
      examples: ['cairn rebuild', 'cairn rebuild --data /var/lib/cairn --json'],
    }),
  )
}

export function addCompact(cairn: Command): void {
  addRow(
    cairn,
    row<Static<typeof Compacted>>({
      name: 'compact',
      about: 'write the database anew, as small as it can be; the server must be stopped',
      scope: 'server',
      route: 'POST /compact',
      interrupted: {
        here: 'the database may be as large as before; nothing in it was changed',
        onServer: 'nothing was changed',
      },
      show: ({ bytesBefore, bytesAfter }) =>
        print(`the database took ${sizeOf(bytesBefore)} and now takes ${sizeOf(bytesAfter)}`),
      examples: ['cairn compact', 'cairn compact --data /var/lib/cairn --json'],
      notes: `A running server frees unused space by itself, except for a tenth of the file or
64 MiB, whichever is more. Compaction needs free space for two more copies of
the data, and takes some seconds per gigabyte; interrupted, it changes nothing.
Of several machines, each compacts its own directory.`,
    }),
  )
}
