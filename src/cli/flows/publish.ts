import type { Command } from 'commander'
import { failpointHere } from '../../server/failpoints.ts'
import { publishFlows } from '../../storage/flow-store.ts'
import { changeData, organisationNamed } from '../data.ts'
import { examples } from '../examples.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { orgHelp, printChanges, publicationOf } from './records.ts'

interface Options {
  org?: string
  json?: boolean
}

export function addPublish(flows: Command): void {
  addSettings(flows.command('publish'), ['data'])
    .description('show drafts as the next version, or a withdrawn or archived flow again')
    .argument('<key...>', 'keys of flows that were pushed')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples('cairn flows publish welcome getting-started --org harbor'))
    .action(async (keys: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const changes = await changeData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return publishFlows(database, row, keys, Date.now, failpointHere('during_publish'))
      })
      printChanges(changes, options, publicationOf)
    })
}
