import { ownHostAttribute } from '../snippet/stage/elements.ts'

/** A page that removes the picker more often than this gets rid of it. */
const maxReturns = 20

/** Events in the panel that do not reach the page, so that what is open there stays open. */
const ownEvents = [
  ...['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'click', 'dblclick'],
  ...['keydown', 'keyup', 'focusin', 'focusout', 'wheel'],
]

/**
 * A host element for the picker, or for a preview's badge, which the page's styles do not reach.
 *
 * @param name tells it apart from the snippet's other hosts
 * @param mode whether the page's scripts can reach into it
 */
export function createPlace(name: string, styles: string, mode: ShadowRootMode) {
  const host = document.createElement('div')
  host.setAttribute(ownHostAttribute, name)
  // Set through the object model, which no policy forbids. No rule of the page overrides it.
  host.style.cssText = 'all: initial !important; display: contents !important'
  const shadow = host.attachShadow({ mode })
  for (const name of ownEvents) {
    shadow.addEventListener(name, event => event.stopPropagation(), { passive: true })
  }
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  let returns = 0

  /** Puts the host after what the page re-renders, or into its modal dialog, outside of which nothing works. */
  const attach = () => {
    const parent = modalDialog() ?? document.documentElement
    if (host.parentElement === parent) return
    if (!host.isConnected && returns++ > maxReturns) return
    parent.append(host)
  }
  attach()

  return {
    shadow,
    attach,
    /** Leaves a dialog that the snippet is about to take away, which is no removal by the page. */
    leave: () => document.documentElement.append(host),
    /** Whether an event is on the panel, or on what the snippet itself shows, which keeps working as usual. */
    isOwn: (event: Event) =>
      event
        .composedPath()
        .some(part => part instanceof Element && part.hasAttribute(ownHostAttribute)),
    hasFocus: () => document.activeElement === host,
    remove: () => host.remove(),
  }
}

/** The dialog that makes everything else unusable: the page's, or that of one of the snippet's steps. */
function modalDialog(): Element | undefined {
  const ours = [...document.querySelectorAll(`[${ownHostAttribute}]`)]
  const trees = [document, ...ours.flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  return trees.flatMap(tree => [...tree.querySelectorAll('dialog:modal')]).at(-1)
}

export type Place = ReturnType<typeof createPlace>

/** A frame around an element, with words above it if there are any. */
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
    // If the element begins above the window and ends below it, the label stays inside the window.
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
