/**
 * Listens on the window in the capturing phase. To be called before anything else that keeps events from others
 * listens there.
 *
 * @param listeners by the names of their events
 * @returns a function that ends it
 */
export function listenFirst(listeners: Record<string, (event: never) => void>): () => void {
  const entries = Object.entries(listeners) as [string, EventListener][]
  for (const [name, listener] of entries) {
    window.addEventListener(name, listener, { capture: true, passive: false })
  }
  return () => {
    for (const [name, listener] of entries) {
      window.removeEventListener(name, listener, { capture: true })
    }
  }
}
