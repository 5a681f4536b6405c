import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { copyOf, type Entry, entriesOf, type ListName, listPaths, newEntry } from './entries.ts'
import { flowIn } from './form-context.ts'
import type { Editing } from './use-editing.ts'

/** What the form shows: the flow, its pages and people, when it begins, its languages, or one step or item. */
export type Chosen = 'flow' | 'where' | 'when' | 'languages' | { list: ListName; index: number }

interface Following {
  part: string | null
  onPart: (key: string | null) => void
}

const lists: readonly ListName[] = ['steps', 'items']

/** The chosen part, which follows the preview and the YAML, and the actions on steps and items. */
export function useEntries({ form, said, textNow, take }: Editing, { part, onPart }: Following) {
  const find = (key: string): Chosen | null =>
    lists.flatMap(list => entriesOf(form.flow, list)).find(entry => entry.key === key) ?? null
  const chosen = useSignal<Chosen>((part !== null && find(part)) || 'flow')
  /** The key that was last passed to `onPart`, and that comes back as `part`. */
  const told = useRef(part)
  const choose = (next: Chosen) => {
    chosen.value = next
    const flow = flowIn(textNow()) ?? form.flow
    const key =
      typeof next === 'string' ? null : (entriesOf(flow, next.list)[next.index]?.key ?? null)
    told.current = key
    onPart(key)
  }
  /** Notes that the chosen entry has another key from now on. */
  const rename = (key: string) => {
    told.current = key
    onPart(key)
  }
  useEffect(() => {
    if (part === told.current) return
    told.current = part
    const found = part === null ? null : find(part)
    if (found) chosen.value = found
    else if (part === null && typeof chosen.value !== 'string') chosen.value = 'flow'
  }, [part])

  const entriesNow = (list: ListName) => entriesOf(flowIn(textNow()) ?? form.flow, list)
  const nameOf = ({ title, index }: Entry) => title || words.untitled(index + 1)

  /** Inserts an entry, chooses it, and says so. */
  const insert = (list: ListName, index: number, value: Entry['value'], text: string) => {
    if (!form.apply({ kind: 'insert', path: listPaths[list], index, value })) return false
    said.value = { text }
    choose({ list, index })
    return true
  }
  const add = (list: ListName) => {
    const entries = entriesNow(list)
    const at = chosen.value
    const index = typeof at !== 'string' && at.list === list ? at.index + 1 : entries.length
    const one = words.lists[list].one
    return insert(
      list,
      index,
      newEntry(list, entries),
      words.added(one, index + 1, entries.length + 1),
    )
  }
  const duplicate = (entry: Entry) => {
    const copy = copyOf(entry, entriesNow(entry.list))
    return insert(entry.list, entry.index + 1, copy, words.duplicated(nameOf(entry)))
  }
  const move = ({ list, index }: Pick<Entry, 'list' | 'index'>, to: number) => {
    const entries = entriesNow(list)
    const entry = entries[index]
    if (!entry || !entries[to] || to === index) return false
    if (!form.apply({ kind: 'move', path: listPaths[list], from: index, to })) return false
    said.value = { text: words.moved(nameOf(entry), to + 1, entries.length) }
    choose({ list, index: to })
    return true
  }
  const remove = (entry: Entry) => {
    const { list, index, value } = entry
    const before = textNow()
    if (!form.apply({ kind: 'remove', path: listPaths[list], index })) return false
    const after = textNow()
    const left = entriesNow(list).length
    choose(left === 0 ? 'flow' : { list, index: Math.min(index, left - 1) })
    const undo = () => {
      const back = words.restored(nameOf(entry))
      if (textNow() !== after) {
        insert(list, Math.min(index, entriesNow(list).length), value, back)
        return
      }
      take(before)
      said.value = { text: back }
      choose({ list, index })
    }
    said.value = { text: words.removed(nameOf(entry)), undo }
    return true
  }
  return { chosen, choose, rename, add, duplicate, move, remove }
}
