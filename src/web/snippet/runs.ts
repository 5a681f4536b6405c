import type { Flow, Keep } from './parts.ts'
import { uuid } from './uuid.ts'

/** Where a person stands in a flow, over page loads. */
export interface Run {
  runId: string
  flowId: string
  /** The version that it began with, by which it is counted. */
  flowVersion: number
  /** The step that is due; null where the flow has none, or all are done. */
  stepId: string | null
  /** Steps that were reported as viewed. */
  viewed: string[]
  /** Steps whose element was reported. */
  checked: string[]
  /** Whether a checklist's panel is open, and was ever. */
  isOpen: boolean
  wasOpened: boolean
  /** When items were ticked, by id, and when the server was asked for them; null for never. */
  ticked: Record<string, number>
  askedAt: number | null
}

/** Steps of a tour or announcement interrupt a person; a checklist waits beside the page. */
export type Slot = 'steps' | 'checklist'

export const slotOf = ({ kind }: Pick<Flow, 'kind'>): Slot =>
  kind === 'checklist' ? 'checklist' : 'steps'

/** A run of each slot for each person; what is kept is changed by the tab that shows it. */
export function createRuns(keep: Keep) {
  const key = (person: string, slot: Slot) => `run:${slot}:${person}`
  return {
    open: (person: string, slot: Slot) => keep.get<Run>(key(person, slot)),
    begin(person: string, flow: Flow): Run {
      const run: Run = {
        runId: uuid(),
        flowId: flow.id,
        flowVersion: flow.version,
        stepId: flow.steps[0]?.id ?? null,
        viewed: [],
        checked: [],
        isOpen: flow.steps.length === 0,
        wasOpened: false,
        ticked: {},
        askedAt: null,
      }
      keep.set(key(person, slotOf(flow)), run)
      return run
    },
    save: (person: string, slot: Slot, run: Run) => keep.set(key(person, slot), run),
    end: (person: string, slot: Slot) => keep.remove(key(person, slot)),
  }
}

export type Runs = ReturnType<typeof createRuns>
