import type { Flow } from '../parts.ts'
import type { StageDeps } from '../stage.ts'
import type { Drawer } from './drawer.ts'
import { keepTrying } from './keep-trying.ts'
import type { Offered } from './launcher-shown.ts'
import { spoken } from './spoken.ts'

/** Offers a launcher as soon as its part has loaded. */
export function loadLauncher(
  flow: Flow,
  deps: StageDeps & { drawer: Drawer; isHidden: boolean },
): Offered {
  const gone = new AbortController()
  let offered: Offered | null = null
  let { isHidden } = deps
  let isToOpen = false
  const load = async () => {
    const part = await keepTrying(() => deps.loadPart('launcher'), deps.page, gone.signal)
    if (!part) return
    offered = part.offerLauncher(flow, { ...deps, spoken, isHidden })
    if (isToOpen) offered.open()
  }
  load().catch(() => {})
  return {
    open() {
      isToOpen = true
      offered?.open()
    },
    hide(hidden) {
      isHidden = hidden
      offered?.hide(hidden)
    },
    leave() {
      gone.abort()
      offered?.leave()
    },
  }
}
