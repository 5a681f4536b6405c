import { isTyping } from '../../snippet/stage/focus.ts'
import type { Place } from '../place.ts'

/**
 * Shortcuts that work wherever the focus is, on the page too: a menu that is to be frozen closes once the
 * builder is used.
 *
 * @returns a function that ends them
 */
export function listenToShortcuts(
  { shadow }: Place,
  on: { freeze(): void; undo(): void; focus(): void },
): () => void {
  const press = (event: KeyboardEvent) => {
    // By the key's place: with Alt, a Mac types other letters.
    const withAlt = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey
    const act = withAlt ? { KeyF: on.freeze, KeyB: on.focus }[event.code] : undefined
    if (!act) return
    event.preventDefault()
    event.stopImmediatePropagation()
    act()
  }
  // In a field, the browser undoes what was typed.
  const undo = (event: Event) => {
    const { key, ctrlKey, metaKey } = event as KeyboardEvent
    if (key?.toLowerCase() !== 'z' || !(ctrlKey || metaKey) || isTyping(shadow.activeElement))
      return
    event.preventDefault()
    on.undo()
  }
  window.addEventListener('keydown', press, { capture: true })
  shadow.addEventListener('keydown', undo)
  return () => {
    window.removeEventListener('keydown', press, { capture: true })
    shadow.removeEventListener('keydown', undo)
  }
}
