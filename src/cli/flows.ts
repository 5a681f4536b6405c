import type { Command } from 'commander'
import { isoTimeOrNull } from '../core/clock.ts'
import type { FlowDefinition } from '../core/flow.ts'
import { describeProblem, type FlowFile, readFlowFile } from '../core/flow-file.ts'
import {
  type FlowRecord,
  listFlows,
  publishFlows,
  pushFlows,
  type StatusChange,
  withdrawFlows,
} from '../storage/flow-store.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { readTextFile } from './files.ts'
import { print, printJson, printTable } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

interface Options {
  org?: string
  json?: boolean
}

export function addFlows(cairn: Command): void {
  const flows = cairn
    .command('flows')
    .description('flows as files: check, push, publish, withdraw')
    .addHelpText(
      'after',
      examples(
        'cairn flows validate tour.yaml',
        'cairn flows push tour.yaml --org harbor',
        'cairn flows publish welcome --org harbor',
      ),
    )
  addValidate(flows)
  addPush(flows)
  addPublish(flows)
  addWithdrawal(flows, 'unpublish', 'draft')
  addWithdrawal(flows, 'archive', 'archived')
  addList(flows)
}

const orgHelp = 'id or slug; may be left out where there is only one'

const shown = ({ publishedAt, updatedAt, ...flow }: FlowRecord) => ({
  ...flow,
  publishedAt: isoTimeOrNull(publishedAt),
  updatedAt: isoTimeOrNull(updatedAt),
})

function readFlowFiles(paths: readonly string[]): (FlowFile & { name: string })[] {
  if (paths.filter(path => path === '-').length > 1) {
    throw new UsageFailure('the standard input, "-", can be read only once')
  }
  return paths.map(path => {
    const { name, text } = readTextFile(path)
    return { name, ...readFlowFile(text, { format: path.endsWith('.json') ? 'json' : 'yaml' }) }
  })
}

/** Keys that more than one file has: which would be pushed cannot be known. */
function repeatedKeys(files: readonly (FlowFile & { name: string })[]): string[] {
  const firstFile = new Map<string, string>()
  return files.flatMap(({ name, flows }) =>
    flows.flatMap(({ key }) => {
      const earlier = firstFile.get(key)
      if (earlier === undefined) firstFile.set(key, name)
      return earlier === undefined ? [] : [`${name}: the key "${key}" is in ${earlier} already`]
    }),
  )
}

const isError = ({ severity }: { severity: string }) => severity === 'error'

const problemLines = (files: readonly (FlowFile & { name: string })[]) => [
  ...files.flatMap(({ name, problems }) => problems.map(p => describeProblem(p, name))),
  ...repeatedKeys(files),
]

function addValidate(flows: Command): void {
  flows
    .command('validate')
    .description('say what is wrong with flow files; exit status 1 if anything is')
    .argument('<file...>', 'YAML, or JSON by its ending; "-" for the standard input')
    .option('--json', 'print {valid, files: [{file, flows, problems}]} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn flows validate tour.yaml checklist.yaml',
        'cat tour.yaml | cairn flows validate -',
      ),
    )
    .action((paths: string[], { json }: Options) => {
      const files = readFlowFiles(paths)
      const lines = problemLines(files)
      const valid =
        repeatedKeys(files).length === 0 && !files.some(({ problems }) => problems.some(isError))
      if (!valid) process.exitCode = exitStatus.failure
      if (json) {
        const found = files.map(({ name, flows: read, problems }) => ({
          file: name,
          flows: read.map(({ key }) => key),
          problems,
        }))
        return printJson({ valid, files: found })
      }
      for (const line of lines) process.stderr.write(`${line}\n`)
      if (!valid) return
      const keys = files.flatMap(file => file.flows.map(({ key }) => key))
      print(`valid: ${keys.join(', ')}`)
    })
}

function definitionsIn(paths: readonly string[]): FlowDefinition[] {
  const files = readFlowFiles(paths)
  const lines = problemLines(files)
  const isWrong = files.some(({ problems }) => problems.some(isError))
  if (isWrong || repeatedKeys(files).length > 0) {
    throw new CommandFailure(
      ['nothing was pushed, because there are mistakes to mend', ...lines].join('\n'),
    )
  }
  for (const line of lines) process.stderr.write(`${line}\n`)
  return files.flatMap(file => file.flows)
}

function addPush(flows: Command): void {
  addSettings(flows.command('push'), ['data'])
    .description('make drafts of the flows in files, all of them or none')
    .argument('<file...>', 'YAML, or JSON by its ending; "-" for the standard input')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText(
      'after',
      examples('cairn flows push tour.yaml --org harbor', 'cairn flows push flows/*.yaml --json'),
    )
    .action(async (paths: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const definitions = definitionsIn(paths)
      const pushed = await changeData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return pushFlows(database, row, definitions, Date.now())
      })
      if (options.json)
        return printJson(pushed.map(flow => ({ ...shown(flow), outcome: flow.outcome })))
      print(
        ...pushed.map(({ key, id, outcome, hasDraft }) => {
          const next = hasDraft ? `, show it with "cairn flows publish ${key}"` : ''
          return `${key}  ${id}  ${outcome}${next}`
        }),
      )
    })
}

function addPublish(flows: Command): void {
  addSettings(flows.command('publish'), ['data'])
    .description('show drafts as the next version, or a withdrawn flow again')
    .argument('<key...>', 'keys of flows that were pushed')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples('cairn flows publish welcome getting-started --org harbor'))
    .action(async (keys: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const changes = await changeData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return publishFlows(database, row, keys, Date.now)
      })
      printChanges(changes, options, ({ outcome, version }) => `${outcome}, version ${version}`)
    })
}

function addWithdrawal(
  flows: Command,
  verb: 'unpublish' | 'archive',
  status: 'draft' | 'archived',
): void {
  const purpose = {
    unpublish: 'take flows back to draft: no page shows them any more',
    archive: 'put flows away: no page shows them any more, analytics stay',
  }[verb]
  addSettings(flows.command(verb), ['data'])
    .description(purpose)
    .argument('<key...>', 'keys of flows')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples(`cairn flows ${verb} spring-release --org harbor`))
    .action(async (keys: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const changes = await changeData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return withdrawFlows(database, row, keys, status, Date.now())
      })
      printChanges(changes, options, ({ outcome }) =>
        outcome === 'unchanged' ? `already ${status}` : status,
      )
    })
}

function printChanges(
  changes: readonly StatusChange[],
  options: Options,
  line: (change: StatusChange) => string,
): void {
  if (options.json) {
    printJson(changes.map(change => ({ ...shown(change), outcome: change.outcome })))
  } else print(...changes.map(change => `${change.key}  ${change.id}  ${line(change)}`))
}

function addList(flows: Command): void {
  addSettings(flows.command('list'), ['data'])
    .description('list all flows of an organisation')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array')
    .addHelpText('after', examples('cairn flows list --org harbor'))
    .action(async (options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const all = await withData(data, database =>
        listFlows(database, organisationNamed(database, options.org).row),
      )
      if (options.json) return printJson(all.map(shown))
      printTable(
        ['key', 'id', 'kind', 'status', 'version', 'draft'],
        all.map(({ key, id, kind, status, version, hasDraft }) => [
          key,
          id,
          kind,
          status,
          version === null ? '–' : String(version),
          hasDraft ? 'newer' : '–',
        ]),
        'there is no flow yet: push one, "cairn flows push FILE"',
      )
    })
}
