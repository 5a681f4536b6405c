import type { Highlight } from '../api.ts'
import { textOf } from '../page-values.ts'
import type { Finder, Flow, Step } from '../parts.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import { warn } from '../warn.ts'
import type { Drawer } from './drawer.ts'
import { ownHostAttribute } from './elements.ts'
import type { keepUpWith } from './keep-up.ts'
import type { createScrolls } from './scrolling.ts'
import type { spoken } from './spoken.ts'

/** How much text a tip has, characters. */
const maxTitle = 200
const maxBody = 2_000

const target = (selector: string) =>
  ({ selector, text: null, nth: 0, waitMs: 0, required: true, onMissing: 'skip' }) as const

/** A flow of one step, as the drawer takes it. No run of it is kept, and nothing of it is reported. */
function tipOf(selector: string, title: string, body: string): Flow {
  const key = 'highlight'
  const step: Step = {
    ...{ id: key, key, position: 0, kind: 'tooltip', title, body, spotlight: 'off' },
    target: target(selector),
    placement: { side: 'bottom', align: 'center' },
    advance: { on: 'button', event: null },
    buttons: [],
  }
  return {
    ...{ id: key, key, name: title || body.slice(0, maxTitle), kind: 'tour', version: 1 },
    ...{ publishedAt: '', priority: 0, frequency: 'always', theme: null, checklist: null },
    targeting: { urls: [], audience: { match: 'all', rules: [] } },
    steps: [step],
  }
}

/** What the stage lends, so that it is not loaded twice. */
export interface Lent extends Pick<StageDeps, 'page' | 'locale'> {
  drawer: Drawer
  finder: Finder
  keepUpWith: typeof keepUpWith
  createScrolls: typeof createScrolls
  spoken: typeof spoken
  /** Called when the tip comes onto the page or leaves it. */
  drawing(isDrawn: boolean): void
}

/**
 * Shows a tip at an element of the page, because the page's own code wants it.
 *
 * @param closing ends it from outside
 * @returns whether the page has the element, so that the tip is shown
 */
export async function showTip(
  selector: string,
  { title, body }: Highlight,
  closing: AbortController,
  { page, locale, drawer, finder, drawing, ...lent }: Lent,
): Promise<boolean> {
  const { signal } = closing
  const close = () => closing.abort()
  const flow = tipOf(selector, textOf(title ?? '', maxTitle), textOf(body ?? '', maxBody))
  const [step] = flow.steps as [Step]
  if (flow.name === '') warn('highlight() needs a title or a body')
  const found = await finder.find(target(selector), signal)
  if (found.element === null) warn(`highlight() found no visible element "${selector}"`)
  if (found.element === null || flow.name === '' || signal.aborted) return false
  drawing(true)
  const drawn = drawer.step({
    ...{ flow, step, place: 1, of: 1, hasBack: false, given: null, element: found.element },
    ...{ spoken: lent.spoken(flow, page, locale), scrolls: lent.createScrolls() },
    choose: close,
    keepDraft() {},
    part: async () => null,
  })
  signal.addEventListener('abort', () => {
    drawn.remove()
    drawing(false)
  })
  const { pointAt: changed, isInUse } = drawn
  const listens = { changed, isInUse, lost: close }
  lent.keepUpWith(target(selector), found, { page, finder, signal }, listens)
  const own = `[${ownHostAttribute}]`
  // Where the page draws the tip itself, only the page knows what is outside of it.
  const isOutside = (event: Event) =>
    page.document.querySelector(own) !== null &&
    !event.composedPath().some(one => (one as Element).matches?.(own))
  const pressed = (event: Event) => safely(() => isOutside(event) && close())
  page.addEventListener('pointerdown', pressed, { capture: true, signal })
  return true
}
