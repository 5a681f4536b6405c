/** An origin as browsers send it; or what is wrong with it, and perhaps what to write instead. */
export type ReadOrigin = { origin: string } | { fault: string; instead?: string }

/**
 * One origin as browsers send it (RFC 6454, section 6.2): scheme, host and a port that is not the
 * scheme's own, in lower case. Extension schemes count too.
 */
export function readOrigin(given: string): ReadOrigin {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)(.*)$/i.exec(given.trim())
  if (!parts) return { fault: 'write scheme://host, such as https://app.example.com' }
  const [, scheme = '', authority = '', rest = ''] = parts
  const bare = `${scheme}://${authority}`.toLowerCase()
  if (rest !== '') return { fault: 'an origin has no path', instead: bare }
  if (/^https?$/i.test(scheme)) {
    if (URL.canParse(bare) && !authority.includes('*')) return { origin: new URL(bare).origin }
    return { fault: 'write the host in full, such as https://app.example.com' }
  }
  if (/^[a-z0-9._-]+(?::\d{1,5})?$/i.test(authority)) return { origin: bare }
  return { fault: 'write scheme://host, such as chrome-extension://abcdefghijklmnop' }
}
