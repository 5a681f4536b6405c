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

/** As far as can be told: nobody can see through a `Proxy`. */
const isNative = (made: unknown): boolean =>
  typeof made === 'function' &&
  !made.name.startsWith('bound ') &&
  /\[native code\]\s*\}$/.test(Function.prototype.toString.call(made))

let host: HTMLElement | undefined
let frame: HTMLIFrameElement | undefined

/** Under this name the page's script leaves all of this for the files that it loads. */
export const nativesName = Symbol.for('cairn')

/** In a closed shadow tree, so that the page has no frame more while it is there. */
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
/** Whether the page's is another one. */
const isTaken = ownFetch !== page.fetch
const ownBeacon = own(realm => realm.Navigator.prototype.sendBeacon)
const json = own(realm => realm.Response.prototype.json)
const parse = own(realm => realm.JSON.parse)
const stringify = own(realm => realm.JSON.stringify)
host?.remove()

const toJsonOf = (value: unknown) => (value as { toJSON?: unknown } | null | undefined)?.toJSON

/** Passes over a `toJSON` that a library has put on every array, object or date, which makes a text of it. */
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

/** Of an asynchronous function, because promises of a frame that is gone are never settled. */
export const OwnPromise = (async () => {})().constructor as PromiseConstructor

/** Asks as `fetch` does, but without what the page has added to objects. */
export async function ask(url: string, asked: RequestInit): Promise<Response> {
  const init = { __proto__: null, ...asked } as RequestInit
  try {
    return await ownFetch.call(page, url, init)
  } catch (error) {
    if (!isTaken) throw error
    // Not every browser may let a function of a frame that is gone ask. The page's own may never answer.
    const tooLate = new OwnPromise<never>((_, reject) => {
      init.signal?.addEventListener('abort', reject)
    })
    return OwnPromise.race([page.fetch(url, init), tooLate])
  }
}

export const sendBeacon = (url: string, body: Blob): boolean =>
  ownBeacon.call(page.navigator, url, body)

/** The JSON in an answer. */
// biome-ignore lint/suspicious/noExplicitAny: as `json` of a response
export const jsonIn = (answer: Response): Promise<any> => json.call(answer)
