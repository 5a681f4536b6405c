import { safely } from '../safely.ts'
import type { Host } from './host.ts'
import { make } from './make.ts'
import { isCalm, leaveMs } from './motion.ts'
import type { Box } from './placing.ts'

/** Where the drawing that has just left was, so that the next one goes on from there. */
export interface Left {
  card: Box | null
  /** The frame around the element; null if there was none. */
  frame: Box | null
  isDimmed: boolean
}

const leaving = new WeakMap<Host, { left: Left; end(): void }>()

/**
 * Takes a drawing off the page. It fades, and cannot be used any more. For code that looks for cards, it
 * is gone at once.
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
    // The dialog is closed, so that the page has the keyboard again. Shown anew, it would take it back.
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

/** Where the drawing that is just leaving was, which is removed at once; null if there is none. */
export function takeOver(host: Host): Left | null {
  const { left, end } = leaving.get(host) ?? {}
  end?.()
  return left ?? null
}
