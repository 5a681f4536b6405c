import type { StepView } from '../parts.ts'
import type { Drawing } from './draw-card.ts'
import { contains, hitAt } from './elements.ts'
import type { Host } from './host.ts'
import { make } from './make.ts'
import { eased, glideMs, isCalm, settle } from './motion.ts'
import type { Opened } from './opened.ts'
import { type Box, follow, moveTo } from './placing.ts'
import type { Spotlight } from './tab-order.ts'
import { anchorOf, boxOf, type Edges, levelsOf } from './visibility.ts'

/** The space between an element and the edge of the light around it, pixels. */
const room = 5

/**
 * As the step says. Otherwise only a tooltip has one: as the theme says, and if it says nothing, the page is
 * dimmed unless the visitor has work to do on it before the flow goes on.
 */
export function spotlightOf({ step, flow }: StepView, host: Host): Spotlight {
  if (step.spotlight) return step.spotlight
  if (step.kind !== 'tooltip') return 'off'
  return host.themeOf(flow.theme)?.spotlight ?? (step.advance.on === 'event' ? 'off' : 'dim')
}

/**
 * Frames an element, and darkens the rest of the page. Both are drawn together, from one rectangle,
 * whenever the element has moved, and glide there from where the previous step had them.
 *
 * @returns a function that ends it
 */
export function lightUp(
  mode: Spotlight,
  drawing: Pick<Drawing, 'root' | 'page' | 'follow'>,
  from: { frame: Box | null; isDimmed: boolean } | null,
  opened: Opened,
): () => void {
  const { root, page } = drawing
  const hidden = { popover: 'manual', 'aria-hidden': 'true' }
  const ring = make(page, 'div', 'ring', { ...hidden, part: 'ring' })
  const veil = make(page, 'div', `veil ${mode}`, { ...hidden, part: 'veil' })
  const own = mode === 'off' ? [ring] : [veil, ring]
  root.append(...own)
  for (const one of own) one.showPopover()
  if (from?.isDimmed) settle(veil)
  // A press on the veil leaves the focus where it is.
  veil.addEventListener('mousedown', event => event.preventDefault())
  // A press on the ground that an open dialog or list lies on usually closes it.
  let pointer = { x: 0, y: 0 }
  for (const name of ['pointerover', 'pointermove'] as const) {
    veil.addEventListener(name, ({ clientX: x, clientY: y }) => {
      pointer = { x, y }
    })
  }
  veil.addEventListener('click', () => {
    const hit = hitAt(pointer.x, pointer.y, page.document)
    if (hit && opened.elements().some(one => contains(one, hit))) (hit as HTMLElement).click()
  })

  /** Holes for what the element has opened. They must not overlap, or the path would fill them again. */
  const openings = ({ left, top, width, height }: Box, light: string) => {
    const lit = {
      left: left - room,
      top: top - room,
      right: left + width + room,
      bottom: top + height + room,
    }
    const cut = light === '' ? [] : [lit]
    return opened
      .boxes()
      .flatMap(box => {
        const rest = cut.reduce(
          (parts, other) => parts.flatMap(part => without(part, other)),
          [box],
        )
        cut.push(box)
        return rest.map(
          ({ left, top, right, bottom }) => `M${left} ${top}H${right}V${bottom}H${left}Z`,
        )
      })
      .join('')
  }

  let begun: number | null = null
  const frame = (element: Element) => {
    const anchor = anchorOf(element)
    ring.style.removeProperty('--corner')
    const corner = cornerOf(anchor, ring, page)
    if (corner !== null) ring.style.setProperty('--corner', `${corner}px`)
    const clips = [...levelsOf(anchor)]
      .filter(({ holds, isWindow, style }) => holds && !isWindow && style.overflow !== 'visible')
      .map(({ at }) => at)

    const draw = (box: Box) => {
      moveTo(ring, box.left, box.top)
      Object.assign(ring.style, { width: `${box.width}px`, height: `${box.height}px` })
      const radius = (corner ?? Number.parseFloat(page.getComputedStyle(ring).borderRadius)) || 0
      const light = hole(box, clips, radius)
      // What it frames may be scrolled out of sight.
      ring.style.visibility = light === '' ? 'hidden' : ''
      veil.style.clipPath = `path(evenodd, "M0 0H${farPx}V${farPx}H0Z${light}${openings(box, light)}")`
    }

    begun ??= page.performance.now()
    const since = begun
    const start = from?.frame ?? null
    const glides = start !== null && !isCalm(page)
    const place = () => {
      const to = boxOf(element)
      const part = glides ? eased((page.performance.now() - since) / glideMs) : 1
      draw(part < 1 && start ? between(start, to, part) : to)
      return part < 1
    }
    return follow(element, ring, place, opened)
  }
  const end = drawing.follow(frame)
  return () => {
    end()
    for (const one of own) one.remove()
  }
}

/** The parts of a box that another one does not cover. */
function without(box: Edges, other: Edges): Edges[] {
  const top = Math.max(box.top, Math.min(other.top, box.bottom))
  const bottom = Math.min(box.bottom, Math.max(other.bottom, box.top))
  return [
    { ...box, bottom: top },
    { ...box, top, bottom, right: Math.min(box.right, other.left) },
    { ...box, top, bottom, left: Math.max(box.left, other.right) },
    { ...box, top: bottom },
  ].filter(part => part.right > part.left && part.bottom > part.top)
}

/** Wider and higher than any window. */
const farPx = 32_000

const between = (from: Box, to: Box, part: number): Box => {
  const at = (name: keyof Box) => from[name] + (to[name] - from[name]) * part
  return { left: at('left'), top: at('top'), width: at('width'), height: at('height') }
}

/** A rounded element has a rounded light. A square one gets the theme's corners. */
function cornerOf(element: Element, ring: HTMLElement, page: Window): number | null {
  const { borderTopLeftRadius } = page.getComputedStyle(element)
  const own = Number.parseFloat(borderTopLeftRadius) || 0
  const { width, height } = element.getBoundingClientRect()
  const pixels = borderTopLeftRadius.endsWith('%') ? (own / 100) * Math.min(width, height) : own
  const least = Number.parseFloat(page.getComputedStyle(ring).borderTopLeftRadius) || 0
  return pixels === 0 ? null : Math.max(Math.min(pixels, height / 2) + room, Math.min(least, 6))
}

/** The visible part of the element, and some space around it, as a path with rounded corners. */
function hole(box: Box, clips: readonly Element[], radius: number): string {
  let [left, top] = [box.left - room, box.top - room]
  let [right, bottom] = [box.left + box.width + room, box.top + box.height + room]
  for (const clip of clips) {
    const seen = clip.getBoundingClientRect()
    left = Math.max(left, seen.left)
    top = Math.max(top, seen.top)
    right = Math.min(right, seen.right)
    bottom = Math.min(bottom, seen.bottom)
  }
  const [width, height] = [right - left, bottom - top]
  if (width <= 0 || height <= 0) return ''
  const r = Math.min(radius, width / 2, height / 2)
  const arc = (x: number, y: number) => `a${r} ${r} 0 0 1 ${x} ${y}`
  return (
    `M${left + r} ${top}h${width - 2 * r}${arc(r, r)}v${height - 2 * r}${arc(-r, r)}` +
    `h${2 * r - width}${arc(-r, -r)}v${2 * r - height}${arc(r, -r)}Z`
  )
}
