import { resolve } from 'node:path'
import {
  describeProblem,
  type FileProblem,
  type FlowFile,
  readFlowFile,
} from '../../core/flow/file.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { readTextFile } from '../files.ts'
import { counted, printJson, tell } from '../output.ts'

/** A flow file, with the name that messages about it use. */
export type NamedFile = FlowFile & { name: string }

/** The schema that editors look for, and that `pull` points files at. */
export const schemaFile = 'cairn-flow.schema.json'

/** The first line, by which YAML editors (redhat.vscode-yaml and others) find a file's schema. */
export const schemaLine = `# yaml-language-server: $schema=./${schemaFile}`

export const filesHelp = 'YAML, or JSON by its ending; "-" for the standard input'

/** Every file with its flows and problems, also those of the file itself. */
export function readFlowFiles(paths: readonly string[]): NamedFile[] {
  requireDistinct(paths)
  const files = paths.map((path): NamedFile => {
    const file = readTextFile(path)
    const { name } = file
    if ('problem' in file) return { name, flows: [], problems: [file.problem], isComplete: false }
    const format = path.endsWith('.json') ? 'json' : 'yaml'
    return { name, ...readFlowFile(file.text, { format }) }
  })
  return withKeyProblems(files)
}

function requireDistinct(paths: readonly string[]): void {
  if (paths.filter(path => path === '-').length > 1) {
    throw new UsageFailure('"-" can be named only once')
  }
  const files = paths.filter(path => path !== '-').map(path => [path, resolve(path)] as const)
  for (const [index, [path, file]] of files.entries()) {
    if (files.findIndex(([, other]) => other === file) === index) continue
    throw new UsageFailure(`${path} is named twice`)
  }
}

const nowhere = { path: '', line: null, column: null } as const

/**
 * A key in several files is an error. Keys that differ only in case are two keys, but on some disks their files,
 * as `pull` names them, are one.
 */
function withKeyProblems(files: readonly NamedFile[]): NamedFile[] {
  const known = new Map<string, { key: string; name: string }>()
  return files.map(({ name, flows, problems, ...file }) => {
    const more = flows.flatMap(({ key }): FileProblem[] => {
      const folded = key.toLowerCase()
      const earlier = known.get(folded)
      if (earlier === undefined) {
        known.set(folded, { key, name })
        return []
      }
      if (earlier.key === key) {
        const message = `The key "${key}" is also in ${earlier.name}. Change one.`
        return [{ severity: 'error', code: 'repeated_key', message, ...nowhere }]
      }
      const message = `The keys "${earlier.key}" and "${key}" differ only in case. Their files would be the same on some disks. Change one.`
      return [{ severity: 'warning', code: 'similar_key', message, ...nowhere }]
    })
    return { name, flows, problems: [...problems, ...more], ...file }
  })
}

/** @param strict whether warnings count as errors */
export const areValid = (files: readonly NamedFile[], strict = false) =>
  !files.some(({ problems }) => problems.some(({ severity }) => strict || severity === 'error'))

/** The line below the problems of files that are not valid. */
export function verdict(files: readonly NamedFile[]): string {
  const problems = files.flatMap(file => file.problems)
  const of = (level: FileProblem['severity']) =>
    problems.filter(({ severity, code }) => severity === level && code !== tooMany).length
  const counts = [
    ...(of('error') > 0 ? [counted(of('error'), 'error')] : []),
    ...(of('warning') > 0 ? [counted(of('warning'), 'warning')] : []),
    ...(problems.some(({ code }) => code === tooMany) ? ['and more'] : []),
    ...(areValid(files) ? ['and --strict'] : []),
  ]
  const rest = files.every(file => file.isComplete) ? '' : `; ${moreFollows}`
  return `Not valid: ${counts.join(', ')}${rest}.`
}

/** Stands in for problems that were too many to report. */
const tooMany = 'more_problems'

const moreFollows = 'more checks run once these are fixed'

export const problemLines = (files: readonly NamedFile[]) =>
  files.flatMap(({ name, problems }) => problems.map(problem => describeProblem(problem, name)))

/** The output of `validate --json`, and of other commands with `--json` if a file has errors. */
export const report = (files: readonly NamedFile[], strict = false) => ({
  valid: areValid(files, strict),
  files: files.map(({ name, flows, problems }) => ({
    file: name,
    flows: flows.map(({ key }) => key),
    problems,
  })),
})

/**
 * The files for a command that needs valid ones. Warnings are only printed.
 *
 * @param undone such as `pushed nothing`, for the error
 */
export function rightFiles(
  paths: readonly string[],
  { undone, json = false }: { undone: string; json?: boolean },
): NamedFile[] {
  const files = readFlowFiles(paths)
  const lines = problemLines(files)
  if (!areValid(files)) {
    if (json) printJson(report(files))
    const rest = files.every(file => file.isComplete) ? '' : `; ${moreFollows}`
    const header = `${undone}, because files have errors${rest}`
    throw new CommandFailure([header, ...(json ? [] : lines)].join('\n'))
  }
  tell(...lines)
  return files
}
