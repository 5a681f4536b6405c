import type { BrowserStore, Flow, Outbox } from './parts.ts'

/** How many flows are remembered for a person. Beyond that, one may be reported twice; it counts once. */
const maxKept = 50

/** Reports, once for each version, from which flows a person was held back. */
export function createHeldOut(store: BrowserStore, outbox: Outbox) {
  return (person: string, { id: flowId, version: flowVersion }: Flow) => {
    const key = `held:${person}`
    const kept = store.get<string[]>(key)
    const known = Array.isArray(kept) ? kept : []
    const name = `${flowId} ${flowVersion}`
    if (known.includes(name)) return
    store.set(key, [name, ...known].slice(0, maxKept))
    outbox.report({ kind: 'flow_held_out', flowId, flowVersion })
  }
}
