/** The address of the page that there is not: a name that no server ever has (RFC 6761). */
const nowhere = 'https://your-page.invalid/'

/** An address as its author wrote it. */
export const asWritten = (href: string): string => {
  const url = new URL(href)
  if (url.origin !== new URL(nowhere).origin) return href
  return url.pathname + url.search + url.hash
}

/**
 * The frame's window as the snippet is to see it: that of a visitor's page, which cannot be left.
 *
 * @param followed told of where a visitor would have gone
 * @param address the page's, for what stands beside it
 */
export function visitorPage(followed: (href: string) => void, address = nowhere): Window {
  const leave = (href: string) => followed(asWritten(href))
  const own: Record<string, unknown> = {
    location: { href: address, origin: new URL(address).origin, assign: leave },
    open: leave,
    // The visitor's browser prefers what their page is in, whatever the author's does.
    navigator: { language: '', languages: [] },
  }
  const bound = new Map<PropertyKey, unknown>()
  return new Proxy(window, {
    get(target, name) {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name]
      const value = Reflect.get(target, name, target)
      // Its methods work on the window alone; a class is none.
      if (typeof value !== 'function' || 'prototype' in value) return value
      if (!bound.has(name)) bound.set(name, value.bind(target))
      return bound.get(name)
    },
  })
}

/** No link leaves the preview, however it is pressed. */
export function holdLinks(followed: (href: string) => void): void {
  const hold = (event: Event) => {
    const link = event.composedPath().find(one => one instanceof HTMLAnchorElement)
    if (!link?.href) return
    event.preventDefault()
    followed(asWritten(link.href))
  }
  addEventListener('click', hold, true)
  addEventListener('auxclick', hold, true)
  addEventListener('dragstart', event => event.preventDefault(), true)
}
