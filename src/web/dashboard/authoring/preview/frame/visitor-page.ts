/** The address of a page that does not exist, with a name that no server ever has (RFC 6761). */
const nowhere = 'https://your-page.invalid/'

/** An address as its author wrote it. */
export const asWritten = (href: string): string => {
  const url = new URL(href)
  if (url.origin !== new URL(nowhere).origin) return href
  return url.pathname + url.search + url.hash
}

/**
 * The frame's window as the snippet has to see it: the window of a visitor's page that cannot be left.
 *
 * @param followed called with the address to which a visitor would have gone
 * @param address the address of the page, for what is relative to it
 */
export function visitorPage(followed: (href: string) => void, address = nowhere): Window {
  const leave = (href: string) => followed(asWritten(href))
  const own: Record<string, unknown> = {
    location: { href: address, origin: new URL(address).origin, assign: leave },
    open: leave,
    // The visitor's browser prefers the language of their page, whatever the author's browser prefers.
    navigator: { language: '', languages: [] },
  }
  const bound = new Map<PropertyKey, unknown>()
  return new Proxy(window, {
    get(target, name) {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name]
      const value = Reflect.get(target, name, target)
      // Methods of the window work only on the window itself. Classes are not methods.
      if (typeof value !== 'function' || 'prototype' in value) return value
      if (!bound.has(name)) bound.set(name, value.bind(target))
      return bound.get(name)
    },
  })
}

/** Keeps every link from leaving the preview, however it is pressed. */
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
