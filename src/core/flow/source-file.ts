import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { below, quoted, shown } from '../text/wording.ts'
import type { FlowProblem } from './problem.ts'
import { jsonProblem, yamlProblem } from './syntax.ts'
import { parseYaml } from './yaml.ts'

/** What is wrong with a file, and where. `path` is a JSON pointer into the file. */
export interface FileProblem extends FlowProblem {
  /** Both counted from 1, columns in UTF-16 units; null if the problem is not about one place. */
  line: number | null
  column: number | null
}

/** One document of a file. */
export interface Root {
  node: Node
  value: unknown
  /** The index of the document as a JSON pointer; empty if there is only one. */
  path: string
}

const maxAliases = 100
const maxProblems = 50

/** Where a node begins in the text. */
const start = (node: Node) => node.range?.[0] ?? 0

const nameOf = (key: unknown) => (isScalar(key) ? String(key.value) : '')

const isError = ({ severity }: FlowProblem) => severity === 'error'

/** A YAML or JSON file, and what is found wrong with it. Repeated fields have the value of the first one. */
export class SourceFile {
  /** The documents that are not empty; none if nothing in the file can be trusted. */
  readonly roots: readonly Root[]
  private readonly lines = new LineCounter()
  private readonly findings = new Map<string, FlowProblem & { offset: number }>()
  private readonly wrong = new Set<string>()
  private readonly fields = new Map<YAMLMap, Map<string, Pair>>()
  private readonly targets = new Map<Alias, Node>()

  constructor(text: string, format: 'yaml' | 'json') {
    this.roots = this.parse(text, format)
  }

  /** The pointers of the errors at a pointer or below it, from there on. */
  errorsBelow(pointer: string): string[] {
    return [...this.wrong]
      .filter(path => `${path}/`.startsWith(`${pointer}/`))
      .map(path => path.slice(pointer.length))
  }

  /** Reports a problem. A mistake that several flows share by alias is at one place, so it is reported once. */
  report(offset: number, problem: FlowProblem): void {
    const { code, path, message } = problem
    if (isError(problem)) this.wrong.add(path)
    const finding = JSON.stringify([offset, code, message])
    if (!this.findings.has(finding)) this.findings.set(finding, { ...problem, offset })
  }

  /** Reports a problem of a document by the pointer in it; `pointer` is the same with names that are not cut. */
  reportIn(root: Root, problem: FlowProblem, pointer = problem.path): void {
    const { code, path } = problem
    const { node, key, alias } = this.placeOf(root, pointer)
    const isAtName = code === 'unknown_field' || node === null
    // An alias repeats a key at its own place, not at that of its anchor.
    const place = (code === 'repeated_key' && alias) || (isAtName && key) || node || root.node
    this.report(start(place), { ...problem, path: root.path + path })
  }

  /** The node that a pointer leads to, through aliases; if the field is absent, the mapping that lacks it. */
  placeOf(root: Root, pointer: string): { node: Node | null; key?: Node; alias?: Alias } {
    let place: ReturnType<SourceFile['placeOf']> = { node: this.resolved(root.node) }
    for (const step of pointer.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const { node, alias } = place
      let key: Node | undefined
      let next: Node | null | undefined
      if (isSeq(node)) next = node.items[Number(name)] as Node | undefined
      else if (isMap(node)) {
        const pair = this.fieldsOf(node).get(name)
        key = pair?.key as Node | undefined
        next = pair && (pair.value as Node | null)
      }
      if (next === undefined) break
      place = {
        node: next && this.resolved(next),
        ...(key && { key }),
        ...(isAlias(next) ? { alias: next } : alias && { alias }),
      }
    }
    return place
  }

  /** What was reported, in the file's order, and how much more there is. */
  get problems(): FileProblem[] {
    // The sort is stable: of two problems at one place, the one found first comes first.
    const sorted = [...this.findings.values()].sort((a, b) => a.offset - b.offset)
    const chosen = new Set(
      [...sorted.filter(isError), ...sorted.filter(one => !isError(one))].slice(0, maxProblems),
    )
    const problems = sorted
      .filter(finding => chosen.has(finding))
      .map(({ offset, ...problem }): FileProblem => ({ ...problem, ...this.position(offset) }))
    const left = sorted.filter(finding => !chosen.has(finding))
    if (left.length > 0) {
      const message = `${left.length} more: fix the ones above and read the file again`
      const severity = left.some(isError) ? 'error' : 'warning'
      problems.push({
        severity,
        code: 'more_problems',
        path: '',
        message,
        line: null,
        column: null,
      })
    }
    return problems
  }

  /** The line of a document's place. */
  lineOf(root: Root, pointer: string): number {
    return this.position(start(this.placeOf(root, pointer).node ?? root.node)).line
  }

  /** The fields of a mapping by name, of repeated ones the first. */
  private fieldsOf(map: YAMLMap): Map<string, Pair> {
    const known = this.fields.get(map)
    if (known) return known
    const fields = new Map(map.items.toReversed().map(pair => [nameOf(pair.key), pair]))
    this.fields.set(map, fields)
    return fields
  }

  private position(offset: number) {
    const { line, col } = this.lines.linePos(offset)
    // Before the parser has begun, as with a file that is too large, the counter knows no line.
    return line === 0 ? { line: 1, column: 1 } : { line, column: col }
  }

  private resolved(node: Node): Node {
    return isAlias(node) ? (this.targets.get(node) ?? node) : node
  }

  private fail(code: string, offset: number, message: string): [] {
    this.report(offset, { severity: 'error', code, path: '', message })
    return []
  }

  private parse(text: string, format: 'yaml' | 'json'): Root[] {
    const parsed = parseYaml(text, this.lines)
    if ('excess' in parsed) return this.fail(parsed.excess, parsed.offset, parsed.message)
    const problem = format === 'json' ? jsonProblem(parsed) : yamlProblem(parsed)
    if (problem !== null) return this.fail('invalid_syntax', problem.offset, problem.message)
    const nodes = parsed.documents.flatMap(({ contents }) =>
      contents === null || (isScalar(contents) && contents.value === null)
        ? []
        : [contents as Node],
    )
    const roots = nodes.map((node, index): Root => {
      const path = nodes.length > 1 ? `/${index}` : ''
      return { node, path, value: this.read(node, path, new Map()) }
    })
    const extra = [...this.targets.keys()][maxAliases]
    if (extra) {
      const message = `More than ${maxAliases} aliases (*name): write the values out`
      return this.fail('too_many_aliases', start(extra), message)
    }
    const isComplete = ![...this.findings.values()].some(({ code }) => code === 'unknown_alias')
    return isComplete ? roots : []
  }

  /** The value of a node. Reports aliases without an anchor, repeated fields and numbers that would change. */
  private read(
    node: Node | null,
    path: string,
    anchors: Map<string, { node: Node; value: unknown }>,
  ): unknown {
    if (node === null) return null
    if (isAlias(node)) {
      const anchor = anchors.get(node.source)
      if (anchor) this.targets.set(node, anchor.node)
      else {
        const message = `Nothing above is anchored as &${shown(node.source)}: write the value out, or put text that begins with "*" in quotes`
        this.report(start(node), { severity: 'error', code: 'unknown_alias', path, message })
      }
      return anchor?.value
    }
    let value: unknown = null
    if (isSeq(node)) {
      value = node.items.map((entry, index) =>
        this.read(entry as Node, `${path}/${index}`, anchors),
      )
    } else if (isMap(node)) value = this.readFields(node, path, anchors)
    else if (isScalar(node)) {
      value = node.value
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
        const message = 'Whole numbers are kept up to 2^53: write a smaller one, or text in quotes'
        this.report(start(node), { severity: 'error', code: 'inexact_number', path, message })
      }
    }
    // Only after everything inside the node, so that a value can never contain itself.
    if (node.anchor !== undefined) anchors.set(node.anchor, { node, value })
    return value
  }

  private readFields(
    map: YAMLMap,
    path: string,
    anchors: Map<string, { node: Node; value: unknown }>,
  ): unknown {
    const fields = new Map<string, { value: unknown; line: number }>()
    for (const { key, value: node } of map.items) {
      const name = nameOf(key)
      const place = below(path, name)
      const offset = start((key as Node | null) ?? map)
      if (isAlias(key)) this.read(key, path, anchors)
      const value = this.read(node as Node | null, place, anchors)
      const earlier = fields.get(name)
      if (earlier) {
        const message = `The field ${quoted(name)} is already set on line ${earlier.line}: keep one`
        this.report(offset, { severity: 'error', code: 'repeated_field', path: place, message })
      } else fields.set(name, { value, line: this.position(offset).line })
    }
    return Object.fromEntries([...fields].map(([name, { value }]) => [name, value]))
  }
}
