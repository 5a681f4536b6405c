import { type Command, Option } from 'commander'
import { examples } from '../examples.ts'
import { addManaged, managed } from '../manage.ts'
import { printJson, printTable } from '../output.ts'
import { addSettings } from '../settings.ts'
import type { FlowRecord } from './records.ts'

interface Options {
  status?: FlowRecord['status']
  json?: boolean
}

const none = '–'

const minute = (time: string) => time.slice(0, 16).replace('T', ' ')

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
  addManaged(addSettings(flows.command('list'), ['data']))
    .description('list the flows of an organisation')
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
    .action(async ({ status, json }: Options, command: Command) => {
      const { flows: all } = await managed(command, ({ ask }) =>
        ask<{ flows: FlowRecord[] }>('GET /flows'),
      )
      const asked = all.filter(flow => status === undefined || flow.status === status)
      if (json) return printJson(asked)
      const nothing =
        all.length === 0
          ? 'there is no flow yet: push one, "cairn flows push FILE"'
          : `there is no flow of status ${status}`
      printTable(header, asked.map(row), nothing)
    })
}
