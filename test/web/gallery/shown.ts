import type { Flow } from '../../../src/core/flow/flow.ts'

/** A flow of the gallery, and the state in which it is shown. */
export interface Shown {
  flow: Flow
  /** The key of the step that is shown; the first one unless said. */
  step?: string
  /** Keys of items that are ticked. */
  ticked?: readonly string[]
  /** Whether the checklist is folded up. */
  isFolded?: boolean
  /** Other flows that are published, of which a launcher lists some. */
  known?: readonly Flow[]
  /** Selectors of what is pressed, and of what gets the focus, once the flow is drawn. */
  press?: string
  point?: string
}
