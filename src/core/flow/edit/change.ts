import { diffArrays } from 'diff'
import {
  type CollectionTag,
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Tags,
  type ToStringOptions,
  visit,
  type YAMLSeq,
} from 'yaml'
import { isMapping, isSame, type Path, type Plain, valueAt } from '../plain.ts'
import { valueLines } from '../text.ts'
import { isError, parseSource } from './source.ts'

/** One change that the form makes to a flow's text. */
export type Change =
  | { kind: 'set'; path: Path; value: Plain; order?: readonly string[] }
  /** Removes a field, and mappings that would be empty without it. */
  | { kind: 'unset'; path: Path }
  | { kind: 'insert'; path: Path; index: number; value: Plain }
  /** Removing the last entry removes the list too. */
  | { kind: 'remove'; path: Path; index: number }
  | { kind: 'move'; path: Path; from: number; to: number }

/**
 * The text after a change. Values, order and comments of everything else stay as they are, and so do its lines, if
 * the text is indented evenly. Null if that is not possible, because the text is not YAML, or because an anchor
 * shares the value with other places.
 */
export function change(text: string, edit: Change): string | null {
  if (text.includes('\r\n')) {
    const changed = change(text.replaceAll('\r\n', '\n'), edit)
    return changed?.replaceAll('\n', '\r\n') ?? null
  }
  const source = parseSource(text)
  if (isError(source)) return null
  const expected = changedValue(structuredClone(source.value), edit)
  const changed = throughDocument(text, edit)
  const read = changed === null ? null : parseSource(changed)
  return read && !isError(read) && isSame(read.value, expected) ? changed : null
}

function throughDocument(text: string, edit: Change): string | null {
  try {
    // Repeated fields were looked for already, and the library takes long to do so.
    const document = parseDocument(text, { uniqueKeys: false, customTags: withOurPadding })
    const style = styleOf(text, document)
    const before = document.toString(style)
    visit(document, { Seq: (_, list) => giveCommentToEntry(list) })
    apply(document, edit)
    return withLinesOf(text, before, document.toString(style))
  } catch {
    return null
  }
}

/** As flows are written: `{ key: a }`, and `[a, b]`. */
const withOurPadding = (tags: Tags): Tags =>
  tags.map(tag => {
    if (typeof tag === 'string' || !('collection' in tag)) return tag
    const flowCollectionPadding = tag.collection === 'map' ? ' ' : ''
    const stringify = (list: YAMLSeq, ...[context, ...rest]: Parameters<YAMLSeq['toString']>) =>
      list.toString({ ...context!, flowCollectionPadding }, ...rest)
    // The library calls this, but its types do not say so.
    return { ...tag, stringify } as unknown as CollectionTag
  })

/** How far the text indents. */
function styleOf(text: string, { contents }: Document): ToStringOptions {
  const columnOf = (offset: number) => offset - text.lastIndexOf('\n', offset - 1) - 1
  let indent = 2
  let indentSeq = true
  const pairs: Pair[] = []
  visit(contents, { Pair: (_, pair) => void pairs.push(pair) })
  for (const { key, value } of pairs) {
    if (!isNode(key) || !isCollection(value) || value.flow || !key.range || !value.range) continue
    const deeper = columnOf(value.range[0]) - columnOf(key.range[0])
    if (isSeq(value)) indentSeq = deeper > 0
    else indent = deeper
  }
  return { indent, indentSeq, lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000 }
}

/** The comment above a list's first entry, which the library takes for one of the list. */
function giveCommentToEntry(list: YAMLSeq): void {
  const [first] = list.items
  if (!list.commentBefore || !isNode(first) || list.flow) return
  first.commentBefore = list.commentBefore
  list.commentBefore = null
}

/** Lines as the library writes them, and as the author did. */
interface Piece {
  from: number
  to: number
  own: string[]
}

/**
 * The library writes every line anew. What the change leaves alone stays as its author wrote it: first the author's
 * lines are found for those of the library, then they stand for these wherever the change did not touch them.
 */
function withLinesOf(text: string, before: string, after: string): string {
  const own = text.split('\n')
  const old = before.split('\n')
  const pieces = piecesOf(own, old)
  const lines: string[] = []
  let at = 0
  for (const { added, removed, value } of diffArrays(old, after.split('\n'))) {
    if (added) lines.push(...value)
    else {
      const end = at + value.length
      for (let line = at; !removed && line < end; line++) {
        const { from, to, own } = pieces.get(line)!
        if (from < at || to > end) lines.push(old[line]!)
        else if (line === from) lines.push(...own)
      }
      at = end
    }
  }
  return lines.join('\n')
}

/** For each line of the library, the piece that it belongs to: a line that differs in spacing alone, or several. */
function piecesOf(own: string[], old: string[]): Map<number, Piece> {
  const bare = (line: string) => line.replace(/\s+/g, '')
  const pieces = new Map<number, Piece>()
  let [ownAt, from] = [0, 0]
  let extra: string[] = []
  const parts = diffArrays(own, old, { comparator: (a, b) => bare(a) === bare(b) })
  for (const { added, removed, value } of parts) {
    const { length } = value
    if (removed) extra = own.slice(ownAt, ownAt + length)
    else if (added) {
      const piece = { from, to: from + length, own: extra }
      for (let line = from; line < piece.to; line++) pieces.set(line, piece)
      extra = []
    } else {
      for (let line = 0; line < length; line++) {
        // Lines that the library does not write at all stay above the next that it does.
        const lines = [...(line === 0 ? extra : []), own[ownAt + line]!]
        pieces.set(from + line, { from: from + line, to: from + line + 1, own: lines })
      }
      extra = []
    }
    if (!added) ownAt += length
    if (!removed) from += length
  }
  return pieces
}

function apply(document: Document, edit: Change): void {
  const { path } = edit
  const list = document.getIn(path, true)
  const entries = isSeq(list) ? (list.items as Node[]) : []
  if (edit.kind === 'unset' || (edit.kind === 'remove' && entries.length === 1)) {
    remove(document, path)
  } else if (edit.kind === 'set') set(document, path, edit.value, edit.order ?? [])
  else if (edit.kind === 'insert' && entries.length === 0) set(document, path, [edit.value], [])
  else if (edit.kind === 'insert') {
    const entry = nodeOf(edit.value)
    const isApart = isMap(entry) && entry.has('key') && !(list as YAMLSeq).flow
    const gap = entries.length > 1 ? entries[1]!.spaceBefore : isApart
    entries.splice(edit.index, 0, entry)
    const later = entries[Math.max(edit.index, 1)]
    if (later) later.spaceBefore = gap ?? false
  } else {
    // Empty lines stay where they are.
    const gaps = entries.map(({ spaceBefore }) => spaceBefore ?? false)
    const [entry] = entries.splice(edit.kind === 'move' ? edit.from : edit.index, 1)
    if (edit.kind === 'move' && entry) entries.splice(edit.to, 0, entry)
    for (const [index, entry] of entries.entries()) entry.spaceBefore = gaps[index]!
  }
}

function set(document: Document, path: Path, value: Plain, order: readonly string[]): void {
  let depth = 0
  let holder = document.contents as Node | null
  while (depth < path.length - 1) {
    const next = isCollection(holder) ? holder.get(path[depth], true) : undefined
    if (!isCollection(next)) break
    holder = next
    depth++
  }
  const [name, ...rest] = path.slice(depth)
  const wrapped = rest.reduceRight<Plain>((inner, one) => ({ [one]: inner }), value)
  if (!isCollection(holder)) {
    document.contents = nodeOf({ [name!]: wrapped }) as typeof document.contents
    return
  }
  const old = holder.get(name, true)
  if (isNode(old)) holder.set(name, inPlaceOf(old, nodeOf(wrapped)))
  else if (isMap(holder)) {
    const place = order.indexOf(String(name))
    const before = holder.items.findLastIndex(({ key }) => order.indexOf(nameOf(key)) < place)
    const at = place < 0 || before < 0 ? holder.items.length : before + 1
    holder.items.splice(at, 0, document.createPair(name, nodeOf(wrapped)))
  }
}

const nameOf = (key: unknown) => (isScalar(key) ? String(key.value) : '')

/** A value as flows are written. */
function nodeOf(value: Plain): Node {
  const node = parseDocument(valueLines('_:', value, '').join('\n')).get('_', true) as Node
  if (isScalar(node) && node.type === 'BLOCK_FOLDED') delete node.type
  return node
}

/** Keeps the comments of the old value, and quotes that its author chose although none were needed. */
function inPlaceOf(old: Node, node: Node): Node {
  const { comment, commentBefore, spaceBefore } = old
  Object.assign(node, { comment, commentBefore, spaceBefore })
  if (!isScalar(old) || !isScalar(node) || typeof node.value !== 'string') return node
  const isQuoted = old.type === 'QUOTE_DOUBLE' || old.type === 'QUOTE_SINGLE'
  const plain = nodeOf(old.value as Plain)
  const isChosen = isQuoted && isScalar(plain) && !plain.type?.startsWith('QUOTE')
  if (isChosen) node.type = old.type!
  return node
}

/** Removes a field, and mappings that would be empty without it. A comment beside the field stays. */
function remove(document: Document, path: Path): void {
  const holder = document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return
  const isAlone = holder.items.length === 1 && path.length > 1 && typeof path.at(-2) === 'string'
  if (isAlone) {
    remove(document, path.slice(0, -1))
    return
  }
  const index = holder.items.findIndex(({ key }) => nameOf(key) === String(path.at(-1)))
  const [removed] = holder.items.splice(index, index < 0 ? 0 : 1)
  const comments = [removed?.key, removed?.value].flatMap(node =>
    isNode(node) ? [node.commentBefore, node.comment] : [],
  )
  const comment = comments.filter(comment => comment != null).join('\n')
  if (comment === '') return
  const next = holder.items[index]?.key
  if (isNode(next)) next.commentBefore = [comment, next.commentBefore].filter(Boolean).join('\n')
  else holder.comment = [holder.comment, comment].filter(Boolean).join('\n')
}

/** The same change to a plain value, which is modified in place. */
function changedValue(value: Plain, edit: Change): Plain {
  const { path } = edit
  if (edit.kind === 'set') return withValue(value, path, edit.value)
  if (edit.kind === 'unset') {
    withoutValue(value, path)
    return value
  }
  const list = valueAt(value, path)
  const entries = Array.isArray(list) ? list : []
  if (edit.kind === 'insert') entries.splice(edit.index, 0, edit.value)
  else if (edit.kind === 'remove') entries.splice(edit.index, 1)
  else entries.splice(edit.to, 0, ...entries.splice(edit.from, 1))
  if (entries.length > 0) return withValue(value, path, entries)
  withoutValue(value, path)
  return value
}

function withValue(root: Plain, path: Path, value: Plain): Plain {
  const [name, ...rest] = path
  if (name === undefined) return value
  const holder = (typeof root === 'object' && root !== null ? root : {}) as Record<string, Plain>
  const inner = Object.hasOwn(holder, name) ? holder[name]! : null
  holder[name] = withValue(inner, rest, value)
  return holder as Plain
}

function withoutValue(root: Plain, path: Path): void {
  const holder = valueAt(root, path.slice(0, -1))
  const name = path.at(-1)
  if (!isMapping(holder) || name === undefined || !Object.hasOwn(holder, name)) return
  delete holder[name]
  const isEntry = typeof path.at(-2) === 'number'
  if (path.length > 1 && !isEntry && Object.keys(holder).length === 0) {
    withoutValue(root, path.slice(0, -1))
  }
}
