import { safely } from '../safely.ts'
import { focusedIn } from './elements.ts'
import { type Beside, leadTab } from './tab-order.ts'

/** Where the keyboard focus is while a card is shown. */

/** Fields in which nobody types. */
export const choices = '[type=radio], [type=checkbox]'

/** Someone who is typing is not interrupted. In a frame it cannot be seen whether they are. */
export const isTyping = (element: Element | null): boolean =>
  element !== null &&
  (element.matches('input, textarea, select, iframe') || (element as HTMLElement).isContentEditable)

/** Gives a card the focus, unless somebody types. Returns a function that gives it back. */
export function borrowFocus(card: HTMLElement, page: Window): () => void {
  const { document } = page
  const before = focusedIn(document) as HTMLElement | null
  if (!isTyping(before) || before?.matches(choices)) card.focus({ preventScroll: true })
  return () => {
    // If the person has moved the focus meanwhile, it stays there.
    const now = focusedIn(document)
    const isOurs = card.contains(now) || now === document.body
    if (isOurs && before?.isConnected) before.focus({ preventScroll: true })
  }
}

export interface Keys {
  leave(): void
  forward(): void
  backward(): void
}

/**
 * Handles Escape, arrows, and Tab, unless the card lies at the edge of the page.
 * Returns a function that ends it.
 */
export function listenToKeys(
  card: HTMLElement,
  beside: Beside | null,
  { leave, forward, backward }: Keys,
  page: Window,
): () => void {
  const { document } = page
  const root = card.getRootNode() as ShadowRoot
  const isInside = () => card.contains(root.activeElement)
  // A card at the edge is a part of the page, and Tab leads past it.
  const tab = card.matches('.banner, .slideout') ? null : leadTab(card, beside, page)

  const press = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    // Alt with an arrow key is the browser's own navigation.
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === 'Tab') return tab?.press(event)
    // A video has arrows of its own.
    if (event.key !== 'Escape' && root.activeElement?.matches('video')) return
    const isFree = document.activeElement === document.body
    const isRtl = page.getComputedStyle(card).direction === 'rtl'
    const actions: Record<string, () => void> = {
      Escape: leave,
      ArrowRight: isRtl ? backward : forward,
      ArrowLeft: isRtl ? forward : backward,
    }
    const isMeant = isInside() || (isFree && event.key === 'Escape')
    // In a field, arrows belong to the field.
    const isField = event.key !== 'Escape' && isTyping(root.activeElement)
    const action = isMeant && !isField ? actions[event.key] : undefined
    if (!action) return
    event.preventDefault()
    // The card may be in a dialog of the page, which the key must not close.
    if (isInside()) event.stopPropagation()
    action()
  }
  const pressed = (event: KeyboardEvent) => safely(() => press(event))
  // On the card too, because a page may keep key presses from the document.
  card.addEventListener('keydown', pressed)
  document.addEventListener('keydown', pressed)
  return () => {
    card.removeEventListener('keydown', pressed)
    document.removeEventListener('keydown', pressed)
    tab?.end()
  }
}
