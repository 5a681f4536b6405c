import { safely } from './safely.ts'

/**
 * What requests need and a page's other scripts overwrite, as the browser made it: monitors wrap `fetch`, and
 * libraries replace `JSON` and `Promise`. It is taken once, as the snippet is loaded. What was overwritten before
 * that is taken from an empty frame, which is removed at once: these functions work without it.
 *
 * `JSON` and `Promise` mean those of this file in every module of the snippet: see `bundling.ts`.
 */

type Realm = Window & typeof globalThis

const page = globalThis as Realm

/** A `Proxy` around a native function passes for one: nothing distinguishes them. */
const isNative = (made: unknown): boolean =>
  typeof made === 'function' &&
  !made.name.startsWith('bound ') &&
  /\[native code\]\s*\}$/.test(Function.prototype.toString.call(made))

let host: HTMLElement | undefined
let frame: HTMLIFrameElement | undefined

/** The page's script shares this module under this name with the files that it loads. */
export const nativesName = Symbol.for('cairn')

/** In a closed shadow tree, so that `window.frames` of the page stays as it is. */
function emptyFrame(): HTMLIFrameElement {
  const { document } = page
  host = document.createElement('div')
  const made = document.createElement('iframe')
  host.attachShadow({ mode: 'closed' }).append(made)
  document.documentElement.append(host)
  return made
}

function own<Made>(read: (realm: Realm) => Made): Made {
  const made = safely(() => read(page)) as Made
  if (safely(() => isNative(made))) return made
  const realm = () => {
    frame ??= emptyFrame()
    return frame.contentWindow as Realm
  }
  return safely(() => read(realm())) ?? made
}

const ownFetch = own(realm => realm.fetch)
/** Whether the page has replaced `fetch`. */
const isTaken = ownFetch !== page.fetch
const ownBeacon = own(realm => realm.Navigator.prototype.sendBeacon)
const json = own(realm => realm.Response.prototype.json)
const parse = own(realm => realm.JSON.parse)
const stringify = own(realm => realm.JSON.stringify)
host?.remove()

const toJsonOf = (value: unknown) => (value as { toJSON?: unknown } | null | undefined)?.toJSON

/** Ignores a `toJSON` that a library has added to all arrays, objects or dates, which makes a string of them. */
function bare(this: Record<string, unknown>, name: string, made: unknown): unknown {
  const value = this[name]
  // JSON has none.
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return Number.isNaN(+value) ? null : value.toISOString()
  const added = [toJsonOf([]), toJsonOf({})]
  return added.includes(toJsonOf(value)) ? value : made
}

export const OwnJSON = {
  parse,
  stringify: (value: unknown, _?: null, space?: number) => stringify(value, bare, space),
}

/** From an async function, because promises of a removed frame never settle. */
export const OwnPromise = (async () => {})().constructor as PromiseConstructor

/** The browser's `fetch`, without what the page has added to `Object.prototype`. */
export async function request(url: string, options: RequestInit): Promise<Response> {
  const init = { __proto__: null, ...options } as RequestInit
  try {
    return await ownFetch.call(page, url, init)
  } catch (error) {
    if (!isTaken) throw error
    // Some browsers may reject requests by a removed frame's `fetch`. The page's own may never settle.
    const tooLate = new OwnPromise<never>((_, reject) => {
      init.signal?.addEventListener('abort', reject)
    })
    return OwnPromise.race([page.fetch(url, init), tooLate])
  }
}

export const sendBeacon = (url: string, body: Blob): boolean =>
  ownBeacon.call(page.navigator, url, body)

/** The body of a response as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: as `Response.json`
export const jsonIn = (response: Response): Promise<any> => json.call(response)
