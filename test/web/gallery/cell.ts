import { isOnPage } from '../../../src/core/flow/decision.ts'
import { shownAs } from '../../../src/core/flow/shown-as.ts'
import {
  holdLinks,
  visitorPage,
} from '../../../src/web/dashboard/authoring/preview/frame/visitor-page.ts'
import { ownPart } from '../../../src/web/snippet/all-parts.ts'
import { muted } from '../../../src/web/snippet/muted.ts'
import { createStage } from '../../../src/web/snippet/renderer.ts'
import { newRun } from '../../../src/web/snippet/runs.ts'
import { ownHostAttribute } from '../../../src/web/snippet/stage/elements.ts'
import type { Shown } from './shown.ts'

/**
 * One picture of the gallery: a page with a flow on it, drawn by the snippet's own stage. Nothing
 * reaches a server, nothing is stored, and no link leads away.
 */

function show({
  flow,
  step,
  ticked = [],
  isFolded = false,
  known = [],
  press,
  point,
}: Shown): void {
  const { steps, checklist } = flow
  const at = step === undefined ? 0 : steps.findIndex(({ key }) => key === step)
  const items = checklist?.items.filter(({ key }) => ticked.includes(key)) ?? []
  const run = {
    ...newRun(flow, flow.key, !isFolded),
    wasOpened: true,
    stepId: steps[at]?.id ?? null,
    viewed: steps.slice(0, at).map(({ id }) => id),
    ticked: Object.fromEntries(items.map(({ id }) => [id, 1])),
  }
  const page = visitorPage(() => {}, location.href)
  const nothing = () => {}
  const feed = { ...muted.feed, known: () => known }
  const stage = createStage({
    ...muted,
    isHere: step => isOnPage(step, new URL(location.href)),
    feed,
    loadPart: ownPart,
    page,
    end: nothing,
    tell: nothing,
  })
  stage.show(shownAs(flow), flow, run)
  // Without a button of its own, only the open panel is there to be drawn.
  if (flow.launcher?.target) stage.requested('launcher')
  whenDrawn(root => {
    if (press) root.querySelector<HTMLElement>(press)?.click()
    if (point) root.querySelector<HTMLElement>(point)?.focus()
    document.documentElement.dataset.drawn = flow.key
  })
}

function whenDrawn(then: (root: ShadowRoot) => void): void {
  const root = document.querySelector(`[${ownHostAttribute}]`)?.shadowRoot
  if (root?.querySelector(':popover-open, dialog[open]')) then(root)
  else requestAnimationFrame(() => whenDrawn(then))
}

holdLinks(() => {})
show(JSON.parse(document.getElementById('shown')?.textContent ?? ''))
