import type { Cairn, Settings } from '../../web/snippet/api.ts'

/** Where Cairn is, and how its script is loaded. */
export interface CairnOptions extends Omit<Settings, 'baseUrl'> {
  /** Where pages reach your server: `https://cairn.example.com`. */
  url: string
  /** The nonce of your page's content security policy. */
  nonce?: string | undefined
  /** Loads only this version of the script, which the browser verifies; `cairn key show` prints both values. */
  pinned?: { file: string; integrity: string } | undefined
  /** Called if the script did not load, for example because of a blocker or a policy. Nothing else happens. */
  onLoadFailure?: ((error: Error) => void) | undefined
}

export interface CairnClient extends Cairn {
  /** Resolves with whether the script has loaded. On a server it never resolves. */
  readonly ready: Promise<boolean>
}

/** Puts the script's tag into the page, unless there is one. Rejects if the script does not load. */
export function loadSnippet(options: CairnOptions, { document }: Window): Promise<void> {
  const { url, key, nonce, pinned } = options
  const isThere = document.querySelector(`script[data-key="${CSS.escape(key)}"]`)
  const isLoaded = () => {
    const { cairn } = window as { cairn?: { identify?: unknown; q?: unknown } }
    return typeof cairn?.identify === 'function' && !cairn.q
  }
  if (isThere && isLoaded()) return Promise.resolve()
  const script = (isThere as HTMLScriptElement | null) ?? document.createElement('script')
  const loading = new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${script.src} ${why}`))
    script.addEventListener('load', () => {
      if (isLoaded()) resolve()
      else fail('is not the script of a Cairn')
    })
    script.addEventListener('error', () =>
      fail('could not be loaded: is it blocked, or is the address wrong?'),
    )
  })
  if (isThere) return loading
  const { keepQuery, identify, identifyTimeoutMs, headless } = options
  Object.assign(script.dataset, {
    key,
    ...(keepQuery && { keepQuery: 'true' }),
    ...(identify && { identify }),
    ...(identifyTimeoutMs !== undefined && { identifyTimeout: String(identifyTimeoutMs) }),
    ...(headless && { headless: 'true' }),
  })
  script.async = true
  if (nonce) script.nonce = nonce
  if (pinned) {
    script.integrity = pinned.integrity
    script.crossOrigin = 'anonymous'
  }
  script.src = `${url}/${pinned?.file ?? 'snippet.js'}`
  document.head.append(script)
  return loading
}
