import {
  type Document,
  isMap,
  isSeq,
  type Node,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { canonical, type Merged, type Side, type Unit } from './merge.ts'

type Keyed = { key: string }

const mapIn = (document: Document): YAMLMap | null =>
  isMap(document.contents) ? document.contents : null

const nodeOf = (map: YAMLMap | null, name: string) => (map?.get(name, true) ?? null) as Node | null

const mapOf = (map: YAMLMap | null, name: string) => {
  const node = nodeOf(map, name)
  return isMap(node) ? node : null
}

/** The entries of a list by their keys. */
function entriesOf(map: YAMLMap | null, name: string): Map<string, Node> {
  const list = nodeOf(map, name)
  if (!isSeq(list)) return new Map()
  return new Map(
    (list as YAMLSeq<Node>).items.filter(isMap).map(node => [String(node.get('key')), node]),
  )
}

const toTheirs = (sides: Merged['sides'], prefix: string) =>
  [...sides]
    .filter(([id, side]) => side === 'theirs' && id.startsWith(`${prefix}:`))
    .map(([id]) => id.slice(prefix.length + 1))

/**
 * A merged flow as text: mine, with its comments and its order, except for what was taken from theirs.
 *
 * @param mine a text without errors, like theirs
 */
export function mergedText(mine: string, theirs: string, { flow, sides }: Merged): string {
  if (![...sides.values()].includes('theirs')) return mine
  const document = parseDocument(mine)
  const other = parseDocument(theirs)
  const [ours, their] = [mapIn(document), mapIn(other)]
  if (!ours || !their) return theirs

  const takeFields = (into: YAMLMap, from: YAMLMap | null, names: readonly string[]) => {
    for (const name of names) {
      const node = nodeOf(from, name)
      if (node) into.set(name, node)
      else into.delete(name)
    }
  }
  const takeList = (
    kind: 'step' | 'item',
    name: string,
    into: YAMLMap,
    from: YAMLMap | null,
    of: unknown,
  ) => {
    const parts = { mine: entriesOf(into, name), theirs: entriesOf(from, name) }
    const nodeFor = (key: string): Node => {
      const side: Side = sides.get(`${kind}:${key}`) ?? (parts.mine.has(key) ? 'mine' : 'theirs')
      return (parts[side].get(key) ?? parts.mine.get(key) ?? parts.theirs.get(key))!
    }
    const keys = ((of ?? []) as Keyed[]).map(({ key }) => key)
    const isAsMine = keys.join('\n') === [...parts.mine.keys()].join('\n')
    if (isAsMine && toTheirs(sides, kind).length === 0) return
    if (keys.length === 0) return void into.delete(name)
    const list = nodeOf(into, name)
    const nodes = keys.map(nodeFor)
    if (isSeq(list)) list.items = nodes
    else into.set(name, document.createNode([]))
    if (!isSeq(list))
      (nodeOf(into, name) as YAMLSeq<Node>).items = nodes
      // A list in brackets cannot hold entries that were written on lines of their own.
    ;(nodeOf(into, name) as YAMLSeq<Node>).flow = false
  }

  /** Writes each language in which anything was taken over anew. */
  const takeTexts = (into: YAMLMap) => {
    if (toTheirs(sides, 'text').length === 0) return
    const texts = (flow.texts ?? {}) as Readonly<Record<string, unknown>>
    if (Object.keys(texts).length === 0) return void into.delete('texts')
    if (!mapOf(into, 'texts')) into.set('texts', document.createNode({}))
    const map = mapOf(into, 'texts')!
    map.flow = false
    const before = map.toJSON() as Record<string, unknown>
    for (const tag of Object.keys(before)) if (!Object.hasOwn(texts, tag)) map.delete(tag)
    for (const [tag, told] of Object.entries(texts)) {
      if (canonical(before[tag]) !== canonical(told)) map.set(tag, document.createNode(told))
    }
  }

  takeFields(ours, their, toTheirs(sides, 'field'))
  takeTexts(ours)
  takeList('step', 'steps', ours, their, flow.steps)
  const checklist = flow.checklist as { items: unknown } | null | undefined
  if (!checklist) ours.delete('checklist')
  else {
    if (!mapOf(ours, 'checklist')) ours.set('checklist', document.createNode({}))
    const into = mapOf(ours, 'checklist')!
    into.flow = false
    const from = mapOf(their, 'checklist')
    takeFields(into, from, toTheirs(sides, 'checklist'))
    takeList('item', 'items', into, from, checklist.items)
  }
  return document.toString({ lineWidth: 0 })
}

/** One unit of a flow as its author wrote it; null if it is not there. */
export function unitText({ kind, name, ...values }: Unit, side: Side, text: string): string | null {
  if (kind === 'order') return ((values[side] ?? []) as string[]).map(key => `- ${key}\n`).join('')
  if (values[side] === undefined) return null
  const map = mapIn(parseDocument(text))
  const checklist = mapOf(map, 'checklist')
  const lists = { step: () => entriesOf(map, 'steps'), item: () => entriesOf(checklist, 'items') }
  if (kind === 'step' || kind === 'item') {
    const node = lists[kind]().get(name)
    return node ? stringify(node, { lineWidth: 0 }) : null
  }
  const node = nodeOf(kind === 'field' ? map : checklist, name)
  return stringify({ [name]: node ?? values[side] }, { lineWidth: 0 })
}
