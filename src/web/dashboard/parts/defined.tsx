import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

/** A name. Its meaning is shown to anybody who points at it or presses it, unless a press does something else. */
export function Defined({
  means,
  act,
  children,
}: {
  means: string | undefined
  /** What a press does in place of showing the meaning. */
  act?: (() => void) | undefined
  children: ComponentChildren
}) {
  const id = useId()
  const note = useRef<HTMLSpanElement>(null)
  if (!means && !act) return <>{children}</>
  if (!means) {
    return (
      <button type="button" class="sort" onClick={act}>
        {children}
      </button>
    )
  }
  const show = (event: Event) => {
    const panel = note.current!
    const at = (event.currentTarget as HTMLElement).getBoundingClientRect()
    panel.showPopover()
    const left = Math.max(8, Math.min(at.left, innerWidth - panel.offsetWidth - 8))
    const isBelow = at.bottom + panel.offsetHeight + 12 < innerHeight
    panel.style.left = `${left}px`
    panel.style.top = `${isBelow ? at.bottom + 6 : at.top - panel.offsetHeight - 6}px`
  }
  const hide = () => note.current?.hidePopover()
  return (
    <span class="defined">
      <button
        type="button"
        class={act ? 'term sort' : 'term'}
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={show}
        onBlur={hide}
        onClick={act ?? show}
        onKeyDown={event => event.key === 'Escape' && hide()}
      >
        {children}
      </button>
      <span id={id} ref={note} popover="manual" role="tooltip" class="tip">
        {means}
      </span>
    </span>
  )
}
