import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { addManaged, managed } from '../manage.ts'
import { addSettings } from '../settings.ts'
import { printChanges, publicationOf, type StatusChange } from './records.ts'

interface Options {
  note?: string
  json?: boolean
}

export function addPublish(flows: Command): void {
  addManaged(addSettings(flows.command('publish'), ['data']))
    .description('show drafts as the next version, or a withdrawn or archived flow again')
    .argument('<key...>', 'keys of flows that were pushed')
    .option('--note <text>', 'why, for the audit log')
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples('cairn flows publish welcome getting-started --org harbor'))
    .action(async (keys: string[], { note, json }: Options, command: Command) => {
      const { flows } = await managed(command, ({ ask }) =>
        ask<{ flows: StatusChange[] }>('POST /publish', {
          body: { keys, ...(note !== undefined && { note }) },
          // What is there, whoever wrote it last: a command line has read nothing.
          headers: { 'if-match': '*' },
        }),
      )
      printChanges(flows, json ? { json } : {}, publicationOf)
    })
}
