import { around } from './elements.ts'

/** What people see of an element, and whether they can see it. */

/** The edges of a box in the window, pixels. */
export interface Edges {
  left: number
  top: number
  right: number
  bottom: number
}

/** The names of what belongs to each axis. */
export const axes = [
  {
    start: 'left',
    end: 'right',
    overflow: 'overflowX',
    at: 'scrollLeft',
    size: 'scrollWidth',
    view: 'clientWidth',
  },
  {
    start: 'top',
    end: 'bottom',
    overflow: 'overflowY',
    at: 'scrollTop',
    size: 'scrollHeight',
    view: 'clientHeight',
  },
] as const
export type Axis = (typeof axes)[number]

/** What is smaller, pixels, is a rounding error, or for screen readers only. */
const minVisible = 0.5
const minSize = 2

/** Controls that pages make invisible, because they draw something of their own for them. */
const redrawn =
  'select, input:is([type=checkbox], [type=radio], [type=file], [type=range], [type=color], [type^=date], [type=time])'

const styleOf = (element: Element): CSSStyleDeclaration =>
  (element.ownerDocument.defaultView as Window).getComputedStyle(element)

const isSvg = (element: Element): boolean => element.namespaceURI !== 'http://www.w3.org/1999/xhtml'

/** The children of an element as they are rendered, with shadow roots and slots. */
export function childrenOf(element: Element): readonly Node[] {
  const assigned = element.localName === 'slot' ? (element as HTMLSlotElement).assignedNodes() : []
  return assigned.length > 0 ? assigned : [...(element.shadowRoot ?? element).childNodes]
}

export const isElement = (node: Node): node is Element => node.nodeType === 1

function rectOf(node: Node): DOMRect {
  if (isElement(node)) return node.getBoundingClientRect()
  const range = (node.ownerDocument as Document).createRange()
  range.selectNode(node)
  return range.getBoundingClientRect()
}

/**
 * What is drawn of an element: itself or, if it has no size of its own, what is in it. Text that overflows
 * an element without size is not meant to be seen.
 */
function partsOf(node: Node): Node[] {
  const { width, height } = rectOf(node)
  if (!isElement(node)) return width > 0 && height > 0 ? [node] : []
  if (isSvg(node) ? width + height > 0 : width > 0 && height > 0) return [node]
  const isContents = styleOf(node).display === 'contents'
  if (!isContents && !node.checkVisibility()) return []
  const isDrawn = (child: Node) => isElement(child) || (isContents && child.nodeType === 3)
  return childrenOf(node).filter(isDrawn).flatMap(partsOf)
}

/** What people see in place of an element that is not drawn itself, or not as it is. */
function standInFor(element: Element): Element {
  const { ownerDocument } = element
  if (element.matches('option, optgroup') && partsOf(element).length === 0) {
    return element.closest('select') ?? element
  }
  if (element.matches('area')) {
    const name = element.closest('map')?.name ?? ''
    return ownerDocument.querySelector(`[usemap="#${CSS.escape(name)}"]`) ?? element
  }
  if (!element.matches(redrawn) || isSeen(element)) return element
  const { labels, type } = element as HTMLInputElement
  // One that is not rendered may be hidden for good, unless it is opened by a button.
  const isUsed = element.checkVisibility() || type === 'file'
  const beside = isUsed ? [element.nextElementSibling, element.previousElementSibling] : []
  const drawn = element.matches('select') ? [...beside, ...labels!] : [...labels!, ...beside]
  return drawn.find(one => one && !one.matches(redrawn) && isVisible(one)) ?? element
}

/** What is around an element: what it scrolls with, what clips it, and what it only belongs to. */
export interface Level {
  at: Element
  style: CSSStyleDeclaration
  /** Whether the element scrolls with it and is clipped by its overflow. Most levels do not hold what is fixed. */
  holds: boolean
  /** The last level is the window. */
  isWindow: boolean
}

/** A `DOMRect` has no properties of its own to spread. */
const edgesOf = (node: Node): Edges => {
  const { left, top, right, bottom } = rectOf(node)
  return { left, top, right, bottom }
}

/** Whether an element contains what is fixed in it. */
const containsFixed = (style: CSSStyleDeclaration): boolean =>
  [style.transform, style.translate, style.scale, style.rotate, style.perspective]
    .concat(style.filter, style.backdropFilter)
    .some(value => value && value !== 'none') ||
  /paint|layout|strict|content/.test(style.contain) ||
  /transform|translate|scale|rotate|perspective|filter/.test(style.willChange)

/** The levels around an element, from the inside out. */
export function* levelsOf(element: Element): Generator<Level> {
  const { documentElement, body } = element.ownerDocument
  const root = styleOf(documentElement)
  // The window scrolls as the body says, unless the root element itself says it.
  const isBodys = body !== null && root.overflowX === 'visible'
  let { position } = styleOf(element)
  for (let at = element; at !== documentElement; ) {
    // What is in the top layer is inside of nothing else.
    const outer = at.matches(':modal, :popover-open') ? null : around(at)
    if (!outer || outer === documentElement) break
    at = outer
    const style = styleOf(at)
    const holds =
      containsFixed(style) ||
      (position === 'absolute' ? style.position !== 'static' : position !== 'fixed')
    const hasOverflow = !(isBodys && at === body) && !/^(inline|contents)$/.test(style.display)
    yield { at, style, holds: holds && hasOverflow, isWindow: false }
    if (holds) position = at === body ? 'static' : style.position
  }
  yield {
    at: element.ownerDocument.scrollingElement ?? documentElement,
    style: isBodys ? styleOf(body) : root,
    holds: position !== 'fixed',
    isWindow: true,
  }
}

const intersection = (a: Edges, b: Edges): Edges => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
})

export const lengthOf = (value: string | undefined, whole: number): number =>
  value?.endsWith('%')
    ? (Number.parseFloat(value) / 100) * whole
    : Number.parseFloat(value ?? '') || 0

/** The part of a box that the clipping of an element leaves. What clips by other shapes is not judged. */
function clipped(box: Edges, element: Element, style: CSSStyleDeclaration): Edges {
  const { clipPath, clip, position } = style
  const [, shape, values = ''] = /^(inset|circle|ellipse|polygon)\((.*)\)/.exec(clipPath) ?? []
  const rect = /absolute|fixed/.test(position) ? /^rect\((.*)\)/.exec(clip)?.[1]?.split(', ') : null
  if (!shape && !rect) return box
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
  if (rect) {
    const [up, to, down, from] = rect.map(value =>
      value === 'auto' ? null : Number.parseFloat(value),
    )
    const edge = (at: number, by: number | null | undefined, otherwise: number) =>
      by === null || by === undefined ? otherwise : at + by
    box = intersection(box, {
      ...{ left: edge(left, from, left), top: edge(top, up, top) },
      ...{ right: edge(left, to, right), bottom: edge(top, down, bottom) },
    })
  }
  if (shape === 'inset') {
    const [up, to = up, down = up, from = to] = values.split(' round ')[0]!.split(' ')
    return intersection(box, {
      left: left + lengthOf(from, width),
      top: top + lengthOf(up, height),
      right: right - lengthOf(to, width),
      bottom: bottom - lengthOf(down, height),
    })
  }
  if (shape === 'polygon') {
    const points = values
      .split(', ')
      .map(point => point.split(' '))
      .filter(point => point.length > 1)
    const xs = points.map(([x]) => left + lengthOf(x, width))
    const ys = points.map(([, y]) => top + lengthOf(y, height))
    return intersection(box, {
      ...{ left: Math.min(...xs), top: Math.min(...ys) },
      ...{ right: Math.max(...xs), bottom: Math.max(...ys) },
    })
  }
  // A circle or an ellipse.
  return /^(\S+ )?0(px|%)/.test(values) ? { ...box, right: box.left } : box
}

/** Whether an element begins at its right or lower end, and scrolls from there. */
export const isReversed = ({ start }: Axis, { direction, flexDirection }: CSSStyleDeclaration) =>
  start === 'left' ? direction === 'rtl' : flexDirection === 'column-reverse'

export const canScroll = (axis: Axis, { style, isWindow }: Level): boolean =>
  /auto|scroll/.test(style[axis.overflow]) || (isWindow && style[axis.overflow] === 'visible')

/** The box in which a level shows what it holds. */
export function portOf({ at, isWindow }: Level): Edges {
  if (!isWindow) return edgesOf(at)
  const { innerWidth, innerHeight } = at.ownerDocument.defaultView as Window
  return { left: 0, top: 0, right: innerWidth, bottom: innerHeight }
}

/** Whether some of a part can be seen, or scrolled to. */
function isReachable(part: Node): boolean {
  const element = isElement(part) ? part : part.parentElement!
  let box = edgesOf(part)
  // A straight line of a drawing has no area, but a stroke.
  if (isSvg(element)) box = { ...box, right: box.right + minSize, bottom: box.bottom + minSize }
  const isEmpty = () => box.right - box.left < minVisible || box.bottom - box.top < minVisible
  box = clipped(box, element, styleOf(element))
  for (const level of levelsOf(element)) {
    const { at, style, holds, isWindow } = level
    if (!isWindow) box = clipped(box, at, style)
    const port = portOf(level)
    if (isWindow && !holds) box = intersection(box, port)
    for (const axis of holds ? axes : []) {
      const { start, end } = axis
      // Dialogs that keep the page from scrolling may fix its body somewhere above the window.
      if (isWindow && start === 'top' && style.position === 'fixed') continue
      // A page that must not scroll just now, because of a dialog, will scroll again.
      if (canScroll(axis, level) || (isWindow && start === 'top')) {
        const from = isReversed(axis, style) ? at[axis.view] - at[axis.size] : 0
        const offset = at[axis.at] - port[start]
        const isOutside =
          box[end] + offset < from + minVisible ||
          box[start] + offset > from + at[axis.size] - minVisible
        if (isOutside) return false
        // From here on, it is wherever this level can be seen.
        if (!isWindow) box = { ...box, [start]: port[start], [end]: port[end] }
      } else if (style[axis.overflow] !== 'visible') {
        box = {
          ...box,
          [start]: Math.max(box[start], port[start]),
          [end]: Math.min(box[end], port[end]),
        }
      }
    }
    if (isEmpty()) return false
  }
  return !isEmpty()
}

/** Whether no style hides an element. A control may lie invisibly over what is drawn for it. */
function isShown(element: Element): boolean {
  const visibilityProperty = true
  if (element.checkVisibility({ visibilityProperty, opacityProperty: true })) return true
  const { opacity, pointerEvents } = styleOf(element)
  const isOverlay = element.matches(redrawn) && opacity === '0' && pointerEvents !== 'none'
  const parent = around(element)
  return (
    isOverlay && element.checkVisibility({ visibilityProperty }) && (!parent || isShown(parent))
  )
}

function isSeen(part: Node): boolean {
  const { width, height } = rectOf(part)
  if (Math.max(width, height) < minSize) return false
  if (isElement(part)) return isShown(part) && isReachable(part)
  let at: Element | null = part.parentElement
  while (at && styleOf(at).display === 'contents') at = around(at)
  return (at === null || isShown(at)) && isReachable(part)
}

/** Whether people see an element, or can scroll to it. */
export const isVisible = (element: Element): boolean => partsOf(standInFor(element)).some(isSeen)

/** An element whose place and styles are those of what people see. */
export function anchorOf(element: Element): Element {
  const standIn = standInFor(element)
  return partsOf(standIn).find(isElement) ?? standIn
}

/** The box of what people see of an element, in the window. */
export function boxOf(element: Element): DOMRect {
  const standIn = standInFor(element)
  if (element.matches('area')) return areaOf(element, standIn.getBoundingClientRect())
  const [first, ...rest] = partsOf(standIn).map(rectOf)
  if (!first) return standIn.getBoundingClientRect()
  let { left, top, right, bottom } = first
  for (const more of rest) {
    left = Math.min(left, more.left)
    top = Math.min(top, more.top)
    right = Math.max(right, more.right)
    bottom = Math.max(bottom, more.bottom)
  }
  return new DOMRect(left, top, right - left, bottom - top)
}

/** The part of an image that an `area` of its map covers. */
function areaOf(area: Element, image: DOMRect): DOMRect {
  const { shape, coords } = area as HTMLAreaElement
  const at = coords.split(',').map(Number)
  const [x = 0, y = 0, radius = 0] = at
  if (shape === 'circle')
    return new DOMRect(image.left + x - radius, image.top + y - radius, radius * 2, radius * 2)
  const xs = at.filter((_, i) => i % 2 === 0)
  const ys = at.filter((_, i) => i % 2 === 1)
  if (ys.length === 0) return image
  const [left, top] = [Math.min(...xs), Math.min(...ys)]
  return new DOMRect(
    image.left + left,
    image.top + top,
    Math.max(...xs) - left,
    Math.max(...ys) - top,
  )
}
