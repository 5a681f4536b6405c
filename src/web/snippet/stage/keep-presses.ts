import { safely } from '../safely.ts'

/** In this time after a release the browser has made its click, milliseconds. */
const clickMs = 50

/**
 * Keeps a press on what is shown while its host is moved, or removed by the page and put back: browsers
 * make no click of a press that has begun before.
 */
export function keepPresses(shadow: ShadowRoot, page: Window) {
  let pressed: HTMLElement | null = null
  let hasMoved = false
  const press = (event: Event) => {
    const isMain = !(event as PointerEvent).button
    pressed = isMain ? (event.target as Element).closest('button, a, label, input') : null
    hasMoved = false
  }
  const release = ({ target }: Event) => {
    const button = pressed
    pressed = null
    if (!hasMoved || !button?.contains(target as Element)) return
    const timer = page.setTimeout(() => button.click(), clickMs)
    button.addEventListener('click', () => page.clearTimeout(timer), { once: true })
  }
  shadow.addEventListener('pointerdown', event => safely(() => press(event)))
  shadow.addEventListener('pointerup', event => safely(() => release(event)))
  return {
    /** To be called when the host was moved. */
    moved() {
      hasMoved = true
    },
  }
}
