import type { Proof } from '../author/session.ts'
import { earlyCalls } from './calls.ts'
import { createCairn } from './create.ts'
import type { LoadStage, LoadTiming } from './engine.ts'
import { isFrameShown } from './frame.ts'
import * as natives from './natives.ts'
import type { PageParts } from './part-files.ts'
import type { Cairn } from './parts.ts'
import type * as Renderer from './renderer.ts'
import { quietly, safely } from './safely.ts'
import { warn } from './warn.ts'

/** The script that a page names in its tag; see the manual, `install-the-snippet`. */

declare const CAIRN_SNIPPET_RENDERER: string
declare const CAIRN_SNIPPET_RENDERER_INTEGRITY: string
declare const CAIRN_SNIPPET_HEADLESS: string
declare const CAIRN_SNIPPET_HEADLESS_INTEGRITY: string
declare const CAIRN_SNIPPET_TIMING: string
declare const CAIRN_SNIPPET_TIMING_INTEGRITY: string

/** What `window.cairn` holds until the script has loaded: calls, in the order in which they came. */
interface Waiting {
  q?: Call[]
  /** A draft is previewed or built here: nothing else is shown or counted until that is over. */
  isHeld?: boolean
}
type Call = [name: keyof Cairn, ...args: never[]] & {
  /** Takes what the call answers. */
  r?(answer: unknown): void
}

declare const window: Window & { cairn?: Cairn & Waiting }

/**
 * Verifies what the script loads, as the page has the script itself verified. `import` takes no integrity
 * hash, but then runs what was loaded ahead with one (HTML standard, modulepreload).
 */
async function verify(url: string, integrity: string, nonce: string): Promise<void> {
  const link = document.createElement('link')
  if (!link.relList.supports('modulepreload')) return
  const loading = new Promise((resolve, reject) => {
    link.onload = resolve
    link.onerror = reject
  })
  const rel = 'modulepreload'
  Object.assign(link, { rel, integrity, nonce, crossOrigin: 'anonymous', href: url })
  document.head.append(link)
  try {
    await loading
  } finally {
    link.remove()
  }
}

/** Keeps calls for later, if the page itself has nothing that does. */
function keeping(): Waiting {
  const q: Call[] = []
  const keep =
    (name: keyof Cairn) =>
    (...args: never[]) =>
      new Promise(r => q.push(Object.assign([name, ...args] as Call, { r })))
  const on = (name: never, listener?: (what: unknown) => void) => {
    q.push(['on', name, ((what: unknown) => listener?.(what)) as never])
    return () => {
      listener = undefined
    }
  }
  return {
    ...Object.fromEntries(earlyCalls.map(name => [name, keep(name)])),
    ...{ q, on },
    ...{ isActive: () => false, progress: () => null },
  }
}

function begin(): void {
  const tag = document.currentScript as HTMLScriptElement | null
  const key = tag?.dataset.key
  if (!tag || !key) {
    warn('the script tag needs data-key, and must not be type="module"')
    return
  }
  const before = window.cairn
  // `window.cairn` may also be an element with this id.
  const isOurs = typeof before?.identify === 'function'
  const waiting = isOurs || Array.isArray(before?.q) ? before : undefined
  // A second tag, or the same one once more after a navigation.
  if (isOurs && (!before?.q || before.isHeld)) return
  Object.assign(window, { [natives.nativesName]: natives })
  const baseUrl = new URL('.', tag.src).href.slice(0, -1)
  const failures: Record<string, number> = {}
  const load = async (file: string, integrity: string) => {
    // Some browsers remember that an address could not be loaded (whatwg/html issue 6768).
    const again = failures[file] ? `?${failures[file]}` : ''
    const url = `${baseUrl}/${file}${again}`
    try {
      if (tag.integrity) await verify(url, integrity, tag.nonce)
      return await import(url)
    } catch (error) {
      failures[file] = (failures[file] ?? 0) + 1
      throw error
    }
  }
  const loadRenderer = (): Promise<typeof Renderer> =>
    settings.headless
      ? load(CAIRN_SNIPPET_HEADLESS, CAIRN_SNIPPET_HEADLESS_INTEGRITY)
      : load(CAIRN_SNIPPET_RENDERER, CAIRN_SNIPPET_RENDERER_INTEGRITY)
  // A browser does not load again what it has imported.
  const loadPart = async <Name extends keyof PageParts>(name: Name): Promise<PageParts[Name]> => {
    const [file, integrity] = (await loadRenderer()).partFiles[name]
    return load(file, integrity)
  }
  const loadStage: LoadStage = async () => {
    const { createStage } = await loadRenderer()
    return deps => createStage({ ...deps, loadPart })
  }
  const loadTiming: LoadTiming = async () =>
    (await load(CAIRN_SNIPPET_TIMING, CAIRN_SNIPPET_TIMING_INTEGRITY)).createTiming
  const author = async (proof: Proof) =>
    (await loadPart('author')).startAuthor({ baseUrl, proof, loadStage }, window.cairn!)
  const { keepQuery = 'false', headless = 'false', identify, identifyTimeout, locale } = tag.dataset
  const settings = {
    baseUrl,
    key,
    keepQuery: keepQuery !== 'false',
    headless: headless !== 'false',
    ...(locale && { locale }),
    // Any other value is warned about.
    ...(identify !== undefined && { identify: identify as 'wait' }),
    ...(identifyTimeout !== undefined && { identifyTimeoutMs: Number.parseFloat(identifyTimeout) }),
  }
  const previewed = async (ticket?: string) =>
    (await loadPart('preview')).startPreview({ baseUrl, ticket, loadStage }, window.cairn!)
  // The author of a flow was led here, to work on this page or to look at a draft. Only the ticket of the
  // address is used, and it is removed so that it stays in no bookmark.
  const [mark, what, ticket] = /#cairn-(author|preview)=([\w-]+)$/.exec(location.href) ?? []
  if (mark) history.replaceState(history.state, '', location.href.slice(0, -mark.length))
  const start = () => {
    const held = window.cairn?.isHeld ? window.cairn : waiting
    const cairn = createCairn(settings, { loadStage, loadPart, loadTiming }, window)
    const calls = held?.q ?? []
    // The same object is kept, because a page may have put it into a variable of its own.
    window.cairn = Object.assign(held ?? {}, cairn, {
      q: undefined,
      author: (code: string) => quietly(() => author({ code }))(),
    })
    for (const call of calls) {
      safely(() => {
        const [name, ...args] = call as [keyof Cairn, ...never[]]
        const own = cairn[name] as ((...args: never[]) => unknown) | undefined
        const answer = own?.(...args)
        call.r?.(answer)
      })
    }
  }
  // The frames of a tab share its session, also those that are hidden.
  const works = { preview: previewed, author: (ticket?: string) => author({ ticket }) }
  const isGoingOn = (name: string) =>
    isFrameShown(window) && safely(() => sessionStorage[`cairn-${name}`])
  const name = (what ?? Object.keys(works).find(isGoingOn)) as keyof typeof works | undefined
  if (!name) {
    start()
    return
  }
  window.cairn = Object.assign((waiting?.q ? waiting : keeping()) as Cairn, { isHeld: true })
  works[name](ticket)
    .catch(() => {})
    .then(() => safely(start))
}

safely(begin)
