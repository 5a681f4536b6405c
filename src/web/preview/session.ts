import type { Theme } from '../../core/flow/theme.ts'
import type { BrowserStore, Flow } from '../snippet/parts.ts'

/** A refusal: the link opens nothing. Whatever else goes wrong is another error. */
export class Refused extends Error {}

/** What a page is told for its ticket. */
export interface Previewed {
  flow: Flow
  expiresAt: string
  /** The organisation's, where it has one. */
  theme?: Theme
}

/** Where the ticket is kept, for as long as the tab: so that the draft is shown over pages. */
const name = 'cairn-preview'

/** What lasts as long as the tab. Some pages may store nothing; then it lasts as long as the page. */
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

/** What is said to Cairn, and to nobody else: it is where the snippet itself has come from. */
export function sessionAt(baseUrl: string, given: string | undefined) {
  const store = createTabStore()
  // What was looked at before in this tab is another draft.
  if (given !== undefined) store.forget('')
  const ticket = given ?? store.get<string>('') ?? ''
  return {
    origin: new URL(baseUrl).origin,
    store,
    /** The draft as it is now. @throws Refused */
    async ask(): Promise<Previewed> {
      const response = await fetch(`${baseUrl}/preview/flow`, {
        method: 'POST',
        credentials: 'omit',
        headers: { Authorization: `Bearer ${ticket}` },
      })
      if (response.status === 401) throw new Refused()
      if (!response.ok) throw new Error(String(response.status))
      const told: Previewed = await response.json()
      store.set('', ticket)
      return told
    },
    leave: () => store.forget(''),
  }
}
