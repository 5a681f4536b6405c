import {
  isMapping,
  type Mapping,
  type Path,
  type Plain,
  valueAt,
} from '../../../../core/flow/plain.ts'
import { kindOf, withValue } from './flow-json.ts'

/** The steps and items of a flow, as the form lists and changes them. */

/** Steps, items of a checklist, and what a launcher offers. */
export type ListName = 'steps' | 'items' | 'offers'

export const listPaths: Readonly<Record<ListName, Path>> = {
  steps: ['steps'],
  items: ['checklist', 'items'],
  offers: ['launcher', 'items'],
}

export const lists = Object.keys(listPaths) as ListName[]

/** The list that a kind of flow is shown by. */
export const listOf = (kind: string): ListName =>
  kind === 'checklist' ? 'items' : kind === 'launcher' ? 'offers' : 'steps'

export const maxEntries = 100

export interface Entry {
  list: ListName
  index: number
  key: string | null
  title: string
}

const listAt = (flow: Mapping, list: ListName): Plain[] => {
  const value = valueAt(flow, listPaths[list])
  return Array.isArray(value) ? value : []
}

export const entriesOf = (flow: Mapping, list: ListName): Entry[] =>
  listAt(flow, list).map((value, index) => {
    const key = isMapping(value) && typeof value.key === 'string' ? value.key : null
    const title = isMapping(value) && typeof value.title === 'string' ? value.title.trim() : ''
    return { list, index, key, title: title || `Untitled ${index + 1}` }
  })

/** The lists that are shown: the one for the flow's kind, and others that the flow has. */
export function listsOf(flow: Mapping): ListName[] {
  const own = listOf(kindOf(flow))
  return [own, ...lists.filter(list => list !== own && listAt(flow, list).length > 0)]
}

/** An announcement is one message, and needs no list for it. */
export const isOneMessage = (flow: Mapping): boolean =>
  kindOf(flow) === 'announcement' && listAt(flow, 'steps').length === 1

/** A key that nothing else in the list has. */
export function freeKey(wanted: string, entries: readonly Pick<Entry, 'key'>[]): string {
  const taken = new Set(entries.map(({ key }) => key))
  if (!taken.has(wanted)) return wanted
  const stem = wanted.replace(/-\d+$/, '').slice(0, 58)
  let count = 2
  while (taken.has(`${stem}-${count}`)) count++
  return `${stem}-${count}`
}

const put = (flow: Mapping, list: ListName, entries: Plain[]): Mapping =>
  (withValue(flow, listPaths[list], entries.length > 0 ? entries : undefined) ?? {}) as Mapping

export const inserted = (flow: Mapping, list: ListName, index: number, entry: Plain): Mapping =>
  put(flow, list, listAt(flow, list).toSpliced(index, 0, entry))

/** With a new entry at a place. */
export function added(flow: Mapping, list: ListName, index: number): Mapping {
  const entries = entriesOf(flow, list)
  const key = freeKey(`${list === 'steps' ? 'step' : 'item'}-${entries.length + 1}`, entries)
  return inserted(flow, list, index, list === 'steps' ? { key } : { key, title: '' })
}

/** With a copy of an entry after it, which has a key of its own. */
export function duplicated(flow: Mapping, { list, index, key }: Entry): Mapping {
  const value = listAt(flow, list)[index]!
  const free = freeKey(key ?? 'copy', entriesOf(flow, list))
  return inserted(flow, list, index + 1, isMapping(value) ? { ...value, key: free } : value)
}

export function moved(flow: Mapping, list: ListName, from: number, to: number): Mapping {
  const entries = listAt(flow, list)
  return put(flow, list, entries.toSpliced(from, 1).toSpliced(to, 0, entries[from]!))
}

export const removed = (flow: Mapping, list: ListName, index: number): Mapping =>
  put(flow, list, listAt(flow, list).toSpliced(index, 1))

export const entryAt = (flow: Mapping, list: ListName, index: number): Plain =>
  listAt(flow, list)[index] ?? {}
