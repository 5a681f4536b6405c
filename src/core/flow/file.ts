import { below, quoted, shown, unknownField } from '../text/wording.ts'
import { asAuthored, readShape } from './file-shape.ts'
import { FlowDefinition } from './flow.ts'
import { partsOf, problemsOf } from './lint.ts'
import { type OtherFlow, referenceProblems } from './lint-references.ts'
import { error } from './problem.ts'
import { type FileProblem, type Root, SourceFile } from './source-file.ts'
import { at } from './texts/fields.ts'

export type { FileProblem }

/**
 * The flows that could be read and the problems of the file, both in the file's order. Values that the file
 * repeats by alias are the same object, so nothing in it may be modified in place.
 */
export interface FlowFile {
  flows: FlowDefinition[]
  problems: FileProblem[]
  /** Whether every check was made. If not, there may be more problems once the errors are fixed. */
  isComplete: boolean
}

/**
 * Reads flows as their author wrote them: one flow, a list, `{flows: [...]}`, or several YAML documents.
 * Never throws. A flow with an error is left out of `flows`; the others are not.
 *
 * Shapes are validated first, field by field. Then the meaning of a flow is (see `flowProblems`); if its
 * shape is wrong, only what concerns fields whose shape is right. With several YAML documents, a path
 * begins with the index of the document.
 *
 * @param options.others flows that those of the file may name
 */
export function readFlowFile(
  text: string,
  options: { format?: 'yaml' | 'json'; others?: readonly OtherFlow[] } = {},
): FlowFile {
  const file = new SourceFile(text, options.format ?? 'yaml')
  const result = new FlowReader(file).read(options.others)
  if (result.flows.length === 0 && file.problems.length === 0) {
    const message = 'The file holds no flow: write one, beginning with "key: "'
    file.report(0, error('empty_file', '', message))
  }
  return { ...result, problems: file.problems }
}

/** Paths are this long at most on common systems. */
const maxPathLength = 4_096

/** One line for a terminal: `welcome.yaml:12:5 error invalid_value /steps/0/kind Must be …`. */
export function describeProblem(problem: FileProblem, fileName: string): string {
  const { line, column, severity, code, path, message } = problem
  const name = shown(fileName, maxPathLength)
  const place = line === null ? name : `${name}:${line}:${column ?? 1}`
  return [place, severity, code, path, message].filter(part => part !== '').join(' ')
}

/** A flow in a file. */
interface Entry {
  flow: FlowDefinition
  root: Root
  pointer: string
}

class FlowReader {
  private readonly entries: Entry[] = []
  private readonly lineOfKey = new Map<string, number>()
  private isComplete: boolean

  constructor(private readonly file: SourceFile) {
    this.isComplete = file.roots.length > 0
  }

  read(others?: readonly OtherFlow[]): Omit<FlowFile, 'problems'> {
    for (const root of this.file.roots) this.readRoot(root)
    const flows = this.entries.map(({ flow }) => flow)
    for (const { key, problem } of referenceProblems(flows, others)) {
      // If some flows could not be read, they may be the ones that this flow names.
      if (problem.severity === 'warning' && !this.isComplete) continue
      const { root, pointer } = this.entries.find(({ flow }) => flow.key === key)!
      this.file.reportIn(root, { ...problem, path: pointer + problem.path })
    }
    const right = this.entries.filter(
      ({ root, pointer }) => this.file.errorsBelow(root.path + pointer).length === 0,
    )
    return { flows: right.map(({ flow }) => flow), isComplete: this.isComplete }
  }

  private readRoot(root: Root): void {
    const { value } = root
    const report = (code: string, path: string, message: string) =>
      this.file.reportIn(root, error(code, path, message))
    if (Array.isArray(value)) this.readList(root, value, '')
    else if (typeof value !== 'object' || value === null) {
      const message =
        'Must be a flow, a list of flows, or "flows: " with a list: begin with "key: "'
      report('not_a_flow', '', message)
    } else if (!('flows' in value)) this.readFlow(root, value, '')
    else {
      const { flows, version: _, ...more } = value as Record<string, unknown>
      // A version is allowed because `GET /flows` returns one beside the flows.
      for (const name of Object.keys(more)) {
        report('unknown_field', below('', name), unknownField(name, ['flows']))
      }
      if (Array.isArray(flows)) this.readList(root, flows, '/flows')
      else {
        const message = 'Must be a list of flows, each beginning with "- key: "'
        report('invalid_value', '/flows', message)
      }
    }
  }

  private readList(root: Root, values: readonly unknown[], pointer: string): void {
    for (const [index, value] of values.entries()) {
      this.readFlow(root, value, `${pointer}/${index}`)
    }
  }

  private readFlow(root: Root, written: unknown, pointer: string): void {
    const { value, problems, wrong } = readShape(
      FlowDefinition,
      written,
      this.file.errorsBelow(root.path + pointer),
    )
    for (const problem of problems) {
      const { node } = this.file.placeOf(root, pointer + problem.path)
      const authored = asAuthored(problem, node)
      const path = pointer + authored.path
      this.file.reportIn(root, { ...authored, path }, pointer + problem.path)
    }
    for (const part of partsOf(FlowDefinition, value)) {
      for (const problem of problemsOf(part, wrong.get(part.path))) {
        this.file.reportIn(root, { ...problem, path: pointer + problem.path })
      }
    }
    this.requireOwnKey(root, value, pointer)
    if (problems.length === 0 && wrong.size === 0) {
      this.entries.push({ flow: value as FlowDefinition, root, pointer })
    } else this.isComplete = false
  }

  private requireOwnKey(root: Root, value: unknown, pointer: string): void {
    const key = at(value, ['key'])
    if (typeof key !== 'string') return
    const line = this.lineOfKey.get(key)
    if (line === undefined) this.lineOfKey.set(key, this.file.lineOf(root, `${pointer}/key`))
    else {
      const message = `The key ${quoted(key)} is used already on line ${line}: change it`
      this.file.reportIn(root, error('repeated_key', `${pointer}/key`, message))
    }
  }
}
