import { signal } from '@preact/signals'
import { addressOfPage } from './offered.ts'
import { routes } from './routes.ts'
import { hasLetters } from './settings.ts'

/** The dialog of the shell that is open. */
export const opened = signal<'jump' | 'help' | null>(null)

/** How long after `g` the second letter may come. */
const patienceMs = 1_500

/** The flow editor is in a shadow root, and the target of an event does not reach into it. */
const isTyping = (event: KeyboardEvent) => {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

/** Listens for shortcuts, but never for those that browsers and screen readers have themselves. */
export function listen(go: (address: string) => void): () => void {
  let goUntil = 0
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
      event.preventDefault()
      opened.value = opened.value === 'jump' ? null : 'jump'
      return
    }
    const isOver = document.querySelector('dialog[open]') !== null
    if (ctrlKey || metaKey || altKey || isTyping(event) || isOver || !hasLetters.value) return
    if (key === '?') opened.value = 'help'
    else if (key === 'g') goUntil = event.timeStamp + patienceMs
    else if (event.timeStamp < goUntil) {
      goUntil = 0
      const route = routes.find(({ nav }) => nav?.letter === key)
      if (route) go(addressOfPage(route))
    }
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}
