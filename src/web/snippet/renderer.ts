import { showChecklist } from './stage/checklist.ts'
import { createFinder } from './stage/finder.ts'
import { createHost } from './stage/host.ts'
import { playSteps } from './stage/player.ts'
import type { Stage, StageDeps } from './stage.ts'

/** The part that is loaded when the first flow is due. */
export function createStage(deps: StageDeps): Stage {
  const host = createHost(deps.page)
  const finder = createFinder(deps.page)
  let steps: ReturnType<typeof playSteps> | null = null
  let checklist: ReturnType<typeof showChecklist> | null = null

  const clear: Stage['clear'] = slot => {
    if (slot === 'checklist') {
      checklist?.leave()
      checklist = null
    } else {
      steps?.leave()
      steps = null
      checklist?.hide(false)
    }
  }
  const end: StageDeps['end'] = (slot, ...how) => {
    // A checklist takes itself away, once it was seen to be done.
    if (slot === 'steps') clear(slot)
    deps.end(slot, ...how)
  }

  const giveWay: StageDeps['giveWay'] = slot => {
    clear(slot)
    deps.giveWay(slot)
  }

  return {
    clear,
    show(slot, flow, run) {
      clear(slot)
      const own = { ...deps, end, giveWay, host, save: () => deps.save(slot, run) }
      if (slot === 'checklist') {
        checklist = showChecklist(flow, run, { ...own, isHidden: steps !== null })
      } else {
        checklist?.hide(true)
        steps = playSteps(flow, run, { ...own, finder })
      }
    },
    tracked(name) {
      steps?.tracked(name)
      checklist?.tracked(name)
    },
  }
}
