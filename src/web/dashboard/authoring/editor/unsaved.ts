import type { Written } from './merge.ts'

/** What the author began with: a flow as the server had it; null for a new flow. */
export interface Base {
  etag: string
  text: string
  definition: Written
}

/** Unsaved work, as this browser keeps it. */
export interface Unsaved {
  /** The editor that wrote it. Each has its own name, so that none overwrites the work of another. */
  editor: string
  /** When it was last changed, epoch milliseconds. */
  at: number
  text: string
  base: Base | null
}

const prefix = 'cairn-unsaved'
/** Larger work is not kept, because browsers give a site five million characters for everything. */
const maxCharacters = 400_000
const maxKept = 20

/** A name for an editor that has just been opened. */
export const newEditor = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-')

/** The prefix under which work on a flow is kept. The key is empty for a new flow. */
const placeOf = (organisation: string, flowKey: string) =>
  `${prefix}:${organisation}:${encodeURIComponent(flowKey)}:`

function kept(): { name: string; work: Unsaved }[] {
  const names = Array.from({ length: localStorage.length }, (_, i) => localStorage.key(i) ?? '')
  return names
    .filter(name => name.startsWith(`${prefix}:`))
    .flatMap(name => {
      try {
        return { name, work: JSON.parse(localStorage.getItem(name)!) as Unsaved }
      } catch {
        localStorage.removeItem(name)
        return []
      }
    })
    .sort((a, b) => b.work.at - a.work.at)
}

/** Keeps the work of an editor. @returns whether it is kept: a browser may refuse, or have no room */
export function keep(organisation: string, flowKey: string, work: Unsaved): boolean {
  const written = JSON.stringify(work)
  if (written.length > maxCharacters) return false
  const name = placeOf(organisation, flowKey) + work.editor
  try {
    const others = kept().filter(one => one.name !== name)
    for (const one of others.slice(maxKept - 1)) localStorage.removeItem(one.name)
    localStorage.setItem(name, written)
    return true
  } catch {
    return false
  }
}

/** Work on a flow that earlier editors have left, the newest first. */
export function leftOf(organisation: string, flowKey: string): Unsaved[] {
  try {
    const place = placeOf(organisation, flowKey)
    return kept()
      .filter(({ name }) => name.startsWith(place))
      .map(({ work }) => work)
  } catch {
    return []
  }
}

/** Discards what an editor kept. */
export function forget(organisation: string, flowKey: string, editor: string): void {
  try {
    localStorage.removeItem(placeOf(organisation, flowKey) + editor)
  } catch {
    // If nothing may be stored, there is nothing to remove.
  }
}

/** Calls `onOther` when another tab keeps work on the same flow. */
export function watchOthers(organisation: string, flowKey: string, onOther: () => void) {
  const place = placeOf(organisation, flowKey)
  const listen = ({ key, newValue }: StorageEvent) => {
    if (key?.startsWith(place) && newValue !== null) onOther()
  }
  addEventListener('storage', listen)
  return () => removeEventListener('storage', listen)
}
