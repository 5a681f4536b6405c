import { describeProblem, type FlowFile, type Problem, readFlowFile } from '../../core/flow-file.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { readTextFile } from '../files.ts'
import { printJson } from '../output.ts'

/** A flow file under the name that its messages have. */
export type NamedFile = FlowFile & { name: string }

export const filesHelp = 'YAML, or JSON by its ending; "-" for the standard input'

/** Every file with its flows and all that is wrong with it, the faults of the file itself too. */
export function readFlowFiles(paths: readonly string[]): NamedFile[] {
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

/** @param strict whether a warning makes a file wrong too */
export const areValid = (files: readonly NamedFile[], strict = false) =>
  !files.some(({ problems }) => problems.some(({ severity }) => strict || severity === 'error'))

export const problemLines = (files: readonly NamedFile[]) =>
  files.flatMap(({ name, problems }) => problems.map(problem => describeProblem(problem, name)))

/** What `validate --json` prints, and other commands in place of flows where a file is wrong. */
export const report = (files: readonly NamedFile[], strict = false) => ({
  valid: areValid(files, strict),
  files: files.map(({ name, flows, problems }) => ({
    file: name,
    flows: flows.map(({ key }) => key),
    problems,
  })),
})

/**
 * The files of a command that takes none with a mistake; it says what only deserves a warning.
 *
 * @param undone what did not happen where there are mistakes, for the error
 */
export function rightFiles(
  paths: readonly string[],
  { undone, json = false }: { undone: string; json?: boolean },
): NamedFile[] {
  const files = readFlowFiles(paths)
  const lines = problemLines(files)
  if (!areValid(files)) {
    if (json) printJson(report(files))
    const header = `${undone}, because there are mistakes to mend`
    throw new CommandFailure([header, ...(json ? [] : lines)].join('\n'))
  }
  for (const line of lines) process.stderr.write(`${line}\n`)
  return files
}
