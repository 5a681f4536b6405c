import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type YAMLMap,
} from 'yaml'
import { isNumberKept } from '../number/exact-numbers.ts'
import { below, quoted, shown } from '../text/wording.ts'
import { jsonFault, yamlFault } from './file-faults.ts'
import { parseYaml } from './yaml.ts'

const maxAliases = 100

/** Records a problem. `offset` is its place in the text, `path` a JSON pointer. */
export type Report = (
  code: string,
  offset: number,
  path: string,
  message: string,
  severity?: 'error' | 'warning',
) => void

interface Root {
  node: Node
  path: string
}

/** A file that could be parsed. */
export interface Source {
  roots: Root[]
  /** What each alias stands for. An alias without an anchor has been reported and is not in here. */
  aliases: Map<Alias, Node>
}

/** A field of a mapping. If its name is not a plain value, the name is empty. */
export interface Field {
  key: Node | null
  value: Node | null
  name: string
  offset: number
}

/** The documents that are not empty, or null if nothing in the file can be trusted. */
export function parse(
  text: string,
  format: string,
  lines: LineCounter,
  report: Report,
): Source | null {
  const parsed = parseYaml(text, lines)
  if ('excess' in parsed) {
    report(parsed.excess, parsed.offset, '', parsed.message)
    return null
  }
  const fault = format === 'json' ? jsonFault(parsed) : yamlFault(parsed)
  if (fault !== null) {
    report('invalid_syntax', fault.offset, '', fault.message)
    return null
  }
  const full = parsed.documents.flatMap(({ contents }) =>
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

/** Where a node begins in the text. */
export const start = (node: { range?: [number, number, number] | null }) => node.range?.[0] ?? 0

/** The line and column of an offset, both counted from 1. */
export function position(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset)
  // Before the parser has begun, as with a file that is too large, the counter knows no line.
  return line === 0 ? { line: 1, column: 1 } : { line, column: col }
}

/** The fields of a mapping in the file's order, including repeated ones. */
export function fieldsOf(map: YAMLMap): Field[] {
  return map.items.map(pair => {
    const key = pair.key as Node | null
    const value = pair.value as Node | null
    const name = isScalar(key) ? String(key.value) : ''
    return { key, value, name, offset: start(key ?? map) }
  })
}

/**
 * The offset that a JSON pointer within a node's value leads to, through aliases. If the field is absent,
 * the offset of the mapping that lacks it.
 */
export function offsetAt(node: Node, pointer: string, aliases: Source['aliases']): number {
  const behind = (given: Node) => (isAlias(given) ? aliases.get(given) : given)
  let at = behind(node)
  for (const name of pointer.split('/').slice(1)) {
    const given = isSeq(at)
      ? (at.items[Number(name)] as Node | undefined)
      : isMap(at) && fieldsOf(at).find(field => field.name === name)?.value
    const next = given && behind(given)
    if (!next) break
    at = next
  }
  return start(at ?? node)
}

/** Whether a number in decimals, as written in the file, differs from the number that was read. */
const isOther = (source: string) =>
  /^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(source) && !isNumberKept(source.replace('+', ''))

/** Resolves aliases, and reports repeated fields and numbers that change, in the file's order, for one document. */
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
        const message = `Nothing above is anchored as &${shown(node.source)}: write the value out, or put text that begins with "*" in quotes`
        report('unknown_alias', start(node), path, message)
      }
      return
    }
    if (isScalar(node) && Number.isFinite(node.value) && isOther(node.source ?? '')) {
      const message = `This number cannot be stored exactly, and would become ${node.value}: write that, or text`
      report('inexact_number', start(node), path, message)
    }
    if (isSeq(node)) {
      for (const [index, entry] of node.items.entries()) visit(entry as Node, `${path}/${index}`)
    } else if (isMap(node)) visitFields(node, path)
    // Only after everything inside the node, so that a value can never contain itself.
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
