import { safely } from '../../snippet/safely.ts'
import type { Place } from '../place.ts'

/** Keeps the builder above what the stage draws, with the focus and the scrolling that it had. */
export function keepOnTop(place: Place, root: HTMLElement) {
  /** The field to give the focus back to, once the step is drawn. */
  let field: HTMLElement | null = null
  const focused = () => place.shadow.activeElement as HTMLElement | null

  /** Moves the builder. What is scrolled in it would begin anew otherwise. */
  const moving = (move: () => void) => {
    const scrolled = [...root.querySelectorAll('.panel, .strip, textarea')].map(
      part => [part, part.scrollLeft, part.scrollTop] as const,
    )
    move()
    for (const [part, left, top] of scrolled) part.scrollTo({ left, top, behavior: 'instant' })
  }

  return {
    focused,
    forgetFocus() {
      field = null
    },
    /** Puts the builder above the step that was just drawn, and into it if it is modal. */
    raise() {
      const wanted = focused() ?? field
      field = null
      moving(() => {
        place.attach()
        if (!root.isConnected) return
        if (root.matches(':popover-open')) root.hidePopover()
        root.showPopover()
      })
      if (!wanted?.isConnected || focused() === wanted) return
      const { selectionStart, selectionEnd } = wanted as HTMLTextAreaElement
      wanted.focus({ preventScroll: true })
      safely(() => (wanted as HTMLTextAreaElement).setSelectionRange(selectionStart, selectionEnd))
    },
    /** A modal step that is taken away must not take the builder with it. */
    leaveStep() {
      field = focused() ?? field
      if (place.shadow.host.getRootNode() === document) return
      moving(() => {
        place.leave()
        root.showPopover()
      })
    },
  }
}
