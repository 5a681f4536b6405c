import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** How wide an element is, so that what is drawn in it keeps its size of text on every screen. */
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
