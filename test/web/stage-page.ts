import type { Flow } from '../../src/core/flow/flow.ts'
import { ownPart } from '../../src/web/snippet/all-parts.ts'
import { muted } from '../../src/web/snippet/muted.ts'
import { newRun } from '../../src/web/snippet/runs.ts'
import { directStage } from '../../src/web/snippet/stage/directing.ts'
import { createDrawer } from '../../src/web/snippet/stage/drawer.ts'
import { boxOf, isVisible } from '../../src/web/snippet/stage/visibility.ts'

/** What runs in the page of `stage.ts`: the stage alone, without a server, as the page's own functions. */

const nothing = () => {}
const deps = { ...muted, loadPart: ownPart, page: window, end: nothing, tell: nothing }
const stage = directStage(deps, createDrawer(deps, deps.feed.theme))

Object.assign(window, {
  isVisible,
  boxOf,
  /** Fills the body, with shadow roots from `data-shadow`. */
  fill(html: string) {
    document.body.innerHTML = html
    for (const host of document.querySelectorAll<HTMLElement>('[data-shadow]')) {
      host.attachShadow({ mode: 'open' }).innerHTML = host.dataset.shadow!
    }
    scrollTo(0, 0)
  },
  show: (flow: Flow) => stage.show('steps', flow, newRun(flow, flow.key, true)),
  clear: () => stage.clear('steps'),
  /** The title of what is shown; null for nothing. */
  title: () =>
    document.querySelector('[data-cairn]')?.shadowRoot?.querySelector('.card h2')?.textContent ??
    null,
})
document.documentElement.dataset.ready = ''
