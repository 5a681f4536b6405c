import type { Pointed, ProposedChange } from '../../../core/flow/edit/proposed.ts'
import type { Candidate } from '../../../core/step/candidate.ts'
import type { Flow, Step } from '../../snippet/parts.ts'
import type { DraftState } from './draft.ts'
import type { DraggedStep } from './strip-dragging.ts'

/** An element that was picked, before it is clear which selector finds it. */
export interface Picked {
  named: string
  candidates: readonly Candidate[]
  isWrapper: boolean
  mayNamePerson: boolean
}

/** Everything that the builder shows. */
export interface State {
  code: string
  /** The address of the flow's form in the dashboard. */
  form: string
  draft: DraftState | null
  /** The key of the step that is shown. */
  step: string | null
  dragged: DraggedStep | null
  /** What the next picked element is for. */
  picking: 'target' | 'add' | null
  picked: (Picked & { for: 'target' | 'add' }) | null
  isFrozen: boolean
  isFolded: boolean
  isOver: boolean
  isMissing: boolean
  /** Whether the fields are at the other side of the window. */
  isOtherSide: boolean
  /** Whether the bar is at the upper edge of the window. */
  isOnTop: boolean
}

/** What the author can do. */
export interface Acts {
  choose(key: string): void
  propose(change: ProposedChange): void
  type(change: ProposedChange): void
  undo(): void
  pick(what: 'target' | 'add'): void
  stopPicking(): void
  /** Uses the picked element; null for a step without one. */
  use(target: Pointed | null, title?: string): void
  freeze(): void
  patch(state: Partial<State>): void
  close(): void
}

export const stepIn = (flow: Flow | undefined, key: string | null): Step | undefined =>
  flow?.steps.find(step => step.key === key)

export const titleOf = (step: Step, untitled: (place: number) => string): string =>
  step.title.trim() || untitled(step.position + 1)

/** Whether a flow is what the builder shows: the items of other kinds are edited in the dashboard. */
export const isOfSteps = ({ kind }: Flow): boolean => kind === 'tour' || kind === 'announcement'
