import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

/**
 * A button with things to choose from below it. The browser closes it on Escape and on a press outside.
 * Its content closes it with `close`.
 */
export function Menu({
  label,
  class: more = '',
  children,
}: {
  label: ComponentChildren
  class?: string
  children: (close: () => void) => ComponentChildren
}) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const close = () => panel.current?.hidePopover()
  return (
    <div class={`menu ${more}`}>
      <button type="button" class="button" popovertarget={id} aria-haspopup="dialog">
        {label}
      </button>
      <div
        id={id}
        ref={panel}
        popover="auto"
        class="menu-panel"
        onToggle={event => {
          const element = event.currentTarget as HTMLElement
          if (event.newState !== 'open') return
          place(element, element.previousElementSibling as HTMLElement)
          element.querySelector<HTMLElement>('a, button, input, select')?.focus()
        }}
      >
        {children(close)}
      </div>
    </div>
  )
}

/** Places the panel below the button, or above if there is more room, and inside the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const gap = 6
  const left = Math.max(gap, Math.min(at.left, innerWidth - width - gap))
  const isBelow = at.bottom + gap + height <= innerHeight || at.top < innerHeight / 2
  const top = isBelow ? at.bottom + gap : Math.max(gap, at.top - height - gap)
  panel.style.left = `${left}px`
  panel.style.top = `${top}px`
}
