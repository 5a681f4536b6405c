import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFlowFile } from '../../core/flow/file.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { flowText } from '../../core/flow/text.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { CommandFailure } from '../failure.ts'
import { readTextFile, refuseNoFile, replaceFile } from '../files.ts'
import { schemaFile, schemaLine } from './schema.ts'

interface How {
  format: 'yaml' | 'json'
  /** Write over files that hold something else. */
  force: boolean
}

type Outcome = 'written' | 'overwritten' | 'unchanged'

/**
 * Writes a file for each flow, all of them or, where one would be lost, none. A file that holds the
 * very flow stays as it is, with its comments.
 *
 * @returns lines of file and outcome
 */
export function writeFlowFiles(
  dir: string,
  definitions: readonly FlowDefinition[],
  { format, force }: How,
): [path: string, outcome: Outcome][] {
  makeDirectory(dir)
  const plan = definitions.map(flow => {
    const path = join(dir, `${flow.key}.${format}`)
    refuseNoFile(path)
    return { path, flow, now: existsSync(path) ? heldBy(path, flow, format) : 'nothing' }
  })
  const others = plan.filter(({ now }) => now === 'another')
  if (others.length > 0 && !force) {
    const header =
      'nothing was written, because these files hold something else (--force overwrites)'
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

/** Whether a file that is there holds exactly a flow. */
function heldBy(path: string, flow: FlowDefinition, format: How['format']): 'the flow' | 'another' {
  const file = readTextFile(path)
  if ('problem' in file) return 'another'
  const { flows, problems } = readFlowFile(file.text, { format })
  const isRight = problems.every(({ severity }) => severity !== 'error')
  return isRight && flows.map(flowText).join() === flowText(flow) ? 'the flow' : 'another'
}

function makeDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true })
  } catch (error) {
    const { code } = error as { code?: string }
    throw new CommandFailure(
      `the directory ${dir} cannot be made (${code}): choose another with --out`,
    )
  }
}

function write(path: string, text: string, over: boolean): void {
  try {
    // Made anew unless it was looked at: where names differ in case alone, some disks have one file.
    if (over) replaceFile(path, text)
    else writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as { code?: string }
    const reason = code === 'EEXIST' ? 'another file of that name is there already' : code
    throw new CommandFailure(`${path} cannot be written: ${reason}`)
  }
}
