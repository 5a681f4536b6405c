import type { ListedTraits } from '../event/traits.ts'
import type { StepRef } from '../reference.ts'
import type { RunAnswer, RunStep } from './run.ts'

/** A run as it is exported: the state from its own events, with what was assigned to it. */
export interface RunRow {
  key: string
  person: string
  startedAt: number
  lastAt: number
  version: number
  completedAt: number | null
  dismissedAt: number | null
  /** The listed traits of its person when it started, as far as they were given. */
  traits: ListedTraits
  steps: readonly RunStep<StepRef>[]
  answers: readonly RunAnswer<StepRef>[]
}
