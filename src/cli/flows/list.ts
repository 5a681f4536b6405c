import { type Command, Option } from 'commander'
import { type FlowRecord, listFlows } from '../../storage/flow-reader.ts'
import { organisationNamed, withData } from '../data.ts'
import { examples } from '../examples.ts'
import { printJson, printTable } from '../output.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { orgHelp, shown } from './records.ts'

interface Options {
  org?: string
  status?: FlowRecord['status']
  json?: boolean
}

const none = '–'

const minute = (epochMs: number) => new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')

const row = (flow: FlowRecord) => [
  flow.key,
  flow.id,
  flow.kind,
  flow.status,
  flow.version === null ? none : String(flow.version),
  flow.publishedAt === null ? none : minute(flow.publishedAt),
  flow.hasDraft ? 'newer' : none,
  String(flow.stepCount),
  String(flow.itemCount),
]

const header = [
  ...['key', 'id', 'kind', 'status', 'version', 'published (UTC)'],
  ...['draft', 'steps', 'items'],
]

export function addList(flows: Command): void {
  addSettings(flows.command('list'), ['data'])
    .description('list the flows of an organisation')
    .option('--org <org>', orgHelp)
    .addOption(
      new Option('--status <status>', 'only those of this status').choices([
        'draft',
        'published',
        'archived',
      ]),
    )
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      examples('cairn flows list --org harbor', 'cairn flows list --status published --json'),
    )
    .action(async ({ org, status, json }: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const all = await withData(data, database =>
        listFlows(database, organisationNamed(database, org).row),
      )
      const asked = all.filter(flow => status === undefined || flow.status === status)
      if (json) return printJson(asked.map(shown))
      const nothing =
        all.length === 0
          ? 'there is no flow yet: push one, "cairn flows push FILE"'
          : `there is no flow of status ${status}`
      printTable(header, asked.map(row), nothing)
    })
}
