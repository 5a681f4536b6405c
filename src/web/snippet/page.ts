import { createCairn, type LoadStage } from './create.ts'
import type { Cairn } from './parts.ts'
import { quietly, safely } from './safely.ts'
import { warn } from './warn.ts'

/** The script that a page names in its tag; see the manual, `install-the-snippet`. */

declare const CAIRN_SNIPPET_RENDERER: string
declare const CAIRN_SNIPPET_RENDERER_INTEGRITY: string
declare const CAIRN_SNIPPET_AUTHOR: string
declare const CAIRN_SNIPPET_AUTHOR_INTEGRITY: string

/** What stands in `window.cairn` until the script has come: calls in the order in which they came. */
interface Waiting {
  q?: [name: keyof Cairn, ...args: never[]][]
}

declare const window: Window & { cairn?: Cairn & Waiting }

/**
 * Loads what the script draws with as the page has asked for the script itself: verified. `import` takes
 * no integrity; what was loaded ahead with one is what it then runs (HTML standard, modulepreload).
 */
function verify(url: string, integrity: string, nonce: string): Promise<unknown> {
  const link = document.createElement('link')
  if (!link.relList.supports('modulepreload')) return Promise.resolve()
  const loading = new Promise((resolve, reject) => {
    link.onload = resolve
    link.onerror = reject
  })
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
  const load = async (file: string, integrity: string) => {
    const url = `${baseUrl}/${file}`
    if (tag.integrity) await verify(url, integrity, tag.nonce)
    return import(url)
  }
  let tries = 0
  /** Settles when the author has left: what is in their way is not shown, and so not counted. */
  let authoring: Promise<unknown> | undefined
  const loadStage: LoadStage = async () => {
    await authoring
    // Some browsers remember of an address that it could not be loaded (whatwg/html issue 6768).
    const again = tries++ === 0 ? '' : `?${tries}`
    const file = CAIRN_SNIPPET_RENDERER + again
    return (await load(file, CAIRN_SNIPPET_RENDERER_INTEGRITY)).createStage
  }
  const author = async (proof: object) =>
    (await load(CAIRN_SNIPPET_AUTHOR, CAIRN_SNIPPET_AUTHOR_INTEGRITY)).startAuthor(baseUrl, proof)
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
  window.cairn = Object.assign(waiting ?? {}, cairn, {
    q: undefined,
    author: (code: string) => quietly(() => author({ code }))(),
  })
  for (const call of calls) {
    safely(() => {
      const [name, ...args] = call
      cairn[name]?.(...(args as [never, never]))
    })
  }
  // Whoever writes a flow was led here from the dashboard, and picks an element of this page. Nothing
  // of the address is used but the ticket, and it stays in no bookmark.
  const [mark, ticket] = /#cairn-author=([\w-]+)$/.exec(location.href) ?? []
  if (mark) history.replaceState(history.state, '', location.href.slice(0, -mark.length))
  if (mark || sessionStorage['cairn-author']) authoring = author({ ticket }).catch(() => {})
}

safely(begin)
