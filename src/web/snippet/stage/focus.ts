/** Where the keyboard is while a card is shown. */

const controls = 'button:not(:disabled), a[href]'

/** Someone who is typing is not interrupted. */
function isTyping(element: Element | null): boolean {
  if (!element) return false
  const { localName } = element
  return (
    localName === 'input' || localName === 'textarea' || (element as HTMLElement).isContentEditable
  )
}

/** Gives a card the focus, unless somebody types. Returns a function that gives it back. */
export function borrowFocus(card: HTMLElement, page: Window): () => void {
  const { document } = page
  const before = document.activeElement as HTMLElement | null
  if (!isTyping(before)) card.focus({ preventScroll: true })
  return () => {
    // What the person has gone to meanwhile keeps it.
    const host = (card.getRootNode() as ShadowRoot).host
    const isOurs = document.activeElement === host || document.activeElement === document.body
    if (isOurs && before?.isConnected && before !== document.body)
      before.focus({ preventScroll: true })
  }
}

export interface Keys {
  leave(): void
  forward(): void
  backward(): void
}

/**
 * Escape, arrows, and Tab, which goes round in the card (and over an element that belongs to it).
 * Returns a function that ends it.
 */
export function listenToKeys(
  card: HTMLElement,
  also: Element | null,
  { leave, forward, backward }: Keys,
  page: Window,
): () => void {
  const { document } = page
  const root = card.getRootNode() as ShadowRoot
  const isInside = () => document.activeElement === root.host && card.contains(root.activeElement)

  const goRound = (event: KeyboardEvent) => {
    const ring = [...card.querySelectorAll<HTMLElement>(controls)]
    if (also instanceof (page as Window & typeof globalThis).HTMLElement) ring.push(also)
    const at = ring.indexOf(
      (isInside() ? root.activeElement : document.activeElement) as HTMLElement,
    )
    if (at < 0 && !isInside()) return
    const step = event.shiftKey ? -1 : 1
    const next = at < 0 ? (event.shiftKey ? ring.length - 1 : 0) : at + step
    event.preventDefault()
    ring[(next + ring.length) % ring.length]?.focus()
  }

  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const isFree = document.activeElement === document.body
    if (event.key === 'Tab') return goRound(event)
    if (!isInside() && !isFree) return
    const isRtl = page.getComputedStyle(card).direction === 'rtl'
    const actions: Record<string, () => void> = {
      Escape: leave,
      ArrowRight: isRtl ? backward : forward,
      ArrowLeft: isRtl ? forward : backward,
    }
    const action = isInside() || event.key === 'Escape' ? actions[event.key] : undefined
    if (!action) return
    event.preventDefault()
    action()
  }
  document.addEventListener('keydown', pressed)
  return () => document.removeEventListener('keydown', pressed)
}
