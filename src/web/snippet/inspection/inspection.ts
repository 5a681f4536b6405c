import { debugMark } from '../create.ts'
import type { Inside, Inspection } from './inside.ts'
import { openPanel } from './panel.ts'
import { reportOf } from './report.ts'
import { traceTraffic } from './traffic.ts'
import { verdictsOn } from './why.ts'

/** Tells about the flows, and why they are shown or not. Loaded when the page first asks. */
export function createInspection(inside: Inside): Inspection {
  const { engine, page } = inside
  const traffic = traceTraffic(inside.transport, inside.store)
  let close: (() => void) | null = null

  const show: Inspection['show'] = (isOpen = close === null) => {
    close?.()
    close = null
    if (!isOpen) return page.sessionStorage.removeItem(debugMark)
    const look = () => reportOf(inside, traffic)
    close = openPanel(page, { look, start: engine.start, closed: () => show(false) })
    page.sessionStorage[debugMark] = '1'
  }

  return {
    flows: () =>
      verdictsOn(inside).map(({ flow: { key, name, kind, version }, isActive, isDue }) => {
        const progress = engine.progress(key)!
        return { key, name, kind, version, isActive, isDue, progress }
      }),
    why(flowKey) {
      const found = verdictsOn(inside).find(({ flow }) => flow.key === flowKey)
      if (!found) return null
      const { flow: _, isDue: __, ...why } = found
      return why
    },
    show,
  }
}
