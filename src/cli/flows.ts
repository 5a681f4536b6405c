import type { Command } from 'commander'
import { isoTimeOrNull } from '../core/clock.ts'
import { describeProblem, type FlowFile, type Problem, readFlowFile } from '../core/flow-file.ts'
import {
  type FlowRecord,
  listFlows,
  publishFlows,
  pushFlows,
  type StatusChange,
  withdrawFlows,
} from '../storage/flow-store.ts'
import { listOrganisations } from '../storage/organisations.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { readTextFile } from './files.ts'
import { print, printColumns, printJson, printTable } from './output.ts'
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

type NamedFile = FlowFile & { name: string }

/** Every file with its flows and all that is wrong with it, the faults of the file itself too. */
function readFlowFiles(paths: readonly string[]): NamedFile[] {
  if (paths.filter(path => path === '-').length > 1) {
    throw new UsageFailure('the standard input, "-", can be read only once')
  }
  const files = paths.map((path): NamedFile => {
    const file = readTextFile(path)
    const { name } = file
    if ('problem' in file) return { name, flows: [], problems: [file.problem] }
    const format = path.endsWith('.json') ? 'json' : 'yaml'
    return { name, ...readFlowFile(file.text, { format }) }
  })
  return withRepeatedKeys(files)
}

/** Keys that more than one file has are problems: which would be pushed cannot be known. */
function withRepeatedKeys(files: readonly NamedFile[]): NamedFile[] {
  const firstFile = new Map<string, string>()
  return files.map(({ name, flows, problems }) => {
    const repeated = flows.flatMap(({ key }): Problem[] => {
      const earlier = firstFile.get(key)
      if (earlier === undefined) {
        firstFile.set(key, name)
        return []
      }
      const message = `The key "${key}" is in ${earlier} already: change one`
      const nowhere = { path: '', line: null, column: null }
      return [{ severity: 'error', code: 'repeated_key', message, ...nowhere }]
    })
    return { name, flows, problems: [...problems, ...repeated] }
  })
}

const areValid = (files: readonly NamedFile[], strict = false) =>
  !files.some(({ problems }) => problems.some(({ severity }) => strict || severity === 'error'))

const problemLines = (files: readonly NamedFile[]) =>
  files.flatMap(({ name, problems }) => problems.map(problem => describeProblem(problem, name)))

/** What `validate --json` prints, and `push --json` in place of flows where a file is wrong. */
const report = (files: readonly NamedFile[], strict = false) => ({
  valid: areValid(files, strict),
  files: files.map(({ name, flows, problems }) => ({
    file: name,
    flows: flows.map(({ key }) => key),
    problems,
  })),
})

function addValidate(flows: Command): void {
  flows
    .command('validate')
    .description('say what is wrong with flow files; exit status 1 if there is an error')
    .argument('<file...>', 'YAML, or JSON by its ending; "-" for the standard input')
    .option('--strict', 'exit status 1 for a warning too')
    .option('--json', 'print {valid, files: [{file, flows, problems}]} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn flows validate tour.yaml checklist.yaml',
        'cairn flows validate flows/*.yaml --strict',
        'cat tour.yaml | cairn flows validate -',
      ),
    )
    .action((paths: string[], { json, strict }: Options & { strict?: boolean }) => {
      const files = readFlowFiles(paths)
      const valid = areValid(files, strict)
      if (!valid) process.exitCode = exitStatus.failure
      if (json) return printJson(report(files, strict))
      for (const line of problemLines(files)) process.stderr.write(`${line}\n`)
      if (!valid) return
      const keys = files.flatMap(file => file.flows.map(({ key }) => key))
      print(`valid: ${keys.join(', ')}`)
    })
}

function addPush(flows: Command): void {
  addSettings(flows.command('push'), ['data'])
    .description('make drafts of the flows in files, all of them or none')
    .argument('<file...>', 'YAML, or JSON by its ending; "-" for the standard input')
    .option('--org <org>', orgHelp)
    .option(
      '--json',
      'print a JSON array, a flow each; where a file is wrong, what validate prints',
    )
    .addHelpText(
      'after',
      examples('cairn flows push tour.yaml --org harbor', 'cairn flows push flows/*.yaml --json'),
    )
    .action(async (paths: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const files = readFlowFiles(paths)
      const lines = problemLines(files)
      if (!areValid(files)) {
        if (options.json) printJson(report(files))
        const header = 'nothing was pushed, because there are mistakes to mend'
        throw new CommandFailure([header, ...(options.json ? [] : lines)].join('\n'))
      }
      for (const line of lines) process.stderr.write(`${line}\n`)
      const definitions = files.flatMap(file => file.flows)
      const { pushed, org } = await changeData(data, database => {
        const { row, slug } = organisationNamed(database, options.org)
        const pushed = pushFlows(database, row, definitions, Date.now())
        // Where it may be left out, the command to copy stays short.
        return { pushed, org: listOrganisations(database).length > 1 ? ` --org ${slug}` : '' }
      })
      if (options.json)
        return printJson(pushed.map(flow => ({ ...shown(flow), outcome: flow.outcome })))
      printColumns(
        pushed.map(({ key, id, outcome, hasDraft }) => [
          key,
          id,
          outcome,
          hasDraft ? `show it with "cairn flows publish ${key}${org}"` : '',
        ]),
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
  } else printColumns(changes.map(change => [change.key, change.id, line(change)]))
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
