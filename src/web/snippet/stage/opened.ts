import { safely } from '../safely.ts'
import { around, contains, ownHostAttribute } from './elements.ts'
import { anchorOf, boxOf, childrenOf, type Edges, isElement, isVisible } from './visibility.ts'

/** What an element has opened, wherever the page has put it: a menu, a list, a calendar, a dialog. */
export interface Opened {
  elements(): readonly Element[]
  boxes(): Edges[]
  /** The listener is called when something was opened or closed. */
  onChange(listener: () => void): void
  end(): void
}

/** For how long after its use an element may open something, and how often that is checked, milliseconds. */
const opensWithinMs = 2_000
const checkMs = 200
/** How far around the element, and how deep in what is there, it is looked for, and in how many elements. */
const levels = 3
const maxElements = 1_000
/** What covers this share of the window is only the ground of what was opened. */
const wholeWindow = 0.9

const childElementsOf = (element: Element) => childrenOf(element).filter(isElement)

const uses = ['pointerdown', 'pointerover', 'click', 'keydown', 'focusin']
const roles = ['dialog', 'alertdialog', 'listbox', 'menu', 'grid', 'tree']
const popups = ['dialog', ...roles.map(role => `[role=${role}]`)].join()

/**
 * Watches what an element opens when somebody uses it. What was there before does not count.
 *
 * @param known what the element before it had opened
 */
export function watchOpened(
  element: Element,
  page: Window,
  known: readonly Element[] = [],
): Opened {
  const { document, performance } = page
  const anchor = anchorOf(element)
  const listeners: (() => void)[] = []
  const open = new Set(known)
  const added = new Set<Element>()
  let usedAt = Number.NEGATIVE_INFINITY
  let timer: number | undefined
  let looked = 0

  /** What floats over the page there. What is beside the element, or new on the page, need not float. */
  function* floating(at: Element, isNew: boolean, level = 0): Generator<Element> {
    if (++looked > maxElements || at.hasAttribute(ownHostAttribute)) return
    if (contains(at, element) || contains(element, at) || at.matches('[role=tooltip]')) return
    const { position, pointerEvents } = page.getComputedStyle(at)
    const floats = isNew || at.matches(popups) || /absolute|fixed/.test(position)
    if (floats && pointerEvents !== 'none' && isVisible(at)) yield at
    else if (level < levels) {
      for (const child of childElementsOf(at)) yield* floating(child, false, level + 1)
    }
  }

  function* found(): Generator<Element> {
    looked = 0
    for (const one of added)
      if (one.isConnected) yield* floating(one, one.parentElement === document.body)
    let at = anchor
    for (let level = 0; level < levels; level++) {
      const parent = around(at)
      if (!parent || parent === document.body) break
      for (const beside of childElementsOf(parent)) yield* floating(beside, level === 0)
      at = parent
    }
    for (const one of document.body.children) yield* floating(one, false)
  }

  /** What the page says to be opened by it. */
  function* controlled(): Generator<Element> {
    const expanded = '[aria-expanded=true]'
    const inside = [...element.querySelectorAll(expanded)]
    for (const user of element.matches(expanded) ? [element, ...inside] : inside) {
      const id = user.getAttribute('aria-controls') ?? user.getAttribute('aria-owns') ?? ''
      const one = (user.getRootNode() as Document | ShadowRoot).getElementById(id)
      if (one && isVisible(one)) yield one
    }
  }

  const before = new Set(found())
  const observer = new MutationObserver(records => {
    for (const { addedNodes } of records)
      for (const one of addedNodes) if (isElement(one)) added.add(one)
  })

  const review = () => {
    const last = [...open]
    for (const known of [open, before]) {
      for (const one of known) if (!one.isConnected || !isVisible(one)) known.delete(one)
    }
    if (performance.now() - usedAt < opensWithinMs) {
      for (const one of found()) if (!before.has(one)) open.add(one)
      for (const one of controlled()) open.add(one)
    } else {
      observer.disconnect()
      added.clear()
      if (open.size === 0) end()
    }
    if (last.length === open.size && last.every(one => open.has(one))) return
    for (const listener of listeners) listener()
  }
  const end = () => {
    observer.disconnect()
    page.clearInterval(timer)
    timer = undefined
  }
  const use = (event: Event) => {
    const isOf = (at: EventTarget) => at === element || at === anchor || open.has(at as Element)
    if (!event.composedPath().some(isOf)) return
    begin()
  }
  const begin = () => {
    usedAt = performance.now()
    observer.observe(document, { childList: true, subtree: true })
    timer ??= page.setInterval(() => safely(review), checkMs)
  }
  if (open.size > 0) begin()
  const options = { capture: true, passive: true }
  for (const name of uses) page.addEventListener(name, use, options)

  return {
    elements: () => [...open],
    boxes: () => [...open].flatMap(one => boxesIn(one, page)),
    onChange: listener => void listeners.push(listener),
    end() {
      end()
      for (const name of uses) page.removeEventListener(name, use, options)
    },
  }
}

/** The boxes of something that is open, without the ground that some dialogs and lists lay over the page. */
function boxesIn(element: Element, page: Window): Edges[] {
  const { left, top, right, bottom } = boxOf(element)
  const isGround =
    right - left > page.innerWidth * wholeWindow && bottom - top > page.innerHeight * wholeWindow
  if (!isGround) return right > left && bottom > top ? [{ left, top, right, bottom }] : []
  return childElementsOf(element).flatMap(child => boxesIn(child, page))
}
