import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** The width of an element, so that a drawing in it keeps its text size on every screen. */
export function useWidth(): { ref: { current: HTMLDivElement | null }; width: Signal<number> } {
  const ref = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry!.contentRect.width)
    })
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
