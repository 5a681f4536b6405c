import { ownHostAttribute } from '../snippet/stage/elements.ts'

/** Whoever throws the picker away more often than this gets rid of it. */
const mostReturns = 20

/** What happens in the panel does not happen on the page: what is open there stays open. */
const ownEvents = [
  ...['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'click', 'dblclick'],
  ...['keydown', 'keyup', 'focusin', 'focusout', 'wheel'],
]

/**
 * A place of the picker's own, or of a preview's badge, which the page's styles do not reach.
 *
 * @param name what it is, among the snippet's own hosts
 * @param mode whether the page's scripts reach it
 */
export function createPlace(name: string, styles: string, mode: ShadowRootMode) {
  const host = document.createElement('div')
  host.setAttribute(ownHostAttribute, name)
  // Through the object model, which no policy forbids; and no rule of the page's wins over it.
  host.style.cssText = 'all: initial !important; display: contents !important'
  const shadow = host.attachShadow({ mode })
  for (const name of ownEvents) {
    shadow.addEventListener(name, event => event.stopPropagation(), { passive: true })
  }
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  let returns = 0

  /** Behind what the page draws itself anew; in its modal dialog, outside of which nothing can be used. */
  const attach = () => {
    const parent = modalDialog() ?? document.documentElement
    if (host.parentElement === parent) return
    if (!host.isConnected && returns++ > mostReturns) return
    parent.append(host)
  }
  attach()

  return {
    shadow,
    attach,
    /** Of the panel, or of what the snippet itself shows: that goes on to work as it does. */
    isOwn: (event: Event) =>
      event
        .composedPath()
        .some(part => part instanceof Element && part.hasAttribute(ownHostAttribute)),
    hasFocus: () => document.activeElement === host,
    remove: () => host.remove(),
  }
}

/** What makes all else unusable: a dialog of the page's, or one of the snippet's own steps. */
function modalDialog(): Element | undefined {
  const ours = [...document.querySelectorAll(`[${ownHostAttribute}]`)]
  const trees = [document, ...ours.flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  return trees.flatMap(tree => [...tree.querySelectorAll('dialog:modal')]).at(-1)
}

export type Place = ReturnType<typeof createPlace>

/** A frame around an element, with words above it where there are any. */
export function createOutline({ shadow }: Place, className: string) {
  const frame = document.createElement('div')
  frame.className = `outline ${className}`
  const label = document.createElement('div')
  label.className = 'label'
  for (const part of [frame, label]) {
    part.hidden = true
    part.setAttribute('aria-hidden', 'true')
  }
  shadow.append(frame, label)
  let shown: Element | null = null

  const follow = () => {
    const { left, top, width, height } = shown?.getBoundingClientRect() ?? new DOMRect()
    frame.hidden = shown === null || !shown.isConnected
    label.hidden = frame.hidden || label.textContent === ''
    if (frame.hidden) return
    const px = (value: number) => `${Math.round(value)}px`
    Object.assign(frame.style, {
      left: px(left - 2),
      top: px(top - 2),
      width: px(width + 4),
      height: px(height + 4),
    })
    const above = top - label.offsetHeight - 6
    // Of what begins above the window and ends below it, within it.
    const below = Math.min(top + height + 6, innerHeight - label.offsetHeight - 4)
    const most = innerWidth - label.offsetWidth - 8
    label.style.left = px(Math.max(8, Math.min(left - 2, most)))
    label.style.top = px(above >= 4 ? above : Math.max(4, below))
  }
  return {
    show(element: Element | null, words = '') {
      shown = element
      label.textContent = words
      follow()
    },
    follow,
  }
}
