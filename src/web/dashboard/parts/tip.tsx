import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { place } from './place.ts'

/**
 * Words with a plain sentence about them: read aloud with the control or cell they stand in, shown to
 * whoever points at them, presses them, or has the focus on that control. It adds no stop for the
 * keyboard.
 */
export function Tip({
  text,
  children,
}: {
  text: ComponentChildren | undefined
  children: ComponentChildren
}) {
  const id = useId()
  const term = useRef<HTMLSpanElement>(null)
  const panel = useRef<HTMLSpanElement>(null)
  const shown = useRef<AbortController | null>(null)
  const hide = () => {
    shown.current?.abort()
    panel.current?.hidePopover()
  }
  const show = () => {
    hide()
    panel.current!.showPopover()
    place(panel.current!, term.current!)
    shown.current = new AbortController()
    const { signal } = shown.current
    window.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { signal })
    window.addEventListener('pointerdown', hide, { signal })
  }
  useEffect(() => {
    const holder = term.current?.closest(
      'button, a, summary, th, td, dt, label, legend, h2, h3, h4, p, li',
    )
    holder?.setAttribute('aria-describedby', id)
    holder?.addEventListener('focus', show)
    holder?.addEventListener('blur', hide)
    return () => {
      shown.current?.abort()
      holder?.removeAttribute('aria-describedby')
      holder?.removeEventListener('focus', show)
      holder?.removeEventListener('blur', hide)
    }
  }, [text === undefined])
  if (text === undefined) return <>{children}</>
  const onMouse = (act: () => void) => (event: PointerEvent) => {
    if (event.pointerType === 'mouse') act()
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its text is the description of what it stands in */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the focus of what it stands in shows it too */}
      <span
        ref={term}
        class="term"
        onPointerEnter={onMouse(show)}
        onPointerLeave={onMouse(hide)}
        onClick={show}
      >
        {children}
      </span>
      <span id={id} ref={panel} popover="manual" role="tooltip" class="tip">
        {text}
      </span>
    </>
  )
}
