import { safely } from '../safely.ts'
import type { Stage, StageDeps } from '../stage.ts'
import { showChecklist } from './checklist.ts'
import type { Drawer } from './drawer.ts'
import { createFinder } from './finder.ts'
import { createHighlight } from './highlight.ts'
import { playSteps } from './player.ts'
import { createStepReports } from './step-reports.ts'

/** How long a checklist stays out of sight for a step that is about to be shown, milliseconds. */
const soonMs = 1_000

/** Plays steps and checklists side by side, with whichever drawer. */
export function directStage(deps: StageDeps, drawer: Drawer): Stage {
  const finder = createFinder(deps.page)
  const reports = createStepReports(deps)
  let steps: ReturnType<typeof playSteps> | null = null
  let checklist: ReturnType<typeof showChecklist> | null = null
  /** A step is shown, or about to be: the checklist makes room. */
  let isListHidden = false
  let returning: number | undefined

  const hideList = (isHidden: boolean) => {
    deps.page.clearTimeout(returning)
    if (isListHidden === isHidden) return
    isListHidden = isHidden
    checklist?.hide(isHidden)
  }
  /** Shows the checklist again unless a step comes soon. A step that only waits hides nothing. */
  const returnList = () => {
    deps.page.clearTimeout(returning)
    returning = deps.page.setTimeout(() => safely(() => hideList(false)), soonMs)
  }
  const makeRoom = (isDrawn: boolean) => (isDrawn ? hideList(true) : returnList())
  let isStepDrawn = false
  const tips = createHighlight({ ...deps, drawer, finder, drawing: makeRoom })
  const drawing = (isDrawn: boolean) => {
    isStepDrawn = isDrawn
    if (isDrawn) tips.close()
    makeRoom(isDrawn)
  }
  const clearSteps = () => {
    steps?.leave()
    steps = null
  }

  const clear: Stage['clear'] = slot => {
    if (slot === 'checklist') {
      checklist?.leave()
      checklist = null
    } else {
      tips.close()
      clearSteps()
      hideList(false)
    }
  }
  const end: StageDeps['end'] = (slot, ...how) => {
    // A checklist takes itself away, once the visitor has seen that it is done.
    if (slot === 'steps') clear(slot)
    deps.end(slot, ...how)
  }

  const giveWay: StageDeps['giveWay'] = slot => {
    clearSteps()
    returnList()
    deps.giveWay(slot)
  }

  return {
    clear,
    show(slot, flow, run) {
      const own = { ...deps, end, giveWay, drawer, save: () => deps.save(slot, run) }
      if (slot === 'checklist') {
        checklist?.leave()
        checklist = showChecklist(flow, run, { ...own, isHidden: isListHidden })
      } else {
        clearSteps()
        hideList(true)
        returnList()
        steps = playSteps(flow, run, { ...own, finder, reports, drawing })
      }
    },
    asked(slot) {
      if (slot === 'steps') steps?.asked()
    },
    moved: () => steps?.moved(),
    async highlight(selector, tip) {
      tips.close()
      return selector !== null && !isStepDrawn && tips.show(selector, tip ?? {})
    },
    tracked(name) {
      steps?.tracked(name)
      checklist?.tracked(name)
    },
  }
}
