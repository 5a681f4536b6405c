import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

/** The name of a number. Its meaning is shown to anybody who points at the name or presses it. */
export function Defined({
  means,
  children,
}: {
  means: string | undefined
  children: ComponentChildren
}) {
  const id = useId()
  const note = useRef<HTMLSpanElement>(null)
  if (!means) return <>{children}</>
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
        class="term"
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={show}
        onBlur={hide}
        onClick={show}
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
