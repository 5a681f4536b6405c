import { flowStatuses } from '../core/flow/flow.ts'
import { minimalFlow } from '../core/flow/minimal.ts'
import { flowFileSchema } from '../core/flow/schema.ts'
import { maxFlows } from '../modules/authoring/rules.ts'
import type { AuthoredFlow, ChangedFlows, PushedFlows } from '../modules/authoring/schema.ts'
import type { Command, Flags } from './command.ts'
import { exitStatus } from './failure.ts'
import { diffRow } from './flows/diff.ts'
import {
  areValid,
  filesHelp,
  problemLines,
  readFlowFiles,
  report,
  rightFiles,
  schemaFile,
  schemaLine,
  verdict,
} from './flows/files.ts'
import { previewRow } from './flows/preview.ts'
import { promoteRow } from './flows/promote.ts'
import { pullRow } from './flows/pull.ts'
import { type Pushed, publishCommand } from './flows/records.ts'
import { sourceOf } from './flows/source.ts'
import { addTexts } from './flows/texts.ts'
import { print, printColumns, printJson, tell } from './output.ts'
import { addGroup, addRow, option, type Row, row } from './table.ts'

export function addFlows(cairn: Command): void {
  const flows = addGroup(cairn, {
    name: 'flows',
    summary: 'flows as files: validate, diff, push, publish, pull',
    about:
      'Flows are YAML or JSON files. Push saves each as a draft, publish shows drafts to visitors ' +
      'as new versions, and pull writes files. Flows, steps and items are identified by their ' +
      'keys, and keep their ids and results in all versions.',
    examples: [
      'cairn flows schema > cairn-flow.schema.json    completion and checks in editors',
      'cairn flows validate tour.yaml                 problems, with line and column',
      'cairn flows diff tour.yaml                     what a push would change',
      'cairn flows push tour.yaml                     save a draft, which visitors do not see',
      'cairn flows preview welcome                    a link to see the draft on your page',
      'cairn flows publish welcome                    show it to visitors',
      'cairn flows pull --out flows                   write all flows as files',
    ],
  })
  addValidate(flows)
  addRow(flows, diffRow)
  addRow(flows, pushRow)
  addRow(flows, previewRow)
  for (const one of changeRows) addRow(flows, one)
  addRow(flows, promoteRow)
  addRow(flows, listRow)
  addRow(flows, pullRow)
  addTexts(flows)
  addSchema(flows)
}

function addValidate(flows: Command): void {
  flows
    .command('validate')
    .description('check flow files; exit status 1 if there are errors')
    .argument('<file...>', filesHelp)
    .option('--strict', 'fail on warnings too, for CI')
    .option('--json', 'print {valid, files: [{file, flows, problems}]} as JSON')
    .examples(
      'cairn flows validate tour.yaml checklist.yaml',
      'cairn flows validate flows/*.yaml --strict',
      'cat tour.yaml | cairn flows validate -',
    )
    .action((paths: string[], { strict, json }: Flags<never, 'strict' | 'json'>) => {
      const files = readFlowFiles(paths)
      const valid = areValid(files, strict)
      if (!valid) process.exitCode = exitStatus.failure
      if (json) return printJson(report(files, strict))
      tell(...problemLines(files))
      if (!valid) {
        tell(verdict(files))
        return
      }
      const keys = files.flatMap(file => file.flows.map(({ key }) => key))
      print(`Valid: ${keys.join(', ')}.`)
    })
}

const note = option('--note <text>', 'why, for the audit log')

const pushRow = row<PushedFlows>({
  name: 'push',
  about: `save the flows in files as drafts, all or none; an organisation can have ${maxFlows} that are not archived`,
  args: { '<file...>': filesHelp },
  options: [
    option('--publish', 'publish them too'),
    option('--dry-run', 'show the outcome, and change nothing'),
    option('--source-repository <name>', 'repository of the files, such as acme/site'),
    option('--commit <hash>', 'commit in it; both are detected in CI'),
    option('--lock', 'allow changes by push only; the dashboard cannot edit them'),
    note,
  ],
  async run({ ask }, given) {
    const { publish = false, dryRun = false, note, lock, json, file } = given
    const files = rightFiles(file, { undone: 'pushed nothing', json })
    const flows = files.flatMap(({ flows }) => flows.map(minimalFlow))
    if (flows.length === 0) return { dryRun, flows: [] }
    const body = { flows, publish, dryRun, source: sourceOf(files, given), lock, note }
    return ask('POST /push', { body })
  },
  part: 'flows',
  show({ flows, dryRun }, { orgFlag }) {
    printColumns(
      flows.map(({ key, id, outcome, hasDraft, publication, before, version }) => {
        if (publication) {
          return [key, id, outcome, publicationOf({ outcome: publication, before, version })]
        }
        return [key, id, outcome, hasDraft ? `next: ${publishCommand(key, orgFlag)}` : '']
      }),
    )
    if (dryRun) tell('Changed nothing. Run it without --dry-run to push.')
  },
  examples: [
    'cairn flows push tour.yaml --org harbor',
    'cairn flows push flows/*.yaml --publish',
    'CAIRN_TOKEN=… cairn flows push flows/*.yaml --publish --url https://cairn.example.com',
  ],
})

const changeRows = [
  changeRow('publish', 'publish drafts as new versions, or flows that are unpublished or archived'),
  changeRow('unpublish', 'stop showing flows to visitors; versions and results stay', 'draft'),
  changeRow('archive', 'archive flows: visitors stop seeing them, results stay', 'archived'),
]

/** @param status of the flows afterwards, unless they are published */
function changeRow(name: string, about: string, status?: 'draft' | 'archived'): Row {
  return row<ChangedFlows>({
    name,
    about,
    args: { '<key...>': 'keys of flows' },
    options: [note],
    route: `POST /${name}`,
    body: ({ key, note }) => ({ keys: key, note }),
    // Publishes the newest draft, because the command has read none that it could compare.
    ...(status === undefined && { headers: { 'if-match': '*' } }),
    part: 'flows',
    show: ({ flows }) =>
      printColumns(
        flows.map(flow => {
          if (status === undefined) return [flow.key, flow.id, publicationOf(flow)]
          return [flow.key, flow.id, flow.outcome === 'unchanged' ? `already ${status}` : status]
        }),
      ),
    examples: [`cairn flows ${name} welcome getting-started`],
  })
}

function publicationOf({ outcome, before, version }: Publication): string {
  const from = before === 'archived' ? ', was archived' : ''
  return `${outcome}, version ${version}${from}`
}

type Publication = Pick<Pushed, 'before' | 'version'> & { outcome: string }

const listRow = row<{ flows: AuthoredFlow[] }>({
  name: 'list',
  about: 'list the flows of an organisation',
  options: [option('--status <status>', 'only flows with this status', { choices: flowStatuses })],
  async run({ ask }, { status }) {
    const { flows } = await ask<{ flows: AuthoredFlow[] }>('GET /flows')
    return { flows: flows.filter(flow => status === undefined || flow.status === status) }
  },
  part: 'flows',
  columns: {
    key: 'key',
    id: 'id',
    kind: 'kind',
    status: 'status',
    version: 'version',
    'published (UTC)': ({ publishedAt }) => publishedAt?.slice(0, 16).replace('T', ' '),
    draft: ({ hasDraft }) => (hasDraft ? 'unpublished' : null),
    steps: 'stepCount',
    items: 'itemCount',
  },
  none: 'No flows. Push one with "cairn flows push FILE".',
  examples: ['cairn flows list', 'cairn flows list --status published --json'],
})

function addSchema(flows: Command): void {
  flows
    .command('schema')
    .description('print the JSON Schema of flow files, for completion and checks in editors')
    .addHelpText('after', `\nFirst line of a YAML file next to it, for editors:\n  ${schemaLine}`)
    .examples(`cairn flows schema > ${schemaFile}`)
    .action(() => print(JSON.stringify(flowFileSchema(), null, 2)))
}
