import { Option } from 'commander'
import { flowStatuses } from '../core/flow/flow.ts'
import { minimalFlow } from '../core/flow/minimal.ts'
import { flowFileSchema } from '../core/flow/schema.ts'
import type { AuthoredFlow } from '../modules/authoring/model.ts'
import { mostFlows } from '../modules/authoring/rules.ts'
import type { Command, Flags } from './command.ts'
import { exitStatus } from './failure.ts'
import { addDiff } from './flows/diff.ts'
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
import { addPreview } from './flows/preview.ts'
import { addPromote } from './flows/promote.ts'
import { addPull } from './flows/pull.ts'
import { orgFlag, type Pushed, publishCommand, type StatusChange } from './flows/records.ts'
import { sourceOf } from './flows/source.ts'
import { addTexts } from './flows/texts.ts'
import { addManaged, asked, managed } from './manage.ts'
import { print, printColumns, printJson, printTable, tell } from './output.ts'

/** Adds the commands in the order in which a flow's author meets them. */
export function addFlows(cairn: Command): void {
  const flows = cairn
    .command('flows')
    .summary('flows as files: check, compare, push, publish, pull, withdraw')
    .description(
      'Flows are YAML or JSON files. Pushing makes a draft of each, publishing freezes drafts ' +
        'as the next versions, which pages show, and pulling writes files again. Flows, steps and ' +
        'items are identified by their keys and keep their ids and numbers in all versions.',
    )
    .examples(
      'cairn flows schema > cairn-flow.schema.json    for completion and checks in editors',
      'cairn flows validate tour.yaml                 what is wrong, and where',
      'cairn flows diff tour.yaml                     what pushing it would change',
      'cairn flows push tour.yaml                     a draft, which no page shows',
      'cairn flows preview welcome                    a link to it in the real page',
      'cairn flows publish welcome                    every page shows it from now on',
      'cairn flows pull --out flows                   all flows as files again',
    )
  addValidate(flows)
  addDiff(flows)
  addPush(flows)
  addPreview(flows)
  addChange(flows, 'publish')
  addChange(flows, 'unpublish')
  addChange(flows, 'archive')
  addPromote(flows)
  addList(flows)
  addPull(flows)
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

function addPush(flows: Command): void {
  addManaged(flows.command('push'))
    .description(
      `make drafts of the flows in files, all or none; an organisation has at most ${mostFlows} that are not archived`,
    )
    .argument('<file...>', filesHelp)
    .option('--publish', 'publish them too, as "cairn flows publish" does: all or nothing')
    .option('--dry-run', 'show what would happen, and change nothing')
    .option('--source-repository <name>', 'the repository of the files, such as acme/site')
    .option('--commit <hash>', 'the commit in it; in CI both are detected')
    .option('--lock', 'allow changes by push only: the dashboard shows them but cannot edit them')
    .option('--note <text>', 'why, for the audit log')
    .option(
      '--json',
      'print a JSON array, one item per flow; if a file is wrong, what validate prints',
    )
    .examples(
      'cairn flows push tour.yaml --org harbor',
      'cairn flows push flows/*.yaml --publish',
      'cairn flows push flows/*.yaml --json',
      'CAIRN_TOKEN=… cairn flows push flows/*.yaml --publish --url https://cairn.example.com',
    )
    .action(
      async (
        paths: string[],
        options: Flags<
          'note' | 'sourceRepository' | 'commit',
          'publish' | 'dryRun' | 'json' | 'lock'
        >,
        command: Command,
      ) => {
        const { publish = false, dryRun = false, note, json } = options
        const files = rightFiles(paths, { undone: 'nothing was pushed', json })
        const flows = files.flatMap(file => file.flows.map(minimalFlow))
        if (flows.length === 0) return json ? printJson([]) : undefined
        const source = sourceOf(files, options)
        const body = { flows, publish, dryRun, source, lock: options.lock, note }
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
        if (dryRun) tell('nothing was changed: run it without --dry-run to do it')
      },
    )
}

/** The commands that change the status of flows, and how the result of each is told. */
const changes = {
  publish: {
    purpose: 'publish drafts as the next version, or a withdrawn or archived flow again',
    keys: 'keys of pushed flows',
    example: 'cairn flows publish welcome getting-started --org harbor',
    // Publishes the draft as it is, whoever wrote it last, because the command line has read none to compare with.
    headers: { 'if-match': '*' },
    inWords: publicationOf,
  },
  unpublish: {
    purpose: 'take flows back to draft: no page shows them any more',
    keys: 'keys of flows',
    example: 'cairn flows unpublish spring-release --org harbor',
    headers: {},
    inWords: withdrawnTo('draft'),
  },
  archive: {
    purpose: 'archive flows: pages no longer show them, analytics stay',
    keys: 'keys of flows',
    example: 'cairn flows archive spring-release --org harbor',
    headers: {},
    inWords: withdrawnTo('archived'),
  },
} as const

function addChange(flows: Command, verb: keyof typeof changes): void {
  const { purpose, keys: whose, example, headers, inWords } = changes[verb]
  addManaged(flows.command(verb))
    .description(purpose)
    .argument('<key...>', whose)
    .option('--note <text>', 'why, for the audit log')
    .option('--json', 'print a JSON array, one item per flow')
    .examples(example)
    .action(async (keys: string[], { note, json }: Flags<'note', 'json'>, command: Command) => {
      const options = { body: { keys, note }, headers }
      const answer = await asked<{ flows: StatusChange[] }>(command, `POST /${verb}`, options)
      if (json) return printJson(answer.flows)
      printColumns(answer.flows.map(change => [change.key, change.id, inWords(change)]))
    })
}

/** What publishing did to a flow. */
function publicationOf({ outcome, before, version }: Publication): string {
  const from = before === 'archived' ? ', out of the archive' : ''
  return `${outcome}, version ${version}${from}`
}

type Publication = Pick<Pushed, 'before' | 'version'> & { outcome: string }

/** @param status the status that it leaves */
function withdrawnTo(status: 'draft' | 'archived') {
  return ({ outcome }: StatusChange) => (outcome === 'unchanged' ? `already ${status}` : status)
}

const minute = (time: string) => time.slice(0, 16).replace('T', ' ')

const row = (flow: AuthoredFlow) => [
  flow.key,
  flow.id,
  flow.kind,
  flow.status,
  flow.version === null ? '–' : String(flow.version),
  flow.publishedAt === null ? '–' : minute(flow.publishedAt),
  flow.hasDraft ? 'newer' : '–',
  String(flow.stepCount),
  String(flow.itemCount),
]

const header = [
  ...['key', 'id', 'kind', 'status', 'version', 'published (UTC)'],
  ...['draft', 'steps', 'items'],
]

function addList(flows: Command): void {
  addManaged(flows.command('list'))
    .description('list the flows of an organisation')
    .addOption(new Option('--status <status>', 'only flows with this status').choices(flowStatuses))
    .option('--json', 'print a JSON array')
    .examples('cairn flows list --org harbor', 'cairn flows list --status published --json')
    .action(async ({ status, json }: Flags<'status', 'json'>, command: Command) => {
      const { flows: all } = await asked<{ flows: AuthoredFlow[] }>(command, 'GET /flows')
      const found = all.filter(flow => status === undefined || flow.status === status)
      if (json) return printJson(found)
      const nothing =
        all.length === 0
          ? 'there are no flows yet: push one with "cairn flows push FILE"'
          : `there is no flow of status ${status}`
      printTable(header, found.map(row), nothing)
    })
}

function addSchema(flows: Command): void {
  flows
    .command('schema')
    .description('print the JSON Schema of flow files, by which editors complete and check')
    .addHelpText('after', `\nFirst line of a YAML file next to it, for editors:\n  ${schemaLine}`)
    .examples(`cairn flows schema > ${schemaFile}`)
    .action(() => print(JSON.stringify(flowFileSchema(), null, 2)))
}
