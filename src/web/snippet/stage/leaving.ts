import { safely } from '../safely.ts'
import type { Host } from './host.ts'
import { make } from './make.ts'
import { isCalm, leaveMs } from './motion.ts'
import type { Box } from './placing.ts'

/** Where what went a moment ago was, so that what comes next goes on from there. */
export interface Left {
  card: Box | null
  /** Around the element; null where nothing was. */
  frame: Box | null
  isDimmed: boolean
}

const leaving = new WeakMap<Host, { left: Left; end(): void }>()

/**
 * Takes what is drawn off the page: it fades, and cannot be used any more. To whoever looks for cards
 * it is gone at once.
 */
export function takeAway(root: HTMLElement, host: Host, page: Window): void {
  takeOver(host)
  const card = root.querySelector<HTMLElement>('.card')
  if (!card?.isConnected || isCalm(page)) {
    root.remove()
    return
  }
  const frame = root.querySelector('.ring')?.getBoundingClientRect() ?? null
  const isModal = card.localName === 'dialog'
  const isDimmed = isModal || root.querySelector('.veil') !== null
  const left = { card: card.getBoundingClientRect(), frame, isDimmed }
  root.inert = true
  for (const gone of root.querySelectorAll('.ring, .spot')) gone.remove()
  for (const named of root.querySelectorAll('[id]')) named.removeAttribute('id')
  if (isModal) {
    // Closed, so that the page has the keyboard again; shown anew, a dialog would take it back.
    const ghost = make(page, 'div', 'ghost modal', { popover: 'manual' }, ...card.childNodes)
    card.replaceWith(ghost)
    safely(() => ghost.showPopover())
  } else card.classList.replace('card', 'ghost')
  root.classList.add('leaves')
  const timer = page.setTimeout(() => end(), leaveMs)
  const end = () => {
    page.clearTimeout(timer)
    leaving.delete(host)
    root.remove()
  }
  leaving.set(host, { left, end })
}

/** What is just going, which is gone with that; null where nothing is. */
export function takeOver(host: Host): Left | null {
  const { left, end } = leaving.get(host) ?? {}
  end?.()
  return left ?? null
}
