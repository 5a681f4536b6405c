import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

/**
 * A dialog over the page. The browser keeps the focus in it and gives it back, and Escape closes it.
 *
 * @param onClose absent if it cannot be closed without an answer
 */
export function Dialog({
  title,
  onClose,
  children,
  class: more = '',
}: {
  title: string
  onClose?: () => void
  children: ComponentChildren
  class?: string
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before anything is painted, so that what is typed next already goes into the dialog.
  useLayoutEffect(() => {
    const element = dialog.current!
    element.showModal()
    return () => element.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${more}`}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault()
        onClose?.()
      }}
      onPointerDown={event => event.target === dialog.current && onClose?.()}
    >
      <div class="dialog-body stack">
        <header class="split">
          <h2 id={id}>{title}</h2>
          {onClose && (
            <button type="button" class="button quiet square" onClick={onClose} aria-label="Close">
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  )
}
