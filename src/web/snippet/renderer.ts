import { showChecklist } from './stage/checklist.ts'
import { createFinder } from './stage/finder.ts'
import { createHost } from './stage/host.ts'
import { playSteps } from './stage/player.ts'
import type { Stage, StageDeps } from './stage.ts'

/** How long it takes at most to begin with the next flow that is due, milliseconds. */
const nextFlowMs = 200

/** The part that is loaded when the first flow is due. */
export function createStage(deps: StageDeps): Stage {
  const host = createHost(deps.page)
  const finder = createFinder(deps.page)
  let steps: ReturnType<typeof playSteps> | null = null
  let checklist: ReturnType<typeof showChecklist> | null = null
  /** Steps are shown, or about to be: the checklist makes room. */
  let isListHidden = false

  const hideList = (isHidden: boolean) => {
    if (isListHidden === isHidden) return
    isListHidden = isHidden
    checklist?.hide(isHidden)
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
      clearSteps()
      hideList(false)
    }
  }
  const end: StageDeps['end'] = (slot, ...how) => {
    // A checklist takes itself away, once it was seen to be done.
    if (slot === 'steps') clear(slot)
    deps.end(slot, ...how)
  }

  const giveWay: StageDeps['giveWay'] = slot => {
    clearSteps()
    deps.giveWay(slot)
    // Unless the next flow's steps come at once.
    deps.page.setTimeout(() => {
      if (steps === null) hideList(false)
    }, nextFlowMs)
  }

  return {
    clear,
    show(slot, flow, run) {
      const own = { ...deps, end, giveWay, host, save: () => deps.save(slot, run) }
      if (slot === 'checklist') {
        checklist?.leave()
        checklist = showChecklist(flow, run, { ...own, isHidden: isListHidden })
      } else {
        clearSteps()
        // Not for steps that have been looked for in vain, until one is found.
        const isInVain = run.viewed.length === 0 && run.missed.length > 0
        hideList(!isInVain)
        steps = playSteps(flow, run, { ...own, finder, drawing: () => hideList(true) })
      }
    },
    tracked(name) {
      steps?.tracked(name)
      checklist?.tracked(name)
    },
  }
}
