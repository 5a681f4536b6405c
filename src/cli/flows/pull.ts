import { type Command, Option } from 'commander'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { flowText } from '../../core/flow/text.ts'
import { shown } from '../../core/text/wording.ts'
import { examples } from '../examples.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { addManaged, managed } from '../manage.ts'
import { counted, print, printColumns, printJson, tell } from '../output.ts'
import { addSettings } from '../settings.ts'
import { asUsers } from '../umask.ts'
import { newestOf } from './comparison.ts'
import { writeFlowFiles } from './flow-files.ts'
import { type StoredFlow, statusInWords, storedFlows } from './records.ts'

interface Options {
  published?: boolean
  out?: string
  force?: boolean
  format: 'yaml' | 'json'
}

export function addPull(flows: Command): void {
  addManaged(addSettings(flows.command('pull'), ['data']))
    .summary('write flows as files that push takes back')
    .description(
      'write flows as files that push takes back: drafts where there are any, else what was ' +
        'published; comments of the files that were pushed are not kept',
    )
    .argument('[key...]', 'keys of flows; all but the archived ones where left out')
    .option('--published', 'what callers see, not a newer draft')
    .option(
      '--out <dir>',
      'a file for each flow, named by its key, in place of the standard output',
    )
    .option('--force', 'with --out: write over files that hold something else')
    .addOption(
      new Option('--format <format>', 'YAML, or JSON as an array')
        .choices(['yaml', 'json'])
        .default('yaml'),
    )
    .addHelpText(
      'after',
      examples(
        'cairn flows pull welcome > welcome.yaml',
        'cairn flows pull --out flows --org harbor',
        'cairn flows pull --published --format json',
      ),
    )
    .action(async (keys: string[], options: Options, command: Command) => {
      if (options.force && options.out === undefined) {
        throw new UsageFailure('--force says how to write files: name their directory with --out')
      }
      const stored = await managed(command, storedFlows)
      const definitions =
        keys.length > 0 ? asked(named(stored, keys), options) : current(stored, options)
      const { out, format, force = false } = options
      if (out !== undefined) {
        printColumns(asUsers(() => writeFlowFiles(out, definitions, { format, force })))
      } else if (format === 'json') printJson(definitions.map(minimalFlow))
      else print(definitions.map(flowText).join('---\n').replace(/\n$/, ''))
    })
}

function named(stored: readonly StoredFlow[], keys: readonly string[]): StoredFlow[] {
  const byKey = new Map(stored.map(flow => [flow.key, flow]))
  return [...new Set(keys)].map(key => {
    const flow = byKey.get(key)
    if (flow) return flow
    throw new CommandFailure(
      `no flow has the key "${shown(key, 64)}": push it first, or see "cairn flows list"`,
    )
  })
}

/** Flows that were named: each has to have what is asked for. */
function asked(stored: readonly StoredFlow[], { published = false }: Options): FlowDefinition[] {
  return stored.map(flow => {
    const newest = newestOf(flow, { published })
    if (newest) return newest.definition
    throw new CommandFailure(
      `callers do not see "${flow.key}": it is ${statusInWords(flow.status)}; without --published it can be pulled`,
    )
  })
}

/** All flows that are in use. */
function current(stored: readonly StoredFlow[], { published = false }: Options): FlowDefinition[] {
  const inUse = stored.filter(({ status }) => status !== 'archived')
  const definitions = inUse.flatMap(flow => newestOf(flow, { published })?.definition ?? [])
  const archived = stored.length - inUse.length
  if (definitions.length === 0) {
    throw new CommandFailure(
      published
        ? 'there is no flow that callers see: see "cairn flows list"'
        : 'there is no flow to pull: see "cairn flows list"',
    )
  }
  if (archived > 0 && !published) {
    tell(`${counted(archived, 'archived flow')} left out: name them to pull them`)
  }
  return definitions
}
