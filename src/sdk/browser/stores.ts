import type { CairnEvents, Progress, StepShown } from '../../web/snippet/api.ts'
import type { CairnClient } from './load.ts'

/** State to read and subscribe to, in the form that React's `useSyncExternalStore` and Vue's refs need. */
export interface Store<State> {
  /** The same object as long as nothing has changed. */
  get(): State
  /** @returns a function that ends the subscription */
  subscribe(changed: () => void): () => void
}

/** The state of a flow for the current person. */
export interface FlowState {
  /** Whether it is on the page now. */
  isActive: boolean
  /** In headless mode, the step of this flow to draw. */
  step: StepShown | null
  /** Null until it is known. */
  progress: Progress | null
}

export const idleFlow: FlowState = { isActive: false, step: null, progress: null }

/** The events at which a flow's state may change. */
const news = [
  'active',
  'flow_started',
  'step_viewed',
  'flow_completed',
  'flow_dismissed',
  'item_completed',
  'step',
  'checklist',
] as const satisfies readonly (keyof CairnEvents)[]

/** The state of one flow, by its key. */
export function flowStore(client: CairnClient, flowKey: string): Store<FlowState> {
  let step: StepShown | null = null
  let state = idleFlow
  return {
    get: () => state,
    subscribe(changed) {
      const look = () => {
        const next = {
          isActive: client.isActive(flowKey),
          step: step?.flow.key === flowKey ? step : null,
          progress: client.progress(flowKey),
        }
        if (isSame(next, state)) return
        state = next
        changed()
      }
      const ends = [
        client.on('step', shown => {
          step = shown
        }),
        ...news.map(name => client.on(name, look)),
      ]
      // Catches up with what happened before anybody listened, and with what the script knows once it has loaded.
      look()
      client.ready.then(look)
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

const isSame = (a: FlowState, b: FlowState) =>
  a.isActive === b.isActive &&
  a.step === b.step &&
  JSON.stringify(a.progress) === JSON.stringify(b.progress)

/** In headless mode, what to draw: of any such flow, or only of the one with that key. */
const shownStore =
  <Name extends 'checklist' | 'launcher'>(name: Name) =>
  (client: CairnClient, flowKey?: string): Store<CairnEvents[Name]> => {
    let current: CairnEvents[Name] = null
    return {
      get: () => current,
      subscribe(changed) {
        return client.on(name, shown => {
          const next = shown && (flowKey === undefined || shown.flow.key === flowKey) ? shown : null
          if (next === current) return
          current = next
          changed()
        })
      },
    }
  }

export const checklistStore = shownStore('checklist')
export const launcherStore = shownStore('launcher')
