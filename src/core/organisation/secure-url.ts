const thisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * An address that keys may be fetched from: https, or http on this machine itself. Null for any other text,
 * and for an address with a user, a password or a fragment.
 */
export function secureUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || url.hash !== '') return null
  if (url.username !== '' || url.password !== '') return null
  if (url.protocol === 'https:') return url
  return url.protocol === 'http:' && thisMachine.test(url.hostname) ? url : null
}

/** An address for a message, without parts that may be secret: user, password, query and fragment. */
export function shownAddress(text: string): string {
  // Removes everything up to the last @, because a password in a mistyped address may contain anything.
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1…@').replace(/([?#]).+$/s, '$1…')
}
