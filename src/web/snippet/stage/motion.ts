/** How long it takes to go from one place to the next, and to go away, milliseconds. */
export const glideMs = 320
export const leaveMs = 140

/** Quick at first, at rest at the end; `1` is there. */
export const easing = 'cubic-bezier(.22, 1, .36, 1)'
export const eased = (part: number): number => 1 - (1 - Math.min(1, part)) ** 4

/** Whether nothing is to move that need not, or nobody sees it. */
export const isCalm = (page: Window): boolean =>
  page.document.hidden || page.matchMedia('(prefers-reduced-motion: reduce)').matches

/** What was there before, in another form, does not appear. */
export const settle = (element: Element): void => {
  for (const animation of element.getAnimations({ subtree: true })) animation.finish()
}
