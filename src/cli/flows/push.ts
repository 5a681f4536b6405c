import type { Command } from 'commander'
import { failpointHere } from '../../server/failpoints.ts'
import { mostFlows, pushAndPublishFlows, pushFlows } from '../../storage/flow-store.ts'
import { listOrganisations } from '../../storage/organisations.ts'
import { changeData, organisationNamed } from '../data.ts'
import { examples } from '../examples.ts'
import { printColumns, printJson } from '../output.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { filesHelp, rightFiles } from './files.ts'
import { orgHelp, publicationOf, publishCommand, shown } from './records.ts'

interface Options {
  org?: string
  publish?: boolean
  json?: boolean
}

export function addPush(flows: Command): void {
  addSettings(flows.command('push'), ['data'])
    .description(
      `make drafts of the flows in files, all of them or none; an organisation has at most ${mostFlows} that are not archived`,
    )
    .argument('<file...>', filesHelp)
    .option('--org <org>', orgHelp)
    .option('--publish', 'publish them too, as "cairn flows publish" does: all of it or nothing')
    .option(
      '--json',
      'print a JSON array, a flow each; where a file is wrong, what validate prints',
    )
    .addHelpText(
      'after',
      examples(
        'cairn flows push tour.yaml --org harbor',
        'cairn flows push flows/*.yaml --publish',
        'cairn flows push flows/*.yaml --json',
      ),
    )
    .action(async (paths: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const files = rightFiles(paths, { undone: 'nothing was pushed', json: options.json })
      const definitions = files.flatMap(file => file.flows)
      const { pushed, published, org } = await changeData(data, database => {
        const { row, slug } = organisationNamed(database, options.org)
        // Where it may be left out, the command to copy stays short.
        const org = listOrganisations(database).length > 1 ? ` --org ${slug}` : ''
        if (options.publish) {
          const fail = failpointHere('during_publish')
          return { ...pushAndPublishFlows(database, row, definitions, Date.now, fail), org }
        }
        return { pushed: pushFlows(database, row, definitions, Date.now()), published: null, org }
      })
      if (options.json) {
        return printJson(
          pushed.map((flow, i) => {
            const change = published?.[i]
            if (!change) return shown(flow)
            return { ...shown(change), outcome: flow.outcome, publication: change.outcome }
          }),
        )
      }
      printColumns(
        pushed.map(({ key, id, outcome, hasDraft }, i) => {
          const change = published?.[i]
          if (change) return [key, id, outcome, publicationOf(change)]
          return [key, id, outcome, hasDraft ? `show it with "${publishCommand(key, org)}"` : '']
        }),
      )
    })
}
