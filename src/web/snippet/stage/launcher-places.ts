/** How far a launcher keeps away from a checklist in the same corner, CSS pixels. */
const clearPx = 24
/** Between what opens the panel and the panel, and between the panel and the window's edge. */
const gapPx = 12

/** Puts the button above a checklist's, if that is in its way; beside an open list there is no room for it. */
export function placeButton(button: HTMLElement, page: Window): void {
  button.style.bottom = ''
  button.classList.remove('covered-up')
  const other = (button.getRootNode() as ShadowRoot).querySelector<HTMLElement>(
    '.launcher:not(.centre-button), .panel:not(.centre)',
  )
  if (!other) return
  const isBeside =
    button.offsetLeft >= other.offsetLeft + other.offsetWidth + clearPx ||
    other.offsetLeft >= button.offsetLeft + button.offsetWidth + clearPx
  const isAbove = button.offsetTop + button.offsetHeight + clearPx <= other.offsetTop
  if (isBeside || isAbove) return
  if (other.matches('.panel')) button.classList.add('covered-up')
  else button.style.bottom = `${page.innerHeight - other.offsetTop + clearPx}px`
}

/** Where the snippet's own button will be once it has come to rest, or where the page's own element is. */
function restingBox(opener: Element) {
  if (!opener.matches('.centre-button')) return opener.getBoundingClientRect()
  const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = opener as HTMLElement
  return {
    ...{ left: offsetLeft, top: offsetTop },
    ...{ right: offsetLeft + offsetWidth, bottom: offsetTop + offsetHeight },
  }
}

/** Puts the panel above the button, or beside the page's own element; on a phone it is a sheet. */
export function placePanel(panel: HTMLElement, opener: Element | null, page: Window): void {
  const { style } = panel
  const { innerWidth, innerHeight } = page
  for (const name of ['inset', 'margin', '--room']) style.removeProperty(name)
  if (innerWidth <= 480 || !opener) return
  const { left, right, top, bottom } = restingBox(opener)
  const width = panel.offsetWidth
  const above = top - 2 * gapPx
  const below = innerHeight - bottom - 2 * gapPx
  const isBelow = below >= Math.min(panel.offsetHeight, above)
  style.setProperty('--room', `${Math.max(160, isBelow ? below : above)}px`)
  const isStart = (left + right) / 2 < innerWidth / 2
  const x = isStart ? left : right - width
  const at = Math.min(Math.max(gapPx, x), innerWidth - width - gapPx)
  style.inset = isBelow
    ? `${bottom + gapPx}px auto auto ${at}px`
    : `auto auto ${innerHeight - top + gapPx}px ${at}px`
}
