/** How long the move from one place to the next takes, and leaving, milliseconds. */
export const glideMs = 320
export const leaveMs = 140

/** Quick at first, at rest at the end. A part of `1` is the end. */
export const easing = 'cubic-bezier(.22, 1, .36, 1)'
export const eased = (part: number): number => 1 - (1 - Math.min(1, part)) ** 4

/** Whether to avoid needless motion: the visitor prefers that, or nobody sees the page. */
export const isCalm = (page: Window): boolean =>
  page.document.hidden || page.matchMedia('(prefers-reduced-motion: reduce)').matches

/** Skips the animation of what was there before in another form, so that it does not appear again. */
export const settle = (element: Element): void => {
  for (const animation of element.getAnimations({ subtree: true })) {
    // The dot of a hotspot keeps moving for as long as it is shown.
    if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish()
  }
}
