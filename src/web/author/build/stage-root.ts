import { ownHostAttribute } from '../../snippet/stage/elements.ts'

/** What the snippet's own stage has drawn, for the builder on top of it. */

/** The shadow root in which the snippet draws steps. */
export const stageRoot = (): ShadowRoot | null =>
  document.querySelector(`[${ownHostAttribute}=""]`)?.shadowRoot ?? null

export const cardIn = (root: ShadowRoot | null): HTMLElement | null =>
  root?.querySelector<HTMLElement>('.root:not(.leaves) > .card') ?? null

/** The box of what a tooltip points at, as the ring around it shows. */
export const pointedAt = () => stageRoot()?.querySelector('.ring')?.getBoundingClientRect() ?? null
