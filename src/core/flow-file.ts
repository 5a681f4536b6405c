import { isMap, isSeq, LineCounter, type Node } from 'yaml'
import { FlowDefinition } from './flow.ts'
import { fieldsOf, parse, position, type Report, type Source, start } from './flow-file-nodes.ts'
import { Reader, unreadable } from './flow-file-reader.ts'
import { below, unknownField } from './wording.ts'

/** What is wrong with a flow file, and where. */
export interface Problem {
  severity: 'error' | 'warning'
  code: string
  /** JSON pointer into the file; with several YAML documents their index comes first. */
  path: string
  /** One sentence that says what to do. It shows at most 60 characters of the file's own text. */
  message: string
  /** Both counted from 1, columns in UTF-16 units; null where no one place is meant. */
  line: number | null
  column: number | null
}

/**
 * The flows that could be read and what is wrong with the file, both in the file's order. Values
 * that the file repeats by alias are one object, so none of it is to be changed in place.
 */
export interface FlowFile {
  flows: FlowDefinition[]
  problems: Problem[]
}

const maxProblems = 50

/**
 * Reads flows as their author wrote them: one flow, a list, `{flows: [...]}`, or several YAML
 * documents. Never throws. A flow with a problem is left out of `flows`, its neighbours are not.
 *
 * This file judges shapes alone, which is all that can be said field by field. What a flow *means*
 * (a selector that matches nothing, an item nobody can reach) is for rules over definitions that
 * were read.
 */
export function readFlowFile(text: string, options: { format?: 'yaml' | 'json' } = {}): FlowFile {
  const lines = new LineCounter()
  const findings: Finding[] = []
  const report: Report = (code, offset, path, message) => {
    findings.push({ code, offset, path, message })
  }
  const source = parse(text, options.format ?? 'yaml', lines, report)
  const flows = source === null ? [] : readFlows(source, lines, report)
  if (flows.length === 0 && findings.length === 0) {
    report('empty_file', 0, '', 'The file holds no flow: write one, beginning with "key: "')
  }
  return { flows, problems: inSourceOrder(findings, lines) }
}

/** One line for a terminal: `welcome.yaml:12:5 error invalid_value /steps/0/kind Must be …`. */
export function describeProblem(problem: Problem, fileName: string): string {
  const { line, column, severity, code, path, message } = problem
  const place = line === null ? fileName : `${fileName}:${line}:${column ?? 1}`
  return [place, severity, code, path, message].filter(part => part !== '').join(' ')
}

interface Finding {
  code: string
  offset: number
  path: string
  message: string
}

function inSourceOrder(findings: Finding[], lines: LineCounter): Problem[] {
  // The sort is stable: of two at one place, the one found first comes first.
  const sorted = findings.sort((a, b) => a.offset - b.offset)
  const problems = sorted.slice(0, maxProblems).map(({ code, offset, path, message }): Problem => {
    const { line, column } = position(lines, offset)
    return { severity: 'error', code, path, message, line, column }
  })
  const more = findings.length - problems.length
  if (more > 0) {
    const message = `${more} more: mend the ones above and read the file again`
    const nowhere = { path: '', line: null, column: null }
    problems.push({ severity: 'error', code: 'more_problems', message, ...nowhere })
  }
  return problems
}

function readFlows({ roots, aliases }: Source, lines: LineCounter, report: Report) {
  const reader = new Reader(aliases, lines, report)
  const keys = new Map<string, number>()
  const flows: FlowDefinition[] = []
  const readInto = (node: Node, path: string) => {
    const flow = reader.entry(FlowDefinition, node, path, keys)
    if (flow !== unreadable) flows.push(flow as FlowDefinition)
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
          // `GET /flows` answers a version beside the flows.
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
  return flows
}
