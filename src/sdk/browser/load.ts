import type { CairnOptions } from './index.ts'

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
