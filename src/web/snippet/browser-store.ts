import { attempt } from '../../core/attempt.ts'
import type { BrowserStore } from './parts.ts'

/**
 * Values under a prefix in the origin's storage. A browser may refuse storage (settings, a full disk, a
 * sandboxed frame). What it refuses is kept in memory, and lasts as long as the page.
 */
export function createBrowserStore(prefix: string, page: Window): BrowserStore {
  const memory = new Map<string, string | null>()
  let isStored = true
  const storage = () => page.localStorage

  const read = (name: string): string | null =>
    memory.has(name)
      ? (memory.get(name) ?? null)
      : attempt(() => storage().getItem(prefix + name), null)

  const write = (name: string, text: string | null): void => {
    const isKept = attempt(() => {
      if (!isStored) return false
      if (text === null) storage().removeItem(prefix + name)
      else storage().setItem(prefix + name, text)
      return true
    }, false)
    if (isKept) memory.delete(name)
    else memory.set(name, text)
  }

  const storedNames = (): string[] =>
    attempt(() => Object.keys(storage()), [])
      .filter(name => name.startsWith(prefix))
      .map(name => name.slice(prefix.length))

  const names = (beginning: string): string[] => {
    const all = new Set([...storedNames(), ...memory.keys()])
    return [...all].filter(name => name.startsWith(beginning) && read(name) !== null)
  }

  return {
    get<Value>(name: string): Value | null {
      const text = read(name)
      // Other scripts write into this storage too, and may have written anything.
      return text === null ? null : attempt(() => JSON.parse(text) as Value, null)
    },
    set: (name, value) => write(name, JSON.stringify(value)),
    remove: name => write(name, null),
    names,
    forget(but) {
      const others = storedNames().filter(name => name !== but)
      for (const name of others) attempt(() => storage().removeItem(prefix + name), undefined)
      for (const name of [...memory.keys()]) if (name !== but) memory.delete(name)
    },
    allow(isAllowed) {
      isStored = isAllowed
      if (isAllowed) for (const [name, text] of [...memory]) write(name, text)
    },
    onChange(name, listener) {
      page.addEventListener('storage', ({ key }) => {
        if (key === prefix + name || key === null) listener()
      })
    },
  }
}

/** Names of what belongs to a key, and not to the people who use it. */
const ofKey = /^(flows|heartbeat|lease:)/

/** The snippet's own names, under any key. The page's own names are not touched. */
const ours = /^cairn:[A-Za-z0-9]{8}:./

/**
 * Takes over what was kept under another key, if nothing is kept under this one yet. An organisation's
 * key may be rotated, which does not undo what its people have seen and answered.
 */
export function inherit(prefix: string, page: Window): void {
  const { localStorage } = page
  const all = Object.keys(localStorage).filter(name => ours.test(name))
  if (all.some(name => name.startsWith(prefix))) return
  for (const name of all) {
    const value = localStorage.getItem(name) ?? ''
    const rest = name.slice(prefix.length)
    localStorage.removeItem(name)
    if (!ofKey.test(rest)) localStorage.setItem(prefix + rest, value)
  }
}
