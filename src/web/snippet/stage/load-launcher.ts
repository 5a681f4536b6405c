import type { Flow } from '../parts.ts'
import type { StageDeps } from '../stage.ts'
import type { Drawer } from './drawer.ts'
import { keepTrying } from './keep-trying.ts'
import type { Offered } from './launcher-shown.ts'
import { spoken } from './spoken.ts'
import type { StepReports } from './step-reports.ts'

/** Offers a launcher as soon as its part has loaded. What is done with it until then is done after that. */
export function loadLauncher(
  flow: Flow,
  deps: StageDeps & { drawer: Drawer; reports: StepReports; isHidden: boolean },
): Offered {
  const gone = new AbortController()
  const offered = keepTrying(() => deps.loadPart('launcher'), deps.page, gone.signal).then(part =>
    part?.offerLauncher(flow, { ...deps, spoken }),
  )
  const then = (work: (launcher: Offered) => void) => {
    offered.then(launcher => launcher && work(launcher)).catch(() => {})
  }
  return {
    open: () => then(launcher => launcher.open()),
    hide: isHidden => then(launcher => launcher.hide(isHidden)),
    leave() {
      gone.abort()
      then(launcher => launcher.leave())
    },
  }
}
