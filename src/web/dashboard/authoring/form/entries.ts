import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { kindOf } from './fields.ts'

/** The steps and items of a flow, as the form lists them. */

type Mapping = { [name: string]: Plain }

export type ListName = 'steps' | 'items'

export const listPaths: Readonly<Record<ListName, Path>> = {
  steps: ['steps'],
  items: ['checklist', 'items'],
}

export interface Entry {
  list: ListName
  index: number
  key: string | null
  title: string
  value: Plain
}

export function entriesOf(flow: Mapping, list: ListName): Entry[] {
  const values = valueAt(flow, listPaths[list])
  return (Array.isArray(values) ? values : []).map((value, index) => {
    const key = isMapping(value) && typeof value.key === 'string' ? value.key : null
    const title = isMapping(value) && typeof value.title === 'string' ? value.title.trim() : ''
    return { list, index, key, title: title || key || '', value }
  })
}

/** The lists that are shown: the one for the flow's kind, and the other one if the file has it. */
export function listsOf(flow: Mapping): ListName[] {
  const isChecklist = kindOf(flow) === 'checklist'
  const own: ListName = isChecklist ? 'items' : 'steps'
  const other: ListName = isChecklist ? 'steps' : 'items'
  return entriesOf(flow, other).length > 0 ? [own, other] : [own]
}

/** A key that nothing else in the list has. */
export function freeKey(wanted: string, entries: readonly Pick<Entry, 'key'>[]): string {
  const taken = new Set(entries.map(({ key }) => key))
  if (!taken.has(wanted)) return wanted
  const stem = wanted.replace(/-\d+$/, '').slice(0, 58)
  let count = 2
  while (taken.has(`${stem}-${count}`)) count++
  return `${stem}-${count}`
}

export function newEntry(list: ListName, entries: readonly Entry[]): Mapping {
  const word = list === 'steps' ? 'step' : 'item'
  return { key: freeKey(`${word}-${entries.length + 1}`, entries) }
}

/** A copy with a key of its own. */
export function copyOf({ value, key }: Entry, entries: readonly Entry[]): Plain {
  if (!isMapping(value)) return structuredClone(value)
  const copy = structuredClone(value)
  const free = freeKey(key ?? 'copy', entries)
  return 'key' in copy ? { ...copy, key: free } : { key: free, ...copy }
}
