import {
  CST,
  type Document,
  isCollection,
  isMap,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Plain } from '../minimal.ts'
import { parseYaml } from '../yaml.ts'

/** Finds positions in the text of a flow file, without changing anything. */

export type Path = readonly (string | number)[]

/** A field of a mapping, with the nodes of its name and value. */
export type Field = Pair<Node, Node | null>

/** A text that is one valid YAML document. */
export interface Source {
  text: string
  document: Document.Parsed
  value: Plain
}

/** Why a text cannot be read. */
export interface Fault {
  reason: 'syntax' | 'several'
  /** Counted from 1. */
  line: number | null
}

/** Reads one document. If anything is wrong with the text, none of it is trusted, and it is a fault. */
export function parseSource(text: string): Source | Fault {
  const lines = new LineCounter()
  const syntax = (offset: number): Fault => ({ reason: 'syntax', line: lines.linePos(offset).line })
  const parsed = parseYaml(text, lines)
  if ('excess' in parsed) return syntax(parsed.offset)
  const [document, second] = parsed.documents
  if (!document) return syntax(0)
  const [error] = document.errors
  if (error) return syntax(error.pos[0])
  if (second) return { reason: 'several', line: lines.linePos(second.range[0]).line }
  const repeated = repeatedField(document)
  if (repeated) return syntax(startOf(repeated))
  try {
    return { text, document, value: unshared(document.toJS() as Plain) }
  } catch {
    // An alias without an anchor, or too many aliases.
    return { reason: 'syntax', line: null }
  }
}

/** The name of the first field that its mapping has already. */
function repeatedField(document: Document.Parsed): Node | null {
  let repeated: Node | null = null
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const field of fieldsOf(map)) {
        const name = nameOf(field)
        if (seen.has(name)) {
          repeated = field.key
          return visit.BREAK
        }
        seen.add(name)
      }
    },
  })
  return repeated
}

/** A copy in which a value that an anchor shares is repeated wherever it is used. */
function unshared(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(unshared)
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, unshared(field)]))
}

export const isFault = (read: Source | Fault): read is Fault => 'reason' in read

/** Whether two values are equal; the order of fields does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(
      name =>
        Object.hasOwn(b, name) && isSame(a[name as keyof typeof a], b[name as keyof typeof b]),
    )
  )
}

export const isMapping = (value: unknown): value is { [name: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path, or undefined. */
export function valueAt(value: Plain | undefined, path: Path): Plain | undefined {
  let at = value
  for (const name of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string | number, Plain>)[name]
  }
  return at
}

export const fieldsOf = (map: YAMLMap) => map.items as unknown as Field[]

export const nameOf = ({ key }: Field) => (isScalar(key) ? String(key.value) : '')

export const findField = (map: YAMLMap, name: string | number) =>
  fieldsOf(map).find(field => nameOf(field) === String(name))

export const startOf = (node: Node) => node.range![0]

/** Where a value ends, without comments beside or below it. */
export function endOf(node: Node): number {
  const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined
  if (last === undefined) return node.range![1]
  return isMap(node) ? endOfField(last as Field) : endOf(last as Node)
}

export const endOfField = ({ key, value }: Field) => (value ? endOf(value) : key.range![1])

export const lineStart = (text: string, offset: number) => text.lastIndexOf('\n', offset - 1) + 1

/** Where the line of the character before an offset ends, including its line feed. */
export function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === '\n') return offset
  const feed = text.indexOf('\n', offset)
  return feed < 0 ? text.length : feed + 1
}

export const columnOf = (text: string, offset: number) => offset - lineStart(text, offset)

export const indentAt = (text: string, offset: number) => ' '.repeat(columnOf(text, offset))

/** Every comment of a text, with its offset. */
export function commentsIn(text: string): { offset: number; comment: string }[] {
  const comments: { offset: number; comment: string }[] = []
  let offset = 0
  let isText = false
  for (const lexeme of new Lexer().lex(text)) {
    const type: string | null = isText ? 'text' : CST.tokenType(lexeme)
    isText = type === 'scalar'
    // These two tokens have no characters in the text.
    if (isText || type === 'doc-mode' || type === 'flow-error-end') continue
    if (type === 'comment') comments.push({ offset, comment: lexeme.trimEnd() })
    offset += lexeme.length
  }
  return comments
}
