import type { Theme } from '../../core/flow/theme.ts'
import { jsonIn, request } from '../snippet/natives.ts'
import type { BrowserStore, Flow } from '../snippet/parts.ts'

/** A refusal: the link opens nothing. Any other failure is a different error. */
export class Refused extends Error {}

/** The server's answer to a page's ticket. */
export interface Previewed {
  flow: Flow
  expiresAt: string
  /** The organisation's, where it has one. */
  theme?: Theme
}

/** Where the ticket is kept, for as long as the tab, so that the draft is shown from page to page. */
const name = 'cairn-preview'

/** A store that lasts as long as the tab, or only as long as the page if that may not store anything. */
function createTabStore(): BrowserStore {
  const kept = new Map<string, string>()
  const at = (key: string) => (key === '' ? name : `${name}:${key}`)
  const stored = <Result>(work: (storage: Storage) => Result): Result | null => {
    try {
      return work(sessionStorage)
    } catch {
      return null
    }
  }
  return {
    get(key) {
      const text = stored(storage => storage.getItem(at(key))) ?? kept.get(key)
      try {
        return text === undefined ? null : JSON.parse(text)
      } catch {
        return null
      }
    },
    set(key, value) {
      const text = JSON.stringify(value)
      kept.set(key, text)
      stored(storage => storage.setItem(at(key), text))
    },
    remove(key) {
      kept.delete(key)
      stored(storage => storage.removeItem(at(key)))
    },
    names: () => [],
    forget() {
      stored(storage => {
        for (const key of Object.keys(storage)) if (key.startsWith(name)) storage.removeItem(key)
      })
      kept.clear()
    },
    allow() {},
    onChange() {},
  }
}

/** Requests to Cairn, and to nobody else: the address is where the snippet itself was loaded from. */
export function sessionAt(baseUrl: string, given: string | undefined) {
  const store = createTabStore()
  // What this tab has kept belongs to another draft.
  if (given !== undefined) store.forget('')
  const ticket = given ?? store.get<string>('') ?? ''
  return {
    origin: new URL(baseUrl).origin,
    store,
    /** The draft as it is now. @throws Refused */
    async ask(): Promise<Previewed> {
      const response = await request(`${baseUrl}/preview/flow`, {
        method: 'POST',
        credentials: 'omit',
        headers: { Authorization: `Bearer ${ticket}` },
      })
      if (response.status === 401) throw new Refused()
      if (!response.ok) throw new Error(String(response.status))
      const previewed: Previewed = await jsonIn(response)
      store.set('', ticket)
      return previewed
    },
    leave: () => store.forget(''),
  }
}
