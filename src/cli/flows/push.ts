import type { Command } from 'commander'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { mostFlows } from '../../modules/authoring/rules.ts'
import { examples } from '../examples.ts'
import { addManaged, managed } from '../manage.ts'
import { printColumns, printJson, tell } from '../output.ts'
import { addSettings } from '../settings.ts'
import { filesHelp, rightFiles } from './files.ts'
import { orgFlag, type Pushed, publicationOf, publishCommand } from './records.ts'

interface Options {
  publish?: boolean
  dryRun?: boolean
  note?: string
  json?: boolean
}

export function addPush(flows: Command): void {
  addManaged(addSettings(flows.command('push'), ['data']))
    .description(
      `make drafts of the flows in files, all of them or none; an organisation has at most ${mostFlows} that are not archived`,
    )
    .argument('<file...>', filesHelp)
    .option('--publish', 'publish them too, as "cairn flows publish" does: all of it or nothing')
    .option('--dry-run', 'say what would become of them, and change nothing')
    .option('--note <text>', 'why, for the audit log')
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
        'CAIRN_TOKEN=… cairn flows push flows/*.yaml --publish --url https://cairn.example.com',
      ),
    )
    .action(async (paths: string[], options: Options, command: Command) => {
      const { publish = false, dryRun = false, note, json } = options
      const files = rightFiles(paths, { undone: 'nothing was pushed', json })
      const flows = files.flatMap(file => file.flows.map(minimalFlow))
      if (flows.length === 0) return json ? printJson([]) : undefined
      const body = { flows, publish, dryRun, ...(note !== undefined && { note }) }
      const { pushed, org } = await managed(command, async manager => {
        const answer = await manager.ask<{ flows: Pushed[] }>('POST /push', { body })
        return { pushed: answer.flows, org: orgFlag(manager) }
      })
      if (json) return printJson(pushed)
      printColumns(
        pushed.map(({ key, id, outcome, hasDraft, publication, before, version }) => {
          if (publication) {
            return [key, id, outcome, publicationOf({ outcome: publication, before, version })]
          }
          return [key, id, outcome, hasDraft ? `show it with "${publishCommand(key, org)}"` : '']
        }),
      )
      if (dryRun) tell('nothing was changed: leave out --dry-run to do it')
    })
}
