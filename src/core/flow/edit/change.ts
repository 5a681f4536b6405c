import { parseDocument } from 'yaml'
import type { Plain } from '../minimal.ts'
import { removeField, setValue } from './change-field.ts'
import { insertEntry, moveEntry, removeEntry } from './change-list.ts'
import {
  isFault,
  isMapping,
  isSame,
  type Path,
  parseSource,
  type Source,
  valueAt,
} from './source.ts'

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
 * The text after a change. Everything else stays as it is: character by character if the text is written in
 * one of the usual ways, and in any case in value, order and comments. Null if that is not possible,
 * because the text is not YAML, or because an anchor shares the value with other places.
 */
export function change(text: string, asked: Change): string | null {
  if (text.includes('\r\n')) {
    const changed = change(text.replaceAll('\r\n', '\n'), asked)
    return changed?.replaceAll('\n', '\r\n') ?? null
  }
  const source = parseSource(text)
  if (isFault(source)) return null
  const expected = changedValue(structuredClone(source.value), asked)
  const isRight = (changed: string | null): changed is string => {
    if (changed === null) return false
    const read = parseSource(changed)
    return !isFault(read) && isSame(read.value, expected)
  }
  const spliced = inPlace(source, asked)
  if (isRight(spliced)) return spliced
  const rewritten = throughDocument(text, asked, expected)
  return isRight(rewritten) ? rewritten : null
}

function inPlace(source: Source, asked: Change): string | null {
  const { path } = asked
  switch (asked.kind) {
    case 'set':
      return setValue(source, path, asked.value, asked.order ?? [])
    case 'unset':
      return removeField(source, path)
    case 'move':
      return moveEntry(source, path, asked.from, asked.to)
    case 'insert': {
      const list = valueAt(source.value, path)
      return Array.isArray(list) && list.length > 0
        ? insertEntry(source, path, asked.index, asked.value)
        : setValue(source, path, [asked.value], [])
    }
    case 'remove': {
      const list = valueAt(source.value, path)
      return Array.isArray(list) && list.length === 1
        ? removeField(source, path)
        : removeEntry(source, path, asked.index)
    }
  }
}

/** Has the library rewrite the whole text: comments and order stay, spacing may not. */
function throughDocument(text: string, asked: Change, expected: Plain): string | null {
  try {
    // Repeated fields were looked for already, and the library takes long to do so.
    const document = parseDocument(text, { uniqueKeys: false })
    const { path } = asked
    if (asked.kind === 'set') document.setIn(path, document.createNode(asked.value))
    else if (asked.kind === 'unset') {
      let last = path.length
      while (last > 1 && valueAt(expected, path.slice(0, last - 1)) === undefined) last--
      document.deleteIn(path.slice(0, last))
    } else {
      const list = valueAt(expected, path)
      if (list === undefined) document.deleteIn(path)
      else document.setIn(path, document.createNode(list))
    }
    return document.toString({ lineWidth: 0 })
  } catch {
    return null
  }
}

/** The same change to a plain value, which is modified in place. */
function changedValue(value: Plain, asked: Change): Plain {
  const { path } = asked
  if (asked.kind === 'set') return withValue(value, path, asked.value)
  if (asked.kind === 'unset') {
    withoutValue(value, path)
    return value
  }
  const list = valueAt(value, path)
  const entries = Array.isArray(list) ? list : []
  if (asked.kind === 'insert') entries.splice(asked.index, 0, asked.value)
  else if (asked.kind === 'remove') entries.splice(asked.index, 1)
  else entries.splice(asked.to, 0, ...entries.splice(asked.from, 1))
  if (entries.length > 0) return withValue(value, path, entries)
  withoutValue(value, path)
  return value
}

function withValue(whole: Plain, path: Path, value: Plain): Plain {
  const [name, ...rest] = path
  if (name === undefined) return value
  const holder = (typeof whole === 'object' && whole !== null ? whole : {}) as Record<string, Plain>
  const inner = Object.hasOwn(holder, name) ? holder[name]! : null
  holder[name] = withValue(inner, rest, value)
  return holder as Plain
}

function withoutValue(whole: Plain, path: Path): void {
  const holder = valueAt(whole, path.slice(0, -1))
  const name = path.at(-1)
  if (!isMapping(holder) || name === undefined || !Object.hasOwn(holder, name)) return
  delete holder[name]
  const isEntry = typeof path.at(-2) === 'number'
  if (path.length > 1 && !isEntry && Object.keys(holder).length === 0) {
    withoutValue(whole, path.slice(0, -1))
  }
}
