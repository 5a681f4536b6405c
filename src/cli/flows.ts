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

/** Adds the commands in the order in which a flow's author meets them. */
export function addFlows(cairn: Command): void {
  const flows = addGroup(cairn, {
    name: 'flows',
    summary: 'flows as files: check, compare, push, publish, pull, withdraw',
    about:
      'Flows are YAML or JSON files. Pushing makes a draft of each, publishing freezes drafts ' +
      'as the next versions, which pages show, and pulling writes files again. Flows, steps and ' +
      'items are identified by their keys and keep their ids and numbers in all versions.',
    examples: [
      'cairn flows schema > cairn-flow.schema.json    for completion and checks in editors',
      'cairn flows validate tour.yaml                 what is wrong, and where',
      'cairn flows diff tour.yaml                     what pushing it would change',
      'cairn flows push tour.yaml                     a draft, which no page shows',
      'cairn flows preview welcome                    a link to it in the real page',
      'cairn flows publish welcome                    every page shows it from now on',
      'cairn flows pull --out flows                   all flows as files again',
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
    .description('check flow files for mistakes; exit status 1 if there are any')
    .argument('<file...>', filesHelp)
    .option('--strict', 'warnings fail too, for CI')
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
      print(`valid: ${keys.join(', ')}`)
    })
}

const note = option('--note <text>', 'why, for the audit log')

const pushRow = row<PushedFlows>({
  name: 'push',
  about: `make drafts of the flows in files, all or none; an organisation has at most ${maxFlows} that are not archived`,
  args: { '<file...>': filesHelp },
  options: [
    option('--publish', 'publish them too, as "cairn flows publish" does: all or nothing'),
    option('--dry-run', 'show what would happen, and change nothing'),
    option('--source-repository <name>', 'the repository of the files, such as acme/site'),
    option('--commit <hash>', 'the commit in it; in CI both are detected'),
    option('--lock', 'allow changes by push only: the dashboard shows them but cannot edit them'),
    note,
  ],
  async run({ ask }, given) {
    const { publish = false, dryRun = false, note, lock, json, file } = given
    const files = rightFiles(file, { undone: 'nothing was pushed', json })
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
        return [key, id, outcome, hasDraft ? `show it with "${publishCommand(key, orgFlag)}"` : '']
      }),
    )
    if (dryRun) tell('nothing was changed: run it without --dry-run to do it')
  },
  examples: [
    'cairn flows push tour.yaml --org harbor',
    'cairn flows push flows/*.yaml --publish',
    'CAIRN_TOKEN=… cairn flows push flows/*.yaml --publish --url https://cairn.example.com',
  ],
})

/** The commands that change the status of flows. */
const changeRows = [
  changeRow('publish', 'publish drafts as the next version, or a withdrawn or archived flow again'),
  changeRow('unpublish', 'take flows back to draft: pages no longer show them', 'draft'),
  changeRow('archive', 'archive flows: pages no longer show them, analytics stay', 'archived'),
]

/** @param status the status that it leaves, if it withdraws flows */
function changeRow(name: string, about: string, status?: 'draft' | 'archived'): Row {
  return row<ChangedFlows>({
    name,
    about,
    args: { '<key...>': 'keys of flows' },
    options: [note],
    route: `POST /${name}`,
    body: ({ key, note }) => ({ keys: key, note }),
    // Publishes the draft as it is, whoever wrote it last, because nobody has read one to compare with.
    ...(status === undefined && { headers: { 'if-match': '*' } }),
    part: 'flows',
    show: ({ flows }) =>
      printColumns(
        flows.map(flow => {
          const withdrawn = flow.outcome === 'unchanged' ? `already ${status}` : status
          return [flow.key, flow.id, withdrawn ?? publicationOf(flow)]
        }),
      ),
    examples: [`cairn flows ${name} welcome getting-started`],
  })
}

/** What publishing did to a flow. */
function publicationOf({ outcome, before, version }: Publication): string {
  const from = before === 'archived' ? ', out of the archive' : ''
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
    draft: ({ hasDraft }) => (hasDraft ? 'newer' : null),
    steps: 'stepCount',
    items: 'itemCount',
  },
  none: 'no such flow: push one with "cairn flows push FILE"',
  examples: ['cairn flows list', 'cairn flows list --status published --json'],
})

function addSchema(flows: Command): void {
  flows
    .command('schema')
    .description('print the JSON Schema of flow files, by which editors complete and check')
    .addHelpText('after', `\nFirst line of a YAML file next to it, for editors:\n  ${schemaLine}`)
    .examples(`cairn flows schema > ${schemaFile}`)
    .action(() => print(JSON.stringify(flowFileSchema(), null, 2)))
}
