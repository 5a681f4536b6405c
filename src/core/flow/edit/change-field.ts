import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  stringify,
  type YAMLMap,
} from 'yaml'
import type { Plain } from '../minimal.ts'
import { inlined, valueLines } from '../text.ts'
import {
  columnOf,
  commentsIn,
  endOf,
  endOfField,
  type Field,
  fieldsOf,
  findField,
  indentAt,
  lineEnd,
  lineStart,
  nameOf,
  type Path,
  type Source,
  startOf,
} from './source.ts'

/**
 * Changes one field in a flow's text: only the characters of its value, or its line, are replaced. Each
 * function returns null if the field is written in a way that it does not know.
 */

export const splice = (text: string, from: number, to: number, by: string) =>
  text.slice(0, from) + by + text.slice(to)

const isBlockText = (node: Node) =>
  isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED')

/** A text in the quotes that its author chose although none were needed, or undefined. */
function inSameQuotes(node: Node, value: Plain): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string' || typeof value !== 'string')
    return undefined
  const { type } = node
  if (type !== 'QUOTE_DOUBLE' && type !== 'QUOTE_SINGLE') return undefined
  const isChosen = !/^['"]/.test(inlined(node.value))
  if (!isChosen || inlined(value) !== inlined(value).trim() || /[\n\\]/.test(value))
    return undefined
  return stringify(value, { defaultStringType: type, lineWidth: 0 }).trimEnd()
}

/** The text with a value replaced by another. */
function replaced(text: string, node: Node, value: Plain, indent: string, name: string | null) {
  const [start, end] = [startOf(node), endOf(node)]
  const isInline = name === null
  const quoted = inSameQuotes(node, value)
  if (quoted !== undefined) return splice(text, start, end, quoted)
  if (isInline) return splice(text, start, end, inlined(value))
  const head = `${indent}${name}:`
  const [first = '', ...rest] = valueLines(head, value, indent)
  const wasLines = isBlockText(node) || (isCollection(node) && !node.flow)
  const opening = first.slice(head.length).trimStart()
  if (!wasLines) {
    // Whatever follows the value on its line stays there.
    const feed = text.indexOf('\n', end)
    const line = feed < 0 ? text.length : feed
    const beside = text.slice(end, line)
    // If the value continues on the lines below, it begins right after the colon.
    const from = opening === '' ? text.slice(0, start).trimEnd().length : start
    return splice(text, from, line, [opening + beside, ...rest].join('\n'))
  }
  if (!isBlockText(node)) return null
  const [, comment = ''] = /^[^\n]*?([ \t]+#[^\n]*)?\n/.exec(text.slice(start)) ?? []
  const feed = text[end - 1] === '\n' ? '\n' : ''
  return splice(text, start, end, [opening + comment, ...rest].join('\n') + feed)
}

/** The text with one more field, placed after the fields that precede it in `order`. */
function withField(
  { text }: Source,
  map: YAMLMap,
  name: string,
  value: Plain,
  order: readonly string[],
): string | null {
  const fields = fieldsOf(map)
  const inline = `${name}: ${inlined(value)}`
  if (map.flow || fields.length === 0) {
    const last = fields.at(-1)
    if (last) {
      const end = endOfField(last)
      return splice(text, end, end, `, ${inline}`)
    }
    return map.flow ? splice(text, startOf(map), map.range![1], `{ ${inline} }`) : null
  }
  const place = order.indexOf(name)
  const before = fields.filter(field => order.indexOf(nameOf(field)) < place)
  const behind = place < 0 ? fields.at(-1)! : (before.at(-1) ?? fields.at(-1)!)
  const indent = indentAt(text, startOf(fields[0]!.key))
  const at = lineEnd(text, endOfField(behind))
  const feed = text[at - 1] === '\n' ? '' : '\n'
  const lines = valueLines(`${indent}${name}:`, value, indent)
  return splice(text, at, at, `${feed}${lines.join('\n')}\n`)
}

/**
 * The text with a value at a path. Mappings that are missing on the way there are added.
 *
 * @param order the fields, in the order of a file, of the mapping that a field is added to
 */
export function setValue(
  source: Source,
  path: Path,
  value: Plain,
  order: readonly string[],
): string | null {
  let node: Node | null = source.document.contents as Node | null
  let isInline = false
  let indent = ''
  let name: string | null = null
  for (const [depth, step] of path.entries()) {
    if (node === null || isAlias(node)) return null
    if (isMap(node)) {
      isInline ||= !!node.flow
      const field = findField(node as YAMLMap, step)
      if (!field) {
        const rest = path.slice(depth + 1)
        if (rest.some(one => typeof one === 'number')) return null
        const whole = rest.reduceRight<Plain>((inner, one) => ({ [one]: inner }), value)
        return withField(source, node as YAMLMap, String(step), whole, order)
      }
      indent = indentAt(source.text, startOf(field.key))
      name = nameOf(field)
      node = field.value
    } else if (isSeq(node)) {
      isInline ||= !!node.flow
      node = (node.items[Number(step)] as Node | undefined) ?? null
      name = null
    } else return null
  }
  if (node === null || isAlias(node) || node.range?.[0] === undefined) return null
  return replaced(source.text, node, value, indent, isInline ? null : name)
}

/** The range to remove for a field in `{ … }`, up to the next field and with one of the commas. */
export function inlineSpan(spans: readonly (readonly [number, number])[], index: number) {
  const [from, to] = spans[index]!
  if (index > 0) return [spans[index - 1]![1], to] as const
  return [from, spans[1]?.[0] ?? to] as const
}

/** The text without a field. A comment beside the field stays, on a line of its own. */
function withoutField({ text }: Source, map: YAMLMap, field: Field): string | null {
  const fields = fieldsOf(map)
  const index = fields.indexOf(field)
  const from = startOf(field.key)
  const end = endOfField(field)
  const saidIn = (start: number, to: number) =>
    commentsIn(text).filter(({ offset }) => offset >= start && offset < to)
  if (map.flow) {
    const spans = fields.map(one => [startOf(one.key), endOfField(one)] as const)
    const [start, to] = inlineSpan(spans, index)
    return saidIn(start, to).length > 0 ? null : splice(text, start, to, '')
  }
  const start = lineStart(text, from)
  const to = lineEnd(text, end)
  if (text.slice(start, from).trim() === '') {
    const kept = saidIn(start, to).map(
      ({ comment }) => `${' '.repeat(columnOf(text, from))}${comment}\n`,
    )
    return splice(text, start, to, kept.join(''))
  }
  // The first field of an entry is beside the dash, so the next field takes its place.
  const next = fields[index + 1]
  if (!next || saidIn(start, startOf(next.key)).length > 0) return null
  return splice(text, from, startOf(next.key), '')
}

/** The text without the field at a path, and without mappings that would be empty without it. */
export function removeField(source: Source, path: Path): string | null {
  let node: Node | null = source.document.contents as Node | null
  let found = null as { map: YAMLMap; field: Field } | null
  let inner: Node | null = null
  for (const step of path) {
    if (isMap(node)) {
      const map = node as YAMLMap
      const field = findField(map, step)
      if (!field) return source.text
      // A mapping that contains nothing else is removed as a whole.
      const isAlone = map.items.length === 1 && inner === map
      if (!isAlone) found = { map, field }
      node = inner = field.value
    } else if (isSeq(node)) node = (node.items[Number(step)] as Node | undefined) ?? null
    else return null
  }
  return found && withoutField(source, found.map, found.field)
}
