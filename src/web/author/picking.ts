import { ownHostAttribute } from '../snippet/stage/elements.ts'
import { ownSelectors } from '../snippet/stage/own-selectors.ts'
import { isVisible } from '../snippet/stage/visibility.ts'
import type { Place } from './place.ts'

/** Events that the page must not hear of while an element is picked. */
const pointing = [
  ...['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick'],
  ...['contextmenu', 'touchstart', 'touchend', 'dragstart', 'submit'],
]

const steps: Record<string, (walk: Walk) => Element | null> = {
  ArrowUp: walk => walk.parent(),
  ArrowDown: walk => walk.child(),
  ArrowLeft: walk => walk.beside(-1),
  ArrowRight: walk => walk.beside(1),
}

const isPickable = (element: Element | null | undefined): element is Element =>
  element != null &&
  !element.matches('html, head, script, style, template') &&
  !element.closest(`[${ownHostAttribute}]`)

/** What only draws a control: its icon and its text. */
const decorative = 'svg, svg *, img, span, i, b, em, strong, small, bdi, kbd, mark'
const controls = 'button, a[href], summary, [role=button], [role=link], [role=menuitem], [role=tab]'

/** The control that an element only draws, or the whole picture; otherwise the element, or if it was named by hand. */
function wholeOf(element: Element): Element {
  if (!element.matches(decorative) || !ownSelectors(element).next().done) return element
  return element.closest(controls) ?? element.closest('svg') ?? element
}

/** Walks from one element to those around it, open shadow roots included. */
class Walk {
  /** Where each parent was reached from: the way back down. */
  private readonly cameFrom = new WeakMap<Element, Element>()

  constructor(private readonly at: () => Element | null) {}

  parent(): Element | null {
    const at = this.at()
    const up = at?.parentElement ?? (at?.getRootNode() as ShadowRoot | undefined)?.host
    if (!at || !isPickable(up)) return null
    this.cameFrom.set(up, at)
    return up
  }

  child(): Element | null {
    const at = this.at()
    if (!at) return document.body
    const from = this.cameFrom.get(at)
    if (from?.isConnected) return from
    return [...(at.shadowRoot ?? at).children].find(isOffered) ?? null
  }

  beside(by: 1 | -1): Element | null {
    const siblings = [...(this.at()?.parentNode?.children ?? [])].filter(isOffered)
    return siblings[siblings.indexOf(this.at()!) + by] ?? null
  }
}

const isOffered = (element: Element) => isPickable(element) && isVisible(element)

/**
 * Lets an element be pointed at, by mouse, touch or keyboard, while the page hears nothing of it.
 *
 * @param on called with what is pointed at, what is picked, and that the author wants to use the page
 */
export function createPicking(
  place: Place,
  on: { point(element: Element | null): void; pick(element: Element): void; leave(): void },
) {
  let isOn = false
  /** Whether the press that has picked goes on: the page must not hear its end, even if picking is over. */
  let isReleasing = false
  let pointed: Element | null = null
  const walk = new Walk(() => (pointed?.isConnected ? pointed : null))

  const point = (element: Element | null) => {
    if (element === pointed) return
    pointed = element
    on.point(element)
  }
  const withhold = (event: Event) => {
    // A page's listener may be passive, in which case the browser goes on by itself.
    if (event.cancelable) event.preventDefault()
    event.stopImmediatePropagation()
  }
  /** The innermost element that is something by itself, in open shadow roots too. */
  const targetOf = (event: Event): Element | null => {
    const [target] = event.composedPath()
    return target instanceof Element && isPickable(target) ? wholeOf(target) : null
  }

  const onMove = (event: Event) => {
    if (!isOn || place.isOwn(event)) return
    const target = targetOf(event)
    if (target) point(target)
  }
  const onPointing = (event: Event) => {
    const { type } = event
    if (type === 'pointerdown') isReleasing = false
    if (!(isOn || isReleasing) || place.isOwn(event)) return
    withhold(event)
    if (type === 'click') isReleasing = false
    const target = isOn ? targetOf(event) : null
    if (!target) return
    const { button = 0, detail = 0 } = event as MouseEvent
    // Picks at `pointerup`, because disabled elements get no click, or at a click made without a pointer.
    if ((type === 'pointerup' && button === 0) || (type === 'click' && detail === 0)) {
      isReleasing = type === 'pointerup'
      point(target)
      on.pick(target)
    }
  }
  const onKey = (event: KeyboardEvent) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey) return
    const isInPanel = place.isOwn(event)
    if (event.key === 'Escape') {
      withhold(event)
      if (event.type === 'keydown') on.leave()
      return
    }
    const step = steps[event.key]
    const isEnter = event.key === 'Enter' && !isInPanel && pointed !== null
    if (!step && !isEnter) return
    withhold(event)
    if (event.type !== 'keydown') return
    if (isEnter) on.pick(pointed!)
    const next = step?.(walk)
    if (!next) return
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    point(next)
  }
  const onFocus = (event: Event) => {
    if (!isOn || place.isOwn(event)) return
    const target = targetOf(event)
    if (target) point(target)
  }

  const listeners: [name: string, listener: (event: never) => void][] = [
    ...pointing.map(name => [name, onPointing] as [string, (event: never) => void]),
    ['pointermove', onMove],
    ['pointerover', onMove],
    ['keydown', onKey],
    ['keyup', onKey],
    ['keypress', onKey],
    ['focusin', onFocus],
  ]
  const how = { capture: true, passive: false }
  for (const [name, listener] of listeners) {
    window.addEventListener(name, listener as EventListener, how)
  }

  return {
    switch(to: boolean) {
      isOn = to
      if (!to) point(null)
    },
    stop() {
      isOn = false
      for (const [name, listener] of listeners) {
        window.removeEventListener(name, listener as EventListener, how)
      }
    },
  }
}
