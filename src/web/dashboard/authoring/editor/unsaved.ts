import type { Written } from './merge.ts'

/** What the author began with: a flow as the server had it; null for a new one. */
export interface Base {
  etag: string
  text: string
  definition: Written
}

/** Work that was not saved, as this browser keeps it. */
export interface Unsaved {
  /** The tab that wrote it; each has its own, so that none writes over another's. */
  tab: string
  /** When, epoch milliseconds. */
  at: number
  text: string
  base: Base | null
}

const prefix = 'cairn-unsaved'
/** What is larger is not kept: browsers give a site five million characters for everything. */
const mostCharacters = 400_000
const mostKept = 20

const tab = crypto.getRandomValues(new Uint32Array(2)).join('-')

/** Where work on a flow is kept; the key is empty for a new one. */
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

/** Keeps the work of this tab. @returns whether it is kept: a browser may not let us, or have no room */
export function keep(
  organisation: string,
  flowKey: string,
  { text, base }: Pick<Unsaved, 'text' | 'base'>,
): boolean {
  const work: Unsaved = { tab, at: Date.now(), text, base }
  const written = JSON.stringify(work)
  if (written.length > mostCharacters) return false
  const name = placeOf(organisation, flowKey) + tab
  try {
    const others = kept().filter(one => one.name !== name)
    for (const one of others.slice(mostKept - 1)) localStorage.removeItem(one.name)
    localStorage.setItem(name, written)
    return true
  } catch {
    return false
  }
}

/** Work on a flow that other tabs, or this one before it was loaded anew, have left: the newest first. */
export function leftOf(organisation: string, flowKey: string): Unsaved[] {
  try {
    const place = placeOf(organisation, flowKey)
    return kept()
      .filter(({ name, work }) => name.startsWith(place) && work.tab !== tab)
      .map(({ work }) => work)
  } catch {
    return []
  }
}

/** Gives up what is kept; that of this tab where none is named. */
export function forget(organisation: string, flowKey: string, of = tab): void {
  try {
    localStorage.removeItem(placeOf(organisation, flowKey) + of)
  } catch {
    // What may not be stored was not.
  }
}

/** Tells when another tab keeps work on the same flow. */
export function watchOthers(organisation: string, flowKey: string, onOther: () => void) {
  const place = placeOf(organisation, flowKey)
  const listen = ({ key, newValue }: StorageEvent) => {
    if (key?.startsWith(place) && newValue !== null) onOther()
  }
  addEventListener('storage', listen)
  return () => removeEventListener('storage', listen)
}
