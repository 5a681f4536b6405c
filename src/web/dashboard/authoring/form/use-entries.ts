import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Mapping } from '../../../../core/flow/plain.ts'
import {
  added,
  duplicated,
  type Entry,
  entriesOf,
  entryAt,
  inserted,
  type ListName,
  lists,
  moved,
  removed,
} from './entries.ts'
import type { Form } from './form.ts'
import { listNames } from './outline.tsx'
import { type Chosen, partAt } from './parts.ts'

export interface FlowFormProps extends Form {
  /** The key of the step or item that is shown. */
  part: string | null
  onPart(key: string | null): void
  /** A place to show and to focus; a new object each time. */
  goTo?: { pointer: string } | null
}

/** The part that is shown, which follows the preview and the YAML, and the actions on steps and items. */
export function useEntries(
  { flow, change, part, onPart, goTo }: FlowFormProps,
  detail: RefObject<HTMLElement | null>,
) {
  const find = (key: string): Chosen | null =>
    lists.flatMap(list => entriesOf(flow, list)).find(entry => entry.key === key) ?? null
  const chosen = useSignal<Chosen>((part !== null && find(part)) || 'details')
  /** The key that was last passed to `onPart`, and that comes back as `part`. */
  const known = useRef(part)
  const done = useSignal<{ text: string; undo?: () => void } | null>(null)
  const choose = (next: Chosen, now: Mapping = flow) => {
    chosen.value = next
    const key = typeof next === 'string' ? null : entriesOf(now, next.list)[next.index]?.key
    known.current = key ?? null
    onPart(known.current)
  }
  useEffect(() => {
    if (part === known.current) return
    known.current = part
    const found = part === null ? null : find(part)
    if (found) chosen.value = found
    else if (part === null && typeof chosen.value !== 'string') chosen.value = 'details'
  }, [part])
  /** Focuses a field of what is shown next, once it is drawn. */
  const focus = (selector = '.detail-fields :is(input:not([type=radio]), textarea)') =>
    requestAnimationFrame(() => detail.current?.querySelector<HTMLElement>(selector)?.focus())
  useEffect(() => {
    if (!goTo) return
    choose(partAt(goTo.pointer))
    focus(
      `[data-path="${CSS.escape(goTo.pointer)}"] :is(input, textarea, select, button:not(.help-button))`,
    )
  }, [goTo])

  const at = chosen.value
  const entry = typeof at === 'string' ? undefined : entriesOf(flow, at.list)[at.index]
  const shown: Chosen = entry ?? (typeof at === 'string' ? at : 'details')
  const count = entry ? entriesOf(flow, entry.list).length : 0
  /** Changes a list, and chooses what the change was about. */
  const alter = (
    make: (now: Mapping) => Mapping,
    next: Chosen,
    text: string,
    undo?: () => void,
  ) => {
    let changed = flow
    change(now => {
      changed = make(now)
      return changed
    })
    done.value = { text, ...(undo && { undo }) }
    choose(next, changed)
  }
  const add = (list: ListName) => {
    const length = entriesOf(flow, list).length
    const index = typeof at !== 'string' && at.list === list ? at.index + 1 : length
    const text = `${listNames[list].one} ${index + 1} of ${length + 1} added.`
    alter(now => added(now, list, index), { list, index }, text)
    focus()
  }
  const moveTo = ({ list, index, title }: Entry, to: number) => {
    const length = entriesOf(flow, list).length
    if (to < 0 || to >= length) return
    const text = `“${title}” is now ${to + 1} of ${length}.`
    alter(now => moved(now, list, index, to), { list, index: to }, text)
  }
  const remove = ({ list, index, title }: Entry) => {
    const value = entryAt(flow, list, index)
    const place = { list, index: Math.max(0, Math.min(index, count - 2)) }
    const undo = () => {
      const back = Math.min(index, count - 1)
      alter(now => inserted(now, list, back, value), { list, index: back }, `“${title}” restored.`)
    }
    alter(
      now => removed(now, list, index),
      count === 1 ? 'details' : place,
      `“${title}” deleted.`,
      undo,
    )
  }
  const duplicate = (entry: Entry) => {
    const next = { list: entry.list, index: entry.index + 1 }
    alter(now => duplicated(now, entry), next, `“${entry.title}” duplicated.`)
    focus()
  }
  return { shown, entry, count, done, choose, add, duplicate, moveTo, remove }
}
