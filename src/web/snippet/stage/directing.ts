import { safely } from '../safely.ts'
import type { Stage, StageDeps } from '../stage.ts'
import { showChecklist } from './checklist.ts'
import type { Drawer } from './drawer.ts'
import { createFinder } from './finder.ts'
import { keepUpWith } from './keep-up.ts'
import { loadLauncher } from './load-launcher.ts'
import { playSteps } from './player.ts'
import { createScrolls } from './scrolling.ts'
import { spoken } from './spoken.ts'
import { createStepReports } from './step-reports.ts'

/** How long a checklist stays out of sight for a step that is about to be shown, milliseconds. */
const soonMs = 1_000

/** Plays steps and checklists side by side, beside a launcher, with whichever drawer. */
export function directStage(deps: StageDeps, drawer: Drawer): Stage {
  const finder = createFinder(deps.page)
  const reports = createStepReports(deps)
  let steps: ReturnType<typeof playSteps> | null = null
  let checklist: ReturnType<typeof showChecklist> | null = null
  let launcher: ReturnType<typeof loadLauncher> | null = null
  /** The key of the flow that the launcher starts. If it is a checklist, it is opened. */
  let started: string | null = null
  /** A step is shown, or about to be: checklist and launcher make room. */
  let isListHidden = false
  let returning: number | undefined

  const hideList = (isHidden: boolean) => {
    deps.page.clearTimeout(returning)
    if (isListHidden === isHidden) return
    isListHidden = isHidden
    checklist?.hide(isHidden)
    launcher?.hide(isHidden)
  }
  /** Shows the checklist again unless a step comes soon. A step that only waits hides nothing. */
  const returnList = () => {
    deps.page.clearTimeout(returning)
    returning = deps.page.setTimeout(() => safely(() => hideList(false)), soonMs)
  }
  const makeRoom = (isDrawn: boolean) => (isDrawn ? hideList(true) : returnList())
  let isStepDrawn = false
  /** Ends the tip that the page's own code wants shown. */
  let tip = new AbortController()
  const drawing = (isDrawn: boolean) => {
    isStepDrawn = isDrawn
    if (isDrawn) tip.abort()
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
    } else if (slot === 'launcher') {
      launcher?.leave()
      launcher = null
    } else {
      tip.abort()
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
      if (slot === 'launcher') {
        launcher?.leave()
        const start: StageDeps['start'] = (key, by) => {
          started = key
          deps.start(key, by)
        }
        launcher = loadLauncher(flow, { ...own, reports, start, isHidden: isListHidden })
      } else if (slot === 'checklist') {
        checklist?.leave()
        checklist = showChecklist(flow, run, { ...own, isHidden: isListHidden })
      } else {
        clearSteps()
        hideList(true)
        returnList()
        steps = playSteps(flow, run, { ...own, finder, reports, drawing })
      }
    },
    requested(slot) {
      if (slot === 'steps') steps?.requested()
      if (slot === 'launcher') launcher?.open()
      if (slot === 'checklist' && started !== null) checklist?.open()
      started = null
    },
    moved: () => steps?.moved(),
    async highlight(selector, texts) {
      tip.abort()
      if (selector === null || isStepDrawn) return false
      const own = new AbortController()
      tip = own
      const { showTip } = await deps.loadPart('highlight')
      const lent = { drawer, finder, keepUpWith, createScrolls, spoken, drawing: makeRoom }
      return showTip(selector, texts ?? {}, own, { ...deps, ...lent })
    },
    tracked(name) {
      steps?.tracked(name)
      checklist?.tracked(name)
    },
  }
}
