import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { anchored } from './place.ts'

/**
 * A button with things to choose from below it. The browser closes it on Escape and on a press outside.
 * Its content closes it with `close`.
 */
export function Menu({
  label,
  look = '',
  children,
}: {
  label: ComponentChildren
  look?: 'quiet' | ''
  children: (close: () => void) => ComponentChildren
}) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const close = () => panel.current?.hidePopover()
  return (
    <div>
      <button type="button" class={`button ${look}`} popovertarget={id} aria-haspopup="dialog">
        {label}
      </button>
      <div
        id={id}
        ref={panel}
        popover="auto"
        class="menu-panel"
        {...anchored(opened =>
          opened.querySelector<HTMLElement>('a, button, input, select')?.focus(),
        )}
      >
        {children(close)}
      </div>
    </div>
  )
}
