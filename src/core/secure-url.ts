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
