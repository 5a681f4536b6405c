import { type MaybeTheme, mergedTheme } from '../../../core/flow/merged-theme.ts'
import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { focusedIn, ownHostAttribute } from './elements.ts'
import { darkPreferred } from './ground.ts'
import { keepPresses } from './keep-presses.ts'
import { placementOf } from './layers.ts'
import { settle } from './motion.ts'
import { shield } from './shield.ts'
import { styles } from './styles.ts'
import { dress } from './theme.ts'
import { whenDetached } from './when-detached.ts'

/** How long after the page has changed its looks they are read, milliseconds: it may fade to them. */
const tintAfterMs = 400

/** A page that removes the host, and nothing else, at once (milliseconds) and this often, gets rid of it. */
const atOnceMs = 200
/** How often it is checked whether what is shown can still be seen and used, milliseconds. */
const checkMs = 250
const maxRemovals = 10

/** What a page disables everything but its dialog with, besides style sheets, which do not reach the host. */
const pageMarks = ['inert', 'aria-hidden', 'style']

/** A page that disables the host again whenever it is enabled has its way until the next check. */
const maxMarks = 20

/**
 * The snippet's own place on the page: a shadow root that the page's styles do not reach, except through
 * the tokens and parts that the manual names.
 */
export function createHost(page: Window, ofOrganisation: () => MaybeTheme) {
  const { document } = page
  const host = document.createElement('div')
  host.setAttribute(ownHostAttribute, '')
  const shadow = host.attachShadow({ mode: 'open' })
  const focused = shield(shadow, page)
  const sheet = new (page as Window & typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  // Announces what is happening to screen reader users.
  const live = document.createElement('div')
  live.className = 'root live'
  live.setAttribute('role', 'status')
  live.setAttribute('aria-live', 'polite')
  shadow.append(live)

  /** For each root, a function that gives it its theme anew. */
  const tints = new WeakMap<Element, () => void>()
  let isToTint = false
  const tintAll = () => {
    isToTint = false
    for (const root of [...shadow.children]) safely(() => tints.get(root)?.())
  }
  /** The page may turn dark, or light, while something is shown. */
  const tintSoon = () => {
    if (!isToTint) page.setTimeout(tintAll, tintAfterMs)
    isToTint = true
  }
  for (const element of [document.documentElement, document.body]) {
    new MutationObserver(tintSoon).observe(element, { attributes: true })
  }
  page.matchMedia(darkPreferred).addEventListener('change', tintSoon)

  /** For each root, the element that its drawing points at. */
  const targets = new WeakMap<Element, Element | null>()
  /** The element that what is shown points at. */
  let pointedAt: Element | null = null
  /** What of the page last had the focus when something was shown. */
  let lastFocused: Element | null = null
  /** Whether what is shown has to be in front of the page's dialogs. */
  let isInFront = false
  /** What else was in front when everything was last shown. */
  let top: Element | null = null
  let fullScreen: Element | null = null
  let layer: Element = document.body
  /** What the host was put behind, and when. */
  let neighbour: Node | null = null
  let placedAt = 0
  let unwatch = () => {}
  const presses = keepPresses(shadow, page)
  let removals = 0
  let marks = 0
  let ownStyle: string | null = null
  /** What the page removes the host from, or what would look different with it. */
  const unfit = new WeakSet<Element>()

  /** Removes what the page has disabled the host with. */
  const removeMarks = () => {
    host.removeAttribute('inert')
    host.removeAttribute('aria-hidden')
    if (host.style.cssText === ownStyle) return
    // Otherwise what is placed in window pixels would be placed in zoomed ones.
    const { currentCSSZoom = 1 } = host.parentElement ?? document.body
    // No rule of the page overrides these.
    host.style.cssText = `all: initial !important; display: contents !important; zoom: ${1 / currentCSSZoom} !important`
    ownStyle = host.style.cssText
  }

  const moveTo = (layer: Element) => {
    const look = () => JSON.stringify(layer.lastElementChild?.getBoundingClientRect())
    host.remove()
    const before = look()
    layer.append(host)
    const after = JSON.stringify(host.previousElementSibling?.getBoundingClientRect())
    if (after !== before) unfit.add(layer)
  }

  /** Shows everything again, in front of what has opened since. */
  const showAgain = () => {
    for (const one of shadow.querySelectorAll<HTMLElement>('.root:not(.leaves) > *')) {
      if (one.localName === 'dialog') {
        const dialog = one as HTMLDialogElement
        dialog.close()
        dialog.showModal()
        dialog.focus({ preventScroll: true })
      } else if (one.popover !== null) {
        if (one.matches(':popover-open')) one.hidePopover()
        one.showPopover()
      }
      // An animation without an end cannot be finished.
      safely(() => settle(one))
    }
  }

  const findPlacement = () => {
    const isAllowed = (layer: Element) => !unfit.has(layer) && !shadow.querySelector('.layered')
    const [element = null, at = null] = [pointedAt, lastFocused].map(one =>
      one?.isConnected ? one : null,
    )
    if (isInFront) return placementOf(element, at, page, isAllowed)
    return { layer: document.body, top: null, isReached: true, isCovered: false }
  }

  /** Puts the host where what it shows can be seen and used, and leaves that as it is. */
  const place = () => {
    // A video of the snippet's fills the screen.
    if (document.fullscreenElement === host) return
    // The next drawing will point at another element, or at none.
    if (pointedAt?.checkVisibility() === false && host.isConnected) return
    let now = findPlacement()
    const isOwnOnTop = shadow.contains(now.top)
    const isMoved = host.parentElement !== now.layer && !(isOwnOnTop && host.isConnected)
    const isBehind = fullScreen !== document.fullscreenElement || (now.top !== top && !isOwnOnTop)
    fullScreen = document.fullscreenElement
    if (!isOwnOnTop) top = now.top
    host.className = now.isCovered ? 'covered' : now.isReached ? '' : 'unreached'
    if (!isMoved && !isBehind) return
    const focus = focused()
    const scrolled = [...shadow.querySelectorAll('.inner')].map(
      one => [one, one.scrollTop] as const,
    )
    if (isMoved) {
      moveTo(now.layer)
      if (unfit.has(now.layer)) now = findPlacement()
      if (host.parentElement !== now.layer) moveTo(now.layer)
      layer = now.layer
      placedAt = page.performance.now()
      neighbour = host.previousSibling
      unwatch()
      unwatch = whenDetached(host, check)
    }
    showAgain()
    for (const [one, at] of scrolled) one.scrollTop = at
    // A page that opens its dialog anew takes the focus, but not from somebody who is typing.
    const isFree = document.activeElement === document.body || document.activeElement === host
    if (isFree || focus?.matches('input, textarea')) focus?.focus({ preventScroll: true })
    presses.moved()
  }

  /** The page may open and close dialogs, fill the screen, or remove what it does not know. */
  function check(): void {
    marks = 0
    if (!shadow.querySelector('.root:not(.leaves) > *')) {
      // Nothing of the snippet stays in a menu of the page.
      if (layer !== document.body) attach(null, false)
      return
    }
    // A page that draws the layer anew removes the host with the rest.
    const isAlone = layer.isConnected && neighbour?.isConnected !== false
    if (!host.parentElement && isAlone) {
      if (removals > maxRemovals) return
      removals = page.performance.now() - placedAt < atOnceMs ? removals + 1 : 1
      unfit.add(layer)
    }
    place()
  }
  page.setInterval(() => safely(check), checkMs)
  for (const name of ['fullscreenchange', 'webkitfullscreenchange']) {
    document.addEventListener(name, () => safely(check))
  }
  const marked = () => {
    if (++marks > maxMarks) return
    removeMarks()
    place()
  }
  new MutationObserver(() => safely(marked)).observe(host, { attributeFilter: pageMarks })

  const attach = (element: Element | null, mayCover: boolean) => {
    pointedAt = element
    const focus = focusedIn(document)
    // Neither here nor in the builder.
    const isOurs = document.activeElement?.hasAttribute(ownHostAttribute)
    if (focus !== document.body && !isOurs) lastFocused = focus
    isInFront = mayCover
    place()
    // The page may be zoomed in another way by now.
    ownStyle = null
    removeMarks()
  }

  return {
    /** Shows what is drawn from now on beside an element, or for itself, in front of the page's dialogs. */
    attach: (element: Element | null) => attach(element, true),
    /** Shows it as a part of the page. */
    attachToPage: () => attach(null, false),
    /** Another element has taken the place of the one that a root's drawing points at. */
    pointAt(root: Element, element: Element | null) {
      targets.set(root, element)
      pointedAt = element
      place()
    },
    say(text: string) {
      live.textContent = text
    },
    /** The theme that a flow is drawn in: its own over the organisation's. */
    themeOf: (theme: Flow['theme']) => mergedTheme(ofOrganisation(), theme),
    /** An element with a flow's theme, in the page's direction and suited to its background. */
    root(theme: Flow['theme'], element: Element | null = null): HTMLElement {
      if (!host.isConnected) attach(null, false)
      const root = document.createElement('div')
      targets.set(root, element)
      root.className = 'root'
      root.dir = page.getComputedStyle(document.body).direction
      root.lang = document.documentElement.lang
      shadow.append(root)
      const tint = () =>
        dress(root, mergedTheme(ofOrganisation(), theme), targets.get(root) ?? null, page)
      tint()
      // What has a place in the page's own stack stays on the page.
      place()
      tints.set(root, tint)
      // A popover with a layer on the page does not go above all of the page. A modal dialog always does.
      const stay = (event: Event) => {
        const { popover } = event.target as HTMLElement
        if (popover !== null && root.classList.contains('layered')) event.preventDefault()
      }
      root.addEventListener('beforetoggle', stay, { capture: true })
      return root
    },
  }
}

export type Host = ReturnType<typeof createHost>
