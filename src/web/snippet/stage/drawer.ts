import type { MaybeTheme } from '../../../core/flow/merged-theme.ts'
import type { Flow, StepView } from '../parts.ts'
import type { StageDeps } from '../stage.ts'
import { type ChecklistActions, type ChecklistState, drawChecklist } from './draw-checklist.ts'
import { drawElsewhere, type ElsewhereView } from './draw-elsewhere.ts'
import type { drawLauncher } from './draw-launcher.ts'
import { type Drawn, drawStep } from './draw-step.ts'
import { createHost } from './host.ts'
import type { DrawnLauncher, LauncherActions } from './launcher-shown.ts'
import { markdownNodes } from './markdown.ts'
import { spoken } from './spoken.ts'

/** Shows flows to people, either drawn by Cairn or by the page's own components. */
export interface Drawer {
  step(view: StepView): Drawn
  /** A step that is for another page. */
  elsewhere(view: ElsewhereView): Pick<Drawn, 'remove'>
  checklist(flow: Flow, actions: ChecklistActions): DrawnChecklist
  /** @param draw draws it; it is loaded on demand */
  launcher(draw: typeof drawLauncher, flow: Flow, actions: LauncherActions): DrawnLauncher
}

export interface DrawnChecklist {
  draw(state: ChecklistState): void
  /** Tells screen reader users that the whole list is done. */
  sayDone(): void
  /** Draws the person's attention to the open list, which may have been there before. */
  point?(): void
  remove(): void
}

/** @param theme the organisation's, as known when it is called */
export function createDrawer(
  { page, locale }: Pick<StageDeps, 'page' | 'locale'>,
  theme: () => MaybeTheme,
): Drawer {
  const host = createHost(page, theme)
  return {
    step: view => drawStep(view, host, page),
    elsewhere: view => drawElsewhere(view, host, page),
    checklist: (flow, actions) => drawChecklist(flow, host, page, locale, actions),
    launcher: (draw, flow, actions) =>
      draw(flow, host, page, locale, actions, { spoken, markdownNodes }),
  }
}
