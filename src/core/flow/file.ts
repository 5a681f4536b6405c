import { isMap, isSeq, LineCounter, type Node } from 'yaml'
import { below, shown, unknownField } from '../text/wording.ts'
import {
  fieldsOf,
  offsetAt,
  parse,
  position,
  type Report,
  type Source,
  start,
} from './file-nodes.ts'
import { Reader, type ReadPart, unreadable } from './file-reader.ts'
import { FlowDefinition } from './flow.ts'
import type { FlowProblem } from './problem.ts'
import { flowProblems, partProblems } from './rules.ts'
import { waitingProblems } from './timing-rules.ts'

/** What is wrong with a flow file, and where. `path` is a JSON pointer into the file. */
export interface FileProblem extends FlowProblem {
  /** Both counted from 1, columns in UTF-16 units; null if the problem is not about one place. */
  line: number | null
  column: number | null
}

/**
 * The flows that could be read and the problems of the file, both in the file's order. Values that the file
 * repeats by alias are the same object, so nothing in it may be modified in place.
 */
export interface FlowFile {
  flows: FlowDefinition[]
  problems: FileProblem[]
  /** Whether every check was made. If not, there may be more problems once the errors are fixed. */
  isJudgedWhole: boolean
}

const maxProblems = 50

/**
 * Reads flows as their author wrote them: one flow, a list, `{flows: [...]}`, or several YAML documents.
 * Never throws. A flow with an error is left out of `flows`; the others are not.
 *
 * Shapes are validated first, field by field. Then the meaning of a flow is (see `flowProblems`); if its
 * shape is wrong, only what concerns fields whose shape is right. With several YAML documents, a path
 * begins with the index of the document.
 *
 * @param options.others keys of flows that those of the file may wait for
 */
export function readFlowFile(
  text: string,
  options: { format?: 'yaml' | 'json'; others?: readonly string[] } = {},
): FlowFile {
  const lines = new LineCounter()
  const findings: LocatedProblem[] = []
  const report: Report = (code, offset, path, message, severity = 'error') => {
    findings.push({ severity, code, path, message, offset })
  }
  const source = parse(text, options.format ?? 'yaml', lines, report)
  const { flows, isJudgedWhole } =
    source === null
      ? { flows: [], isJudgedWhole: false }
      : readFlows(source, lines, report, options.others)
  if (flows.length === 0 && findings.length === 0) {
    report('empty_file', 0, '', 'The file holds no flow: write one, beginning with "key: "')
  }
  return { flows, problems: inSourceOrder(findings, lines), isJudgedWhole }
}

/** As long as a path can be on most systems. */
const longestPath = 4_096

/** One line for a terminal: `welcome.yaml:12:5 error invalid_value /steps/0/kind Must be …`. */
export function describeProblem(problem: FileProblem, fileName: string): string {
  const { line, column, severity, code, path, message } = problem
  const name = shown(fileName, longestPath)
  const place = line === null ? name : `${name}:${line}:${column ?? 1}`
  return [place, severity, code, path, message].filter(part => part !== '').join(' ')
}

export interface LocatedProblem extends FlowProblem {
  offset: number
}

export function inSourceOrder(findings: LocatedProblem[], lines: LineCounter): FileProblem[] {
  // The sort is stable: of two problems at one place, the one found first comes first.
  const sorted = findings.sort((a, b) => a.offset - b.offset)
  const [told, left] = mostImportant(sorted)
  const problems = told.map(({ offset, ...problem }): FileProblem => {
    const { line, column } = position(lines, offset)
    return { ...problem, line, column }
  })
  if (left.length > 0) {
    const message = `${left.length} more: mend the ones above and read the file again`
    const severity = left.some(isError) ? 'error' : 'warning'
    problems.push({ severity, code: 'more_problems', path: '', message, line: null, column: null })
  }
  return problems
}

const isError = ({ severity }: FlowProblem) => severity === 'error'

/** What is reported if there are too many problems, and what is left out. Errors go before warnings. */
function mostImportant(
  findings: LocatedProblem[],
): [told: LocatedProblem[], left: LocatedProblem[]] {
  if (findings.length <= maxProblems) return [findings, []]
  const warnings = findings.filter(finding => !isError(finding))
  const chosen = new Set([...findings.filter(isError), ...warnings].slice(0, maxProblems))
  return [
    findings.filter(finding => chosen.has(finding)),
    findings.filter(finding => !chosen.has(finding)),
  ]
}

function readFlows(
  { roots, aliases }: Source,
  lines: LineCounter,
  report: Report,
  others?: readonly string[],
) {
  let parts: ReadPart[] = []
  const reader = new Reader(aliases, lines, report, part => parts.push(part))
  const keys = new Map<string, number>()
  const read: { flow: FlowDefinition; isRight: boolean; node: Node; path: string }[] = []
  let isJudgedWhole = true
  // A mistake that several flows share by alias is at one place, so it is reported once.
  const told = new Set<string>()
  const tell = (problems: readonly FlowProblem[], node: Node, path: string) => {
    for (const { severity, code, path: pointer, message } of problems) {
      const offset = offsetAt(node, pointer, aliases)
      const finding = JSON.stringify([offset, code, message])
      if (!told.has(finding)) report(code, offset, path + pointer, message, severity)
      told.add(finding)
    }
  }
  const readInto = (node: Node, path: string) => {
    parts = []
    const entry = reader.entry(FlowDefinition, node, path, keys)
    if (entry === unreadable) {
      isJudgedWhole = false
      for (const { schema, value, wrong, node, path } of parts) {
        tell(partProblems(schema, value, wrong), node, path)
      }
      return
    }
    const flow = entry as FlowDefinition
    const problems = flowProblems(flow)
    tell(problems, node, path)
    read.push({ flow, isRight: !problems.some(isError), node, path })
  }
  const readList = (nodes: unknown[], path: string) => {
    for (const [index, node] of nodes.entries()) readInto(node as Node, `${path}/${index}`)
  }
  for (const { node, path } of roots) {
    const fields = isMap(node) ? fieldsOf(node) : []
    if (isSeq(node)) readList(node.items, path)
    else if (fields.some(field => field.name === 'flows')) {
      for (const { name, value, offset } of fields) {
        const list = value === null ? undefined : reader.resolve(value)
        if (name === 'flows' && isSeq(list)) readList(list.items, `${path}/flows`)
        else if (name === 'flows') {
          const message = 'Must be a list of flows, each beginning with "- key: "'
          report('invalid_value', start(value ?? node), `${path}/flows`, message)
        } else if (name !== 'version') {
          // Allowed because `GET /flows` returns a version beside the flows.
          report('unknown_field', offset, below(path, name), unknownField(name, ['flows']))
        }
      }
    } else if (isMap(node)) readInto(node, path)
    else {
      const message =
        'Must be a flow, a list of flows, or "flows: " with a list: begin with "key: "'
      report('not_a_flow', start(node), path, message)
    }
  }
  const waiting = waitingProblems(
    read.map(({ flow }) => flow),
    others,
  )
  for (const one of read) {
    const problem = waiting.get(one.flow.key)
    // If some flows could not be read, they may be the ones that this flow waits for.
    if (!problem || (!isError(problem) && !isJudgedWhole)) continue
    tell([problem], one.node, one.path)
    if (isError(problem)) one.isRight = false
  }
  return { flows: read.flatMap(({ flow, isRight }) => (isRight ? flow : [])), isJudgedWhole }
}
