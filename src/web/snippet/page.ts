import { createCairn, type LoadStage } from './create.ts'
import type { Cairn } from './parts.ts'
import { safely } from './safely.ts'

/** The script that a page names in its tag; see `README.md`, "Install the snippet". */

declare const CAIRN_SNIPPET_RENDERER: string

/** What stands in `window.cairn` until the script has come: calls in the order in which they came. */
interface Waiting {
  q?: [name: keyof Cairn, ...args: never[]][]
}

declare const window: Window & { cairn?: Cairn & Waiting }

function begin(): void {
  const tag = document.currentScript as HTMLScriptElement | null
  const key = tag?.dataset.key
  if (!tag || !key) {
    console.warn('cairn: the script tag needs data-key')
    return
  }
  const before = window.cairn
  // An element by this id stands there too.
  const isOurs = typeof before?.identify === 'function'
  const waiting = isOurs || Array.isArray(before?.q) ? before : undefined
  // A second tag, or the same one once more after a navigation.
  if (isOurs && !before?.q) return
  const baseUrl = new URL('.', tag.src).href.slice(0, -1)
  const loadStage: LoadStage = async () =>
    (await import(`${baseUrl}/${CAIRN_SNIPPET_RENDERER}`)).createStage
  const { keepQuery = 'false' } = tag.dataset
  const settings = { baseUrl, key, keepQuery: keepQuery !== 'false', nonce: tag.nonce }
  const cairn = createCairn(settings, loadStage, window)
  const calls = waiting?.q ?? []
  // The same object: a page may have put it into a variable of its own.
  window.cairn = Object.assign(waiting ?? {}, cairn, { q: undefined })
  for (const call of calls) {
    safely(() => {
      const [name, ...args] = call
      cairn[name]?.(...(args as [never, never]))
    })
  }
}

safely(begin)
