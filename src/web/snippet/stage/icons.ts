const svg = 'http://www.w3.org/2000/svg'

/** An element of a drawing, with its attributes. */
export function shape(
  { document }: Window,
  name: 'svg' | 'path' | 'circle',
  attributes: Readonly<Record<string, string>>,
  ...children: Node[]
): SVGElement {
  const made = document.createElementNS(svg, name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

/** Lines in a square of 24 units, in the colour of the text, hidden from screen readers. */
export const icon = (page: Window, className: string, lines: string): SVGElement =>
  shape(
    page,
    'svg',
    { viewBox: '0 0 24 24', class: className, 'aria-hidden': 'true' },
    shape(page, 'path', { d: lines, pathLength: '1' }),
  )

export const cross = 'M6 6 18 18M18 6 6 18'
export const check = 'M5 12.5 10 17.5 19.5 7'

/** How much is done, up to 1, as a ring that fills. */
export const progressRing = (page: Window, part: number): SVGElement => {
  const circle = { cx: '12', cy: '12', r: '9.5', pathLength: '1' }
  return shape(
    page,
    'svg',
    { viewBox: '0 0 24 24', class: 'circle', 'aria-hidden': 'true' },
    shape(page, 'circle', circle),
    // Its round ends would show a dot where nothing is done yet.
    ...(part > 0 ? [shape(page, 'circle', { ...circle, 'stroke-dasharray': `${part} 2` })] : []),
  )
}
