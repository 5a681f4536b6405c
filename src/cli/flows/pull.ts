import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFlowFile } from '../../core/flow/file.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { flowText } from '../../core/flow/text.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { shown } from '../../core/text/wording.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { asUsers, makeDirectory, readTextFile, replaceFile, requireFile } from '../files.ts'
import { counted, print, printColumns, printJson, tell } from '../output.ts'
import { option, row } from '../table.ts'
import { schemaFile, schemaLine } from './files.ts'
import { newestOf, type StoredFlow, statusInWords, storedFlows } from './records.ts'

export const pullRow = row<FlowDefinition[]>({
  name: 'pull',
  summary: 'write flows as files',
  about:
    'write flows as files: the draft, or the published version if there is none; comments of ' +
    'pushed files are not stored',
  args: { '[key...]': 'keys of flows (default: all except archived ones)' },
  options: [
    option('--published', 'the published version, even if there is a newer draft'),
    option(
      '--out <dir>',
      'write a file for each flow, named after its key (default: the standard output)',
    ),
    option('--force', 'with --out: overwrite files that differ'),
    option('--format <format>', 'YAML, or JSON as an array', {
      ...{ choices: ['yaml', 'json'], default: 'yaml' },
    }),
  ],
  async run(manager, { key, force, out, published }) {
    if (force && out === undefined) {
      throw new UsageFailure('--force needs --out with the directory of the files')
    }
    const stored = await storedFlows(manager)
    return key.length > 0 ? named(stored, key, published) : current(stored, published)
  },
  show(definitions, { out, format, force = false }) {
    if (out !== undefined) {
      printColumns(asUsers(() => writeFlowFiles(out, definitions, { format, force })))
    } else if (format === 'json') printJson(definitions.map(minimalFlow))
    else print(definitions.map(flowText).join('---\n').replace(/\n$/, ''))
  },
  examples: [
    'cairn flows pull welcome > welcome.yaml',
    'cairn flows pull --out flows --org harbor',
    'cairn flows pull --published --format json',
  ],
})

function named(stored: readonly StoredFlow[], keys: readonly string[], published = false) {
  return [...new Set(keys)].map(key => {
    const flow = stored.find(one => one.key === key)
    if (!flow) {
      throw new CommandFailure(`flow "${shown(key, 64)}" not found: see "cairn flows list"`)
    }
    const newest = newestOf(flow, { published })
    if (newest) return newest.definition
    throw new CommandFailure(
      `flow "${flow.key}" is not published, but ${statusInWords(flow.status)}: leave out --published`,
    )
  })
}

/** All flows that are not archived. */
function current(stored: readonly StoredFlow[], published = false): FlowDefinition[] {
  const inUse = stored.filter(({ status }) => status !== 'archived')
  const definitions = inUse.flatMap(flow => newestOf(flow, { published })?.definition ?? [])
  const archived = stored.length - inUse.length
  if (definitions.length === 0) {
    throw new CommandFailure('no flows to pull: see "cairn flows list"')
  }
  if (archived > 0 && !published) {
    tell(`Left out ${counted(archived, 'archived flow')}. Name them to pull them.`)
  }
  return definitions
}

interface How {
  format: 'yaml' | 'json'
  /** Overwrite files that differ. */
  force: boolean
}

type Outcome = 'written' | 'overwritten' | 'unchanged'

/**
 * Writes a file for each flow, or none if a file with other content would be overwritten. A file that already
 * holds exactly the flow keeps its comments.
 *
 * @returns lines of file and outcome
 */
function writeFlowFiles(
  dir: string,
  definitions: readonly FlowDefinition[],
  { format, force }: How,
): [path: string, outcome: Outcome][] {
  makeDirectory(dir, ' with --out')
  const plan = definitions.map(flow => {
    const path = join(dir, `${flow.key}.${format}`)
    requireFile(path)
    return { path, flow, now: existsSync(path) ? heldBy(path, flow, format) : 'nothing' }
  })
  const others = plan.filter(({ now }) => now === 'another')
  if (others.length > 0 && !force) {
    const header = 'wrote nothing, because these files differ (--force overwrites them)'
    throw new CommandFailure([header, ...others.map(({ path }) => path)].join('\n'))
  }
  const head = format === 'yaml' && existsSync(join(dir, schemaFile)) ? `${schemaLine}\n` : ''
  return plan.map(({ path, flow, now }) => {
    if (now === 'the flow') return [path, 'unchanged']
    const text =
      format === 'json'
        ? `${withEscapes(JSON.stringify(minimalFlow(flow), null, 2))}\n`
        : flowText(flow)
    write(path, head + text, now === 'another')
    return [path, now === 'another' ? 'overwritten' : 'written']
  })
}

/** Whether an existing file holds exactly a flow. */
function heldBy(path: string, flow: FlowDefinition, format: How['format']): 'the flow' | 'another' {
  const file = readTextFile(path)
  if ('problem' in file) return 'another'
  const { flows, problems } = readFlowFile(file.text, { format })
  const isRight = problems.every(({ severity }) => severity !== 'error')
  return isRight && flows.map(flowText).join() === flowText(flow) ? 'the flow' : 'another'
}

function write(path: string, text: string, over: boolean): void {
  try {
    // Must be new unless it was checked before: on some disks, names that differ only in case are one file.
    if (over) replaceFile(path, text)
    else writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as { code?: string }
    const reason = code === 'EEXIST' ? 'a file of that name already exists' : code
    throw new CommandFailure(`cannot write ${path}: ${reason}`)
  }
}
