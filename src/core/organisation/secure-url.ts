const thisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * An address that keys may be fetched from: https, or http on this machine itself. Null for any
 * other text, and for one with a user, a password or a fragment.
 */
export function secureUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || url.hash !== '') return null
  if (url.username !== '' || url.password !== '') return null
  if (url.protocol === 'https:') return url
  return url.protocol === 'http:' && thisMachine.test(url.hostname) ? url : null
}

/** An address in a message, without what can be a secret in it: user, password, query and fragment. */
export function shownAddress(text: string): string {
  // Up to the last @, because a password may hold anything where an address is mistyped.
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1…@').replace(/([?#]).+$/s, '$1…')
}
