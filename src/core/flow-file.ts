import type { TObject, TSchema } from '@sinclair/typebox'
import {
  type Alias,
  Composer,
  CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  type YAMLMap,
} from 'yaml'
import {
  derivedDefaults,
  Flow,
  FlowDefinition,
  Item,
  ItemDefinition,
  Step,
  StepDefinition,
} from './flow.ts'

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

const maxBytes = 1_048_576
const maxDepth = 20
const maxAliases = 100
const maxProblems = 50
const maxShown = 60

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

type Report = (code: string, offset: number, path: string, message: string) => void

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

function position(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset)
  // The counter knows no line before the parser has begun, as with a file that is too large.
  return line === 0 ? { line: 1, column: 1 } : { line, column: col }
}

// Text to nodes.

interface Root {
  node: Node
  path: string
}

interface Source {
  roots: Root[]
  /** What each alias stands for; one whose anchor is missing has been reported and is not here. */
  aliases: Map<Alias, Node>
}

const start = (node: { range?: [number, number, number] | null }) => node.range?.[0] ?? 0

function parse(text: string, format: string, lines: LineCounter, report: Report): Source | null {
  if (Buffer.byteLength(text) > maxBytes) {
    report('too_large', 0, '', 'The file is over 1 MiB: split it into several')
    return null
  }
  const tokens = [...new Parser(lines.addNewLine).parse(text)]
  // Before composing, which recurses: only depth could exhaust its stack.
  const deep = tooDeep(tokens)
  if (deep !== null) {
    report(
      'too_deep',
      deep,
      '',
      `More than ${maxDepth} levels deep: no flow needs that, flatten it`,
    )
    return null
  }
  // The library's own check for repeated fields is quadratic in a mapping's size; see `inspect`.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false })
  const documents: Document.Parsed[] = [...composer.compose(tokens, true, text.length)]
  const fault = format === 'json' ? jsonFault(text, documents) : yamlFault(documents)
  if (fault !== null) {
    report('invalid_syntax', fault.offset, '', fault.message)
    return null
  }
  const full = documents.flatMap(({ contents }) =>
    contents === null || (isScalar(contents) && contents.value === null) ? [] : [contents as Node],
  )
  const roots = full.map((node, index) => ({ node, path: full.length > 1 ? `/${index}` : '' }))
  const aliases = new Map<Alias, Node>()
  for (const root of roots) inspect(root, aliases, lines, report)
  if (aliases.size <= maxAliases) return { roots, aliases }
  const extra = [...aliases.keys()][maxAliases]!
  const message = `More than ${maxAliases} aliases (*name): write the values out`
  report('too_many_aliases', start(extra), '', message)
  return null
}

/** Where the first collection too many begins. Not recursive, for the sake of 1 MiB of "[". */
function tooDeep(tokens: CST.Token[]): number | null {
  let first: number | null = null
  const open: { token: CST.Token; depth: number }[] = tokens.map(token => ({ token, depth: 0 }))
  while (open.length > 0) {
    const { token, depth } = open.pop()!
    if (token.type === 'document') {
      if (token.value) open.push({ token: token.value, depth })
    } else if (CST.isCollection(token)) {
      if (depth === maxDepth) {
        first = Math.min(first ?? token.offset, token.offset)
        continue
      }
      for (const { key, value } of token.items) {
        if (key) open.push({ token: key, depth: depth + 1 })
        if (value) open.push({ token: value, depth: depth + 1 })
      }
    }
  }
  return first
}

interface Fault {
  offset: number
  message: string
}

/** The library's messages quote the file and name its own insides, so the common ones are ours. */
const advice: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'A tab cannot indent YAML: use spaces',
  BAD_INDENT: 'The indentation does not fit: line this up with its neighbours, inside its parent',
  MISSING_CHAR: 'A colon, comma, quote or closing bracket is missing: add it',
  BAD_DQ_ESCAPE:
    'Unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_SCALAR_START: 'Text cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'A second colon on one line: put the text in quotes',
  MULTILINE_IMPLICIT_KEY: 'A field is written "name: value" on one line: add the colon, or indent',
  KEY_OVER_1024_CHARS: 'A field name is over 1024 characters: put the text in quotes',
  MULTIPLE_ANCHORS: 'A value can have one anchor (&name): remove the others',
  TAG_RESOLVE_FAILED: 'Tags (!name) mean nothing here: remove it',
  BAD_DIRECTIVE: 'This directive (%NAME) is not known: remove the line',
}

/** The first fault alone: after it the parser guesses, and what it says is noise. */
function yamlFault(documents: Document.Parsed[]): Fault | null {
  let first: Fault | null = null
  for (const { errors, warnings } of documents) {
    for (const { code, pos } of [...errors, ...warnings]) {
      if (first !== null && first.offset <= pos[0]) continue
      const message = advice[code] ?? 'Not valid YAML here: check quotes, brackets and indentation'
      first = { offset: pos[0], message }
    }
  }
  return first
}

const jsonToken =
  /[\s\uFEFF]+|"(?:[^"\\\0-\x1F]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]:]|,(?!\s*[}\]])/y

/** YAML takes nearly all JSON, and more; a JSON file has to be JSON. */
function jsonFault(text: string, documents: Document.Parsed[]): Fault | null {
  if (text.trim() === '') return null
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
    return yamlFault(documents)
  } catch {
    // The engine does not say where. It is where no token of JSON begins; and where every token is
    // one, it is their order that is wrong, and the YAML parser has found that.
  }
  jsonToken.lastIndex = 0
  let offset = 0
  while (offset < text.length && jsonToken.test(text)) offset = jsonToken.lastIndex
  if (offset === text.length) offset = yamlFault(documents)?.offset ?? offset
  return { offset, message: 'Not valid JSON here: check quotes and commas, and remove comments' }
}

/** Resolves aliases and finds repeated fields, in the file's order, of one document. */
function inspect(
  { node: root, path: rootPath }: Root,
  aliases: Map<Alias, Node>,
  lines: LineCounter,
  report: Report,
): void {
  const anchors = new Map<string, Node>()
  const visit = (node: Node, path: string) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target !== undefined) aliases.set(node, target)
      else {
        const message = `Nothing above is anchored as &${shown(node.source)}: write the value out`
        report('unknown_alias', start(node), path, message)
      }
      return
    }
    if (isSeq(node)) {
      for (const [index, entry] of node.items.entries()) visit(entry as Node, `${path}/${index}`)
    } else if (isMap(node)) visitFields(node, path)
    // Only now, when its inside is done, so that a value can never hold itself.
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
  }
  const visitFields = (map: YAMLMap, path: string) => {
    const seen = new Map<string, number>()
    for (const { key, value, name, offset } of fieldsOf(map)) {
      if (key !== null) visit(key, path)
      const earlier = seen.get(name)
      if (earlier === undefined) seen.set(name, offset)
      else {
        const { line } = position(lines, earlier)
        const message = `The field ${quoted(name)} is given already on line ${line}: keep one`
        report('repeated_field', offset, below(path, name), message)
      }
      if (value !== null) visit(value, below(path, name))
    }
  }
  visit(root, rootPath)
}

interface Field {
  key: Node | null
  value: Node | null
  name: string
  offset: number
}

function fieldsOf(map: YAMLMap): Field[] {
  return map.items.map(pair => {
    const key = pair.key as Node | null
    const value = pair.value as Node | null
    const name = isScalar(key) ? String(key.value) : ''
    return { key, value, name, offset: start(key ?? map) }
  })
}

// Nodes to definitions. The schemas say everything; this only walks them beside the nodes.

/** In place of a value that could not be read, once the reason has been reported. */
const unreadable = Symbol('unreadable')

const pairs: [definition: TObject, wire: TObject, derived: Derived][] = [
  [FlowDefinition, Flow, derivedDefaults.flow],
  [StepDefinition, Step, derivedDefaults.step],
  [ItemDefinition, Item, {}],
]
type Derived = Record<string, (fields: never) => unknown>

/**
 * Per definition: the fields that are the server's own, dropped so that what `GET /flows/{id}`
 * answered can be pushed again; and the defaults that come from neighbours.
 */
const extras = new Map<TSchema, { owned: Set<string>; derived: Derived }>(
  pairs.map(([definition, wire, derived]) => {
    const all = Object.keys(wire.properties)
    return [definition, { owned: new Set(all.filter(n => !(n in definition.properties))), derived }]
  }),
)

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

class Reader {
  /** What anchored nodes were read as: each is read, and its problems are told, only once. */
  private readonly known = new Map<Node, Map<TSchema, unknown>>()

  constructor(
    private readonly aliases: Map<Alias, Node>,
    private readonly lines: LineCounter,
    private readonly report: Report,
  ) {}

  resolve(node: Node): Node | undefined {
    return isAlias(node) ? this.aliases.get(node) : node
  }

  /** An entry of a list whose entries are told apart by their keys. */
  entry(schema: TSchema, given: Node, path: string, keys: Map<string, number>): unknown {
    const value = this.read(schema, given, path)
    const node = this.resolve(given)
    const field = isMap(node) ? fieldsOf(node).find(({ name }) => name === 'key') : undefined
    const keyNode = field?.value ? this.resolve(field.value) : undefined
    if (!isScalar(keyNode) || typeof keyNode.value !== 'string') return value
    // An alias repeats a key where the alias stands, not where its anchor does.
    const offset = node === given ? start(field!.value!) : start(given)
    const earlier = keys.get(keyNode.value)
    if (earlier === undefined) {
      keys.set(keyNode.value, offset)
      return value
    }
    const { line } = position(this.lines, earlier)
    const message = `The key ${quoted(keyNode.value)} is used already on line ${line}: change it`
    this.report('repeated_key', offset, `${path}/key`, message)
    return unreadable
  }

  private read(schema: TSchema, given: Node, path: string): unknown {
    const node = this.resolve(given)
    if (node === undefined) return unreadable
    if (isAlias(node) || node.anchor === undefined) return this.readNode(schema, node, path)
    const known = this.known.get(node) ?? new Map<TSchema, unknown>()
    this.known.set(node, known)
    if (!known.has(schema)) known.set(schema, this.readNode(schema, node, path))
    return known.get(schema)
  }

  private readNode(schema: TSchema, node: Node, path: string): unknown {
    const refuse = (message: string) => {
      this.report('invalid_value', start(node), path, message)
      return unreadable
    }
    if (schema.anyOf !== undefined) {
      const value = isScalar(node) ? node.value : undefined
      const branches = schema.anyOf as TSchema[]
      if (branches.some(branch => 'const' in branch)) {
        const words = branches.map(branch => String(branch.const))
        if (words.includes(value as string)) return value
        const hint = typeof value === 'string' ? didYouMean(value, words) : ''
        return refuse(`Must be ${expected(schema)}, not ${got(node)}${hint}`)
      }
      const others = branches.filter(({ type }) => type !== 'null')
      const branch =
        branches.find(({ type }) => type === typeOf(node)) ??
        // With one thing it could be besides null, that one's own words say best what is wrong.
        (others.length === 1 ? others[0] : undefined)
      if (branch !== undefined) return this.readNode(branch, node, path)
    } else if (schema.type === 'object') {
      if (isMap(node)) return this.readFields(schema as TObject, node, path)
    } else if (schema.type === 'array') {
      if (isSeq(node)) return this.readEntries(schema, node.items as Node[], path)
    } else if (isScalar(node)) {
      const wrong = scalarFault(schema, node.value)
      return wrong === null ? node.value : refuse(wrong || mismatch(schema, node))
    }
    return refuse(mismatch(schema, node))
  }

  private readEntries(schema: TSchema, nodes: Node[], path: string): unknown {
    const keys = new Map<string, number>()
    const keyed = schema.items.properties?.key !== undefined
    const entries = nodes.slice(0, schema.maxItems).map((node, index) => {
      const below = `${path}/${index}`
      return keyed
        ? this.entry(schema.items, node, below, keys)
        : this.read(schema.items, node, below)
    })
    const tooMany = nodes[schema.maxItems]
    if (tooMany !== undefined) {
      const message = `At most ${schema.maxItems} entries, not ${nodes.length}: remove the rest`
      this.report('invalid_value', start(tooMany), path, message)
      return unreadable
    }
    return entries.includes(unreadable) ? unreadable : entries
  }

  private readFields(schema: TObject, map: YAMLMap, path: string): unknown {
    const { owned, derived } = extras.get(schema) ?? { owned: new Set<string>(), derived: {} }
    const names = Object.keys(schema.properties)
    // Filled by the schema's names alone, so no name in the file ever becomes a property's.
    const fields: Record<string, unknown> = {}
    const given = new Set<string>()
    let complete = true
    for (const { name, value, offset } of fieldsOf(map)) {
      if (given.has(name)) {
        // Reported with the file's other repeated fields.
        complete = false
        continue
      }
      given.add(name)
      if (owned.has(name)) continue
      if (!names.includes(name)) {
        this.report('unknown_field', offset, below(path, name), unknownField(name, names))
        complete = false
        continue
      }
      const property = schema.properties[name]!
      if (value !== null) fields[name] = this.read(property, value, below(path, name))
      else {
        const message = `Must be ${expected(property)}, not empty`
        this.report('invalid_value', offset, below(path, name), message)
        fields[name] = unreadable
      }
      if (fields[name] === unreadable) complete = false
    }
    for (const name of names) {
      const property = schema.properties[name]!
      if (given.has(name) || name in derived) continue
      if ('default' in property) fields[name] = structuredClone(property.default)
      else {
        const message = `Add the field ${quoted(name)}: ${expected(property)}`
        this.report('missing_field', start(map), below(path, name), message)
        complete = false
      }
    }
    if (!complete) return unreadable
    for (const name in derived) if (!given.has(name)) fields[name] = derived[name]!(fields as never)
    // In the schema's order, whatever order the author chose.
    return Object.fromEntries(names.map(name => [name, fields[name]]))
  }
}

/** Null where the value is right; what is wrong with it; or empty where its very type is. */
function scalarFault(schema: TSchema, value: unknown): string | null {
  if (schema.type === 'null') return value === null ? null : ''
  if (schema.type === 'boolean') return typeof value === 'boolean' ? null : ''
  if (schema.type === 'string') {
    if (typeof value !== 'string') return ''
    const { minLength = 0, maxLength = Infinity, pattern, description } = schema
    if (value.length < minLength) return 'Must not be empty: write something'
    if (value.length > maxLength) {
      return `At most ${maxLength} characters, not ${value.length}: shorten it`
    }
    if (pattern === undefined || new RegExp(pattern).test(value)) return null
    return `Must be ${description}, not ${quoted(value)}`
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return ''
  if (schema.type === 'integer' && !Number.isInteger(value)) return ''
  return value < (schema.minimum ?? value) || value > (schema.maximum ?? value) ? '' : null
}

function typeOf(node: Node): string {
  if (isMap(node)) return 'object'
  if (isSeq(node)) return 'array'
  return isScalar(node) && node.value !== null ? typeof node.value : 'null'
}

function mismatch(schema: TSchema, node: Node): string {
  const quotable = schema.type === 'string' && ['number', 'boolean'].includes(typeOf(node))
  const hint = quotable ? ': put it in quotes' : ''
  return `Must be ${expected(schema)}, not ${got(node)}${hint}`
}

/** A schema in words, to stand after "Must be". */
function expected(schema: TSchema): string {
  const { anyOf, minimum, maximum } = schema
  if (anyOf !== undefined) {
    if ('const' in anyOf[0]) return `one of ${anyOf.map((word: TSchema) => word.const).join(', ')}`
    return anyOf.map(expected).join(' or ')
  }
  if (schema.type === 'integer') {
    const from = minimum === undefined ? '' : ` from ${minimum}`
    return `a whole number${from}${maximum === undefined ? '' : ` to ${maximum}`}`
  }
  if (schema.type === 'string') return `text of at most ${schema.maxLength} characters`
  const words: Record<string, string> = {
    object: 'a mapping of fields',
    array: 'a list',
    boolean: 'true or false',
    number: 'a number',
  }
  return words[schema.type] ?? 'null'
}

function got(node: Node): string {
  if (isMap(node)) return 'a mapping'
  if (isSeq(node)) return 'a list'
  const value = isScalar(node) ? node.value : null
  if (value === null) return 'empty'
  return typeof value === 'string' ? quoted(value) : shown(String(value))
}

function unknownField(name: string, names: string[]): string {
  const hint = didYouMean(name, names)
  if (hint !== '') return `There is no field ${quoted(name)}${hint}`
  return `There is no field ${quoted(name)}: remove it, or use one of ${names.join(', ')}`
}

/** The file's own text in a message: cut, and without what could move a terminal's cursor. */
function shown(text: string): string {
  // Cut first, and roughly: no more of a long text is looked at than can be shown.
  const symbols = [...text.slice(0, 2 * maxShown + 2).toWellFormed()]
  const kept = symbols.length > maxShown ? [...symbols.slice(0, maxShown - 1), '…'] : symbols
  return kept.join('').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�')
}

const quoted = (text: string) => `"${shown(text)}"`

/** The JSON pointer (RFC 6901) of a field; a name that no flow has is cut as in messages. */
function below(path: string, name: string): string {
  return `${path}/${shown(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The word that was probably meant, as an end of a sentence, or nothing. */
function didYouMean(word: string, words: string[]): string {
  if (word.length > 2 * maxShown) return ''
  const near = words
    .map(candidate => ({
      candidate,
      edits: editDistance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits)[0]
  return near === undefined ? '' : `: did you mean ${quoted(near.candidate)}?`
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + Number(a[i - 1] !== b[j - 1]),
        swapped ? rows[i - 2]![j - 2]! + 1 : Infinity,
      )
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
