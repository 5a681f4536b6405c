import { createCairn, type LoadStage } from './create.ts'
import type { Cairn } from './parts.ts'
import { safely } from './safely.ts'
import { warn } from './warn.ts'

/** The script that a page names in its tag; see the manual, `install-the-snippet`. */

declare const CAIRN_SNIPPET_RENDERER: string
declare const CAIRN_SNIPPET_RENDERER_INTEGRITY: string

/** What stands in `window.cairn` until the script has come: calls in the order in which they came. */
interface Waiting {
  q?: [name: keyof Cairn, ...args: never[]][]
}

declare const window: Window & { cairn?: Cairn & Waiting }

/**
 * Loads what the script draws with as the page has asked for the script itself: verified. `import` takes
 * no integrity; what was loaded ahead with one is what it then runs (HTML standard, modulepreload).
 */
function verify(url: string, nonce: string): Promise<unknown> {
  const link = document.createElement('link')
  if (!link.relList.supports('modulepreload')) return Promise.resolve()
  const loading = new Promise((resolve, reject) => {
    link.onload = resolve
    link.onerror = reject
  })
  const integrity = CAIRN_SNIPPET_RENDERER_INTEGRITY
  const rel = 'modulepreload'
  Object.assign(link, { rel, integrity, nonce, crossOrigin: 'anonymous', href: url })
  document.head.append(link)
  return loading.finally(() => link.remove())
}

function begin(): void {
  const tag = document.currentScript as HTMLScriptElement | null
  const key = tag?.dataset.key
  if (!tag || !key) {
    warn('the script tag needs data-key, and must not be type="module"')
    return
  }
  const before = window.cairn
  // An element by this id stands there too.
  const isOurs = typeof before?.identify === 'function'
  const waiting = isOurs || Array.isArray(before?.q) ? before : undefined
  // A second tag, or the same one once more after a navigation.
  if (isOurs && !before?.q) return
  const baseUrl = new URL('.', tag.src).href.slice(0, -1)
  let tries = 0
  const loadStage: LoadStage = async () => {
    // Some browsers remember of an address that it could not be loaded (whatwg/html issue 6768).
    const again = tries++ === 0 ? '' : `?${tries}`
    const url = `${baseUrl}/${CAIRN_SNIPPET_RENDERER}${again}`
    if (tag.integrity) await verify(url, tag.nonce)
    return (await import(url)).createStage
  }
  const { keepQuery = 'false', identify, identifyTimeout } = tag.dataset
  const settings = {
    baseUrl,
    key,
    keepQuery: keepQuery !== 'false',
    // Whatever else stands there is told of.
    ...(identify !== undefined && { identify: identify as 'wait' }),
    ...(identifyTimeout !== undefined && { identifyTimeoutMs: Number.parseFloat(identifyTimeout) }),
  }
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
