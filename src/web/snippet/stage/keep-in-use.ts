import { safely } from '../safely.ts'

/** In this time after a release the browser has made its click, milliseconds. */
const clickMs = 50

/**
 * Keeps what a person is doing with what is shown, while its host is moved, or removed by the page and put
 * back: browsers then take the focus away, and make no click of a press that has begun before.
 */
export function keepInUse(shadow: ShadowRoot, page: Window) {
  const { document } = page
  /** What had the focus last, until the person does something elsewhere. */
  let focused: HTMLElement | null = null
  let pressed: HTMLElement | null = null
  let hasMoved = false

  const listen = (
    on: EventTarget,
    name: string,
    listener: (event: Event) => void,
    capture = false,
  ) => on.addEventListener(name, event => safely(() => listener(event)), capture)

  listen(shadow, 'focusin', ({ target }) => {
    focused = target as HTMLElement
  })
  for (const name of ['pointerdown', 'keydown']) {
    const leave = (event: Event) => {
      if (!event.composedPath().includes(shadow.host)) focused = null
    }
    listen(page, name, leave, true)
  }
  listen(shadow, 'pointerdown', event => {
    const isMain = !(event as PointerEvent).button
    pressed = isMain ? (event.target as Element).closest('button, a, label, input') : null
    hasMoved = false
  })
  listen(shadow, 'pointerup', ({ target }) => {
    const button = pressed
    pressed = null
    if (!hasMoved || !button?.contains(target as Element)) return
    const timer = page.setTimeout(() => button.click(), clickMs)
    button.addEventListener('click', () => page.clearTimeout(timer), { once: true })
  })

  return {
    /** To be called once the host is where it belongs. */
    goOn() {
      hasMoved = true
      const isFree = document.activeElement === document.body
      // A page that opens its dialog anew takes the focus, but not from somebody who is typing.
      if (isFree || focused?.matches('input, textarea')) focused?.focus({ preventScroll: true })
    },
  }
}
