import type { TargetedToggleEvent } from 'preact'

/** Where panels over the page are put: below what they belong to, or above if there is more room. */

const gap = 6

/** Places a panel at its anchor, inside the window and, if there is one, inside the page's content. */
export function place(panel: HTMLElement, anchor: Element): void {
  const at = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const content = anchor.closest('.page, .dialog-body')
  const end = content
    ? content.getBoundingClientRect().right -
      Number.parseFloat(getComputedStyle(content).paddingRight)
    : innerWidth - gap
  const start = getComputedStyle(anchor).direction === 'rtl' ? at.right - width : at.left
  const left = Math.max(gap, Math.min(start, end - width))
  const isBelow = at.bottom + gap + height <= innerHeight || at.top < innerHeight / 2
  const top = isBelow ? at.bottom + gap : Math.max(gap, at.top - height - gap)
  panel.style.left = `${left}px`
  panel.style.top = `${top}px`
}

/** For a popover with its button before it: places it at that button whenever it opens. */
export const anchored = (onOpen?: (panel: HTMLElement) => void) => ({
  onToggle: ({ currentTarget: panel, newState }: TargetedToggleEvent<HTMLElement>) => {
    if (newState !== 'open') return
    place(panel, panel.previousElementSibling!)
    onOpen?.(panel)
  },
})
