/** Where a link may lead; the server refuses others when a flow is published. */
const safeSchemes = ['https:', 'http:', 'mailto:', 'tel:']

/** The address that a link leads to, whole; null where a page must not follow it. */
export function safeHref(href: string, { location }: Window): string | null {
  const url = URL.parse(href, location.href)
  return url && safeSchemes.includes(url.protocol) ? url.href : null
}

/** Whether it is another site's page; mail and telephone programs open beside this one. */
export const isElsewhere = (href: string, { location }: Window): boolean =>
  href.startsWith('http') && new URL(href).origin !== location.origin

/** Whether an image or video may be loaded from there: by https, from the page's origin, or from this machine. */
export function isSafeSource(href: string, { location }: Window): boolean {
  const { protocol, origin, hostname } = new URL(href)
  if (protocol === 'https:' || origin === location.origin) return protocol.startsWith('http')
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
