import { safely } from '../safely.ts'
import { focusedIn } from './elements.ts'
import { choices, isTyping } from './focus.ts'

const presses = ['pointerdown', 'mousedown', 'touchstart']
const clicks = ['click', 'auxclick', 'contextmenu']
const releases = ['pointerup', 'mouseup', 'touchend', 'pointercancel', 'touchcancel']
/** Whether it tells that a press has ended. Keyboards and scripts click without a press. */
const ends = ({ type, detail }: Event & { detail?: number }) =>
  releases.includes(type) || (type === 'click' && detail !== 0)
const scrolls = ['wheel', 'touchmove']
const focuses = ['focusin', 'focusout', 'focus', 'blur']
const keys = ['keydown', 'keypress', 'keyup']

/** What the snippet's listeners read of an event. */
const read = ['key', 'shiftKey', 'altKey', 'ctrlKey', 'metaKey', 'isComposing'] as const

/** Whether a key is not for what has the focus: a page's shortcuts work on a card too. */
function isShortcut(
  { key = '', ctrlKey, altKey, metaKey }: KeyboardEvent,
  target: Element,
): boolean {
  const isCharacter = key.length === 1 && key !== ' '
  return ctrlKey || altKey || metaKey || /^F\d/.test(key) || (isCharacter && !isTyping(target))
}

/**
 * Keeps events on what the snippet shows from the page, so that no menu closes and no dialog takes the focus
 * back because something outside of it was used. The snippet's own listeners get copies. The browser acts
 * as usual: it follows a link, writes a letter. Only listeners that a page has put on the window before are
 * told.
 *
 * @returns what was last focused, if it is the snippet's
 */
export function shield(shadow: ShadowRoot, page: Window): () => HTMLElement | null {
  const { document } = page
  let isPressed = false
  let isTabbing = false
  let focused: HTMLElement | null = null

  const keep = (event: Event) => {
    const { type } = event
    const path = event.composedPath()
    const target = path[0] as HTMLElement
    const isOwn = path.includes(shadow)
    if (presses.includes(type)) isPressed = isOwn
    // The page may move the focus; people do so by mouse or keyboard.
    if (type === 'keydown') isTabbing = (event as KeyboardEvent).key === 'Tab'
    const isLeft = type === 'focusin' ? isTabbing : type === 'keydown' || type === 'pointerdown'
    if (!isOwn && isLeft) focused = null
    // What was pressed on a card may be let go beside it, and what the page drags on a card.
    if (isOwn ? releases.includes(type) && !isPressed : !isPressed || !ends(event)) return
    if (!isOwn) return event.stopImmediatePropagation()
    const copy = new Event(type, { bubbles: event.bubbles, cancelable: true })
    for (const name of read) Object.assign(copy, { [name]: (event as KeyboardEvent)[name] })
    const isHandled = !target.dispatchEvent(copy)
    // A list that a field of the page has opened closes when the field loses the focus.
    const field = focusedIn(document)
    const isKept =
      type === 'mousedown' &&
      document.activeElement !== shadow.host &&
      isTyping(field) &&
      !field?.matches(`iframe, ${choices}`)
    if (isHandled || (isKept && !target.closest('label, input, textarea, video')))
      event.preventDefault()
    if (keys.includes(type) && !isHandled && isShortcut(event as KeyboardEvent, target)) return
    event.stopImmediatePropagation()
  }
  for (const type of [...presses, ...releases, ...clicks, ...scrolls, ...focuses, ...keys]) {
    const passive = /touch|wheel/.test(type)
    page.addEventListener(type, event => safely(() => keep(event)), { capture: true, passive })
  }
  // From one of the snippet's elements to another one the focus moves unseen from outside.
  const note = ({ target }: Event) => {
    focused = target as HTMLElement
  }
  shadow.addEventListener('focusin', note, { capture: true })
  return () => focused
}
