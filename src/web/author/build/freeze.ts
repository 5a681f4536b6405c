import { safely } from '../../snippet/safely.ts'
import type { Place } from '../place.ts'

/** What pages close a menu by: the pointer, the focus, a key, a scroll or a hidden page. */
const closing = [
  ...['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'auxclick', 'contextmenu'],
  ...['touchstart', 'touchend', 'pointermove', 'mousemove', 'pointerover', 'pointerout'],
  ...['pointerenter', 'pointerleave', 'mouseover', 'mouseout', 'mouseenter', 'mouseleave'],
  ...['focus', 'blur', 'focusin', 'focusout', 'keydown', 'keyup', 'keypress'],
  ...['scroll', 'wheel', 'visibilitychange'],
]
/** Of these, what the browser itself must not act on: it would follow a link, or move the focus. */
const acted = /^(pointer|mouse)(down|up)|click|contextmenu|touch/

const mark = 'data-cairn-hover'

/** Rules of the page that hold while something is pointed at, so that they hold while it is marked. */
function hoverRules(): string[] {
  const rulesOf = (sheet: CSSStyleSheet) => safely(() => [...sheet.cssRules]) ?? []
  const marked = (rule: CSSRule): string[] => {
    const { cssText } = rule
    return cssText.includes(':hover') ? [cssText.replaceAll(':hover', `[${mark}]`)] : []
  }
  return [...document.styleSheets, ...document.adoptedStyleSheets].flatMap(rulesOf).flatMap(marked)
}

/** Keeps what is pointed at as it looks, though the pointer leaves it. Returns a function that ends it. */
function keepHover(): () => void {
  const sheet = new CSSStyleSheet()
  for (const rule of hoverRules()) safely(() => sheet.insertRule(rule, sheet.cssRules.length))
  const pointedAt = [...document.querySelectorAll(':hover')]
  for (const element of pointedAt) element.setAttribute(mark, '')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== sheet)
    for (const element of pointedAt) element.removeAttribute(mark)
  }
}

/** Holds the page's menus open: while it is frozen, the page hears of nothing that would close them. */
export function createFreeze(place: Place) {
  let end: (() => void) | null = null
  const withhold = (event: Event) => {
    if (place.isOwn(event)) return
    if (acted.test(event.type) && event.cancelable) event.preventDefault()
    event.stopImmediatePropagation()
  }
  const begin = () => {
    const options = { capture: true, passive: false }
    for (const name of closing) window.addEventListener(name, withhold, options)
    const endHover = keepHover()
    return () => {
      for (const name of closing) window.removeEventListener(name, withhold, options)
      endHover()
    }
  }
  return {
    switch(isOn: boolean) {
      if (isOn === (end !== null)) return
      end?.()
      end = isOn ? begin() : null
    },
  }
}
