import { shownAs } from '../../core/flow/shown-as.ts'
import { holdLinks, visitorPage } from '../dashboard/authoring/preview/frame/visitor-page.ts'
import { ownPart } from '../snippet/all-parts.ts'
import { muted } from '../snippet/muted.ts'
import { createStage } from '../snippet/renderer.ts'
import { newRun } from '../snippet/runs.ts'
import { ownHostAttribute } from '../snippet/stage/elements.ts'
import type { Shown } from './shown.ts'

/**
 * One picture of the demo's gallery: a page with a flow on it, drawn by the snippet's own stage. Nothing
 * reaches a server, nothing is stored, and no link leads away.
 */

function show({ flow, step, ticked = [], isFolded = false, press, point }: Shown): void {
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
  createStage({ ...muted, loadPart: ownPart, page, end: nothing, tell: nothing }).show(
    shownAs(flow),
    flow,
    run,
  )
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
