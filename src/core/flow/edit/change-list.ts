import { isAlias, isMap, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Plain } from '../minimal.ts'
import { entryLines, inlined } from '../text.ts'
import { inlineSpan, splice } from './change-field.ts'
import { endOf, findField, lineEnd, lineStart, type Path, type Source, startOf } from './source.ts'

/**
 * Changes lists in a flow's text. Entries move with everything that is written in them, and with the
 * comments right above them; empty lines stay where they are. A comment that is indented deeper than the
 * dashes belongs to the entry before it.
 */

/** The range of an entry: from the comments above it to the end of its last line. */
type Span = readonly [from: number, to: number]

function listAt({ document }: Source, path: Path): YAMLSeq | null {
  let node: Node | null = document.contents as Node | null
  for (const step of path) {
    if (isMap(node)) node = findField(node as YAMLMap, step)?.value ?? null
    else if (isSeq(node)) node = (node.items[Number(step)] as Node | undefined) ?? null
    else return null
  }
  return isSeq(node) ? (node as YAMLSeq) : null
}

/** The ranges of the entries and the indent of their dashes, or null if they are written in an unusual way. */
function spansOf(text: string, list: YAMLSeq): { spans: Span[]; indent: string } | null {
  const spans: Span[] = []
  let indent = ''
  for (const item of list.items as Node[]) {
    const dash = text.lastIndexOf('-', startOf(item) - 1)
    const start = lineStart(text, dash)
    const isUsual =
      dash >= 0 && /^-\s+$/.test(text.slice(dash, startOf(item))) && !isAlias(item) && !item.anchor
    const before = text.slice(start, dash)
    if (!isUsual || before.trim() !== '') return null
    indent = before
    const floor = spans.at(-1)?.[1] ?? 0
    let from = start
    while (from > floor) {
      const above = lineStart(text, from - 1)
      const line = text.slice(above, from)
      if (above < floor || !new RegExp(`^ {0,${indent.length}}#`).test(line)) break
      from = above
    }
    const deeper = new RegExp(`^ {${indent.length + 1},}#.*(?:\\n|$)`)
    let to = lineEnd(text, endOf(item))
    for (let found = deeper.exec(text.slice(to)); found; found = deeper.exec(text.slice(to))) {
      to += found[0].length
    }
    spans.push([from, to])
  }
  return { spans, indent }
}

const spansInline = (list: YAMLSeq): Span[] =>
  (list.items as Node[]).map(item => [startOf(item), endOf(item)])

/** The text with an entry moved; `to` is its index afterwards. */
export function moveEntry(source: Source, path: Path, from: number, to: number): string | null {
  const { text } = source
  const list = listAt(source, path)
  const spans = list && (list.flow ? spansInline(list) : spansOf(text, list)?.spans)
  if (!list || !spans?.[from] || !spans[to]) return null
  const order = spans.map((_, index) => index)
  order.splice(to, 0, ...order.splice(from, 1))
  const whole = (index: number) => {
    const entry = text.slice(...spans[index]!)
    return list.flow || entry.endsWith('\n') ? entry : `${entry}\n`
  }
  const parts = order.map((entry, place) => {
    const gap = text.slice(spans[place]![1], spans[place + 1]?.[0] ?? spans[place]![1])
    return whole(entry) + gap
  })
  return splice(text, spans[0]![0], spans.at(-1)![1], parts.join(''))
}

/** The text with one more entry; null if the list is empty or missing. */
export function insertEntry(
  source: Source,
  path: Path,
  index: number,
  value: Plain,
): string | null {
  const { text } = source
  const list = listAt(source, path)
  if (!list || list.items.length === 0) return null
  if (list.flow) {
    const spans = spansInline(list)
    const at = spans[index]?.[0] ?? spans.at(-1)![1]
    const entry = inlined(value)
    return splice(text, at, at, index < spans.length ? `${entry}, ` : `, ${entry}`)
  }
  const found = spansOf(text, list)
  if (!found) return null
  const { spans, indent } = found
  const lines = `${entryLines([value], indent).join('\n')}\n`
  const isKeyed = typeof value === 'object' && value !== null && 'key' in value
  const between = spans[1] ? text.slice(spans[0]![1], spans[1][0]) : isKeyed ? '\n' : ''
  const gap = between.trim() === '' ? between : '\n'
  const next = spans[index]
  if (next) return splice(text, next[0], next[0], lines + gap)
  const at = spans.at(-1)![1]
  const feed = text[at - 1] === '\n' ? '' : '\n'
  return splice(text, at, at, feed + gap + lines)
}

/** The text without an entry, for a list that has other entries. */
export function removeEntry(source: Source, path: Path, index: number): string | null {
  const { text } = source
  const list = listAt(source, path)
  if (!list || list.items.length < 2 || index >= list.items.length) return null
  if (list.flow) return splice(text, ...inlineSpan(spansInline(list), index), '')
  const spans = spansOf(text, list)?.spans
  if (!spans) return null
  const [from, to] = spans[index]!
  const gapBefore = index > 0 ? spans[index - 1]![1] : from
  const gapAfter = index === 0 ? spans[1]![0] : to
  const said = text.slice(gapBefore, from) + text.slice(to, gapAfter)
  return said.trim() === '' ? splice(text, gapBefore, gapAfter, '') : splice(text, from, to, '')
}
