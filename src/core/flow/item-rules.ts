import { eventProblems } from './event-rules.ts'
import type { ItemDefinition } from './flow.ts'
import { markdownProblems } from './markdown-rules.ts'
import type { FlowProblem } from './problem.ts'

/**
 * What is wrong with an item of a checklist, by itself. Without `completeOn` a click on the item ticks
 * it, with or without a link; what waits for an event which cannot come is never ticked.
 */
export function* itemProblems({ completeOn, description }: ItemDefinition): Iterable<FlowProblem> {
  if (completeOn !== null) {
    yield* eventProblems(completeOn.event, '/completeOn/event', {
      code: 'never_completed',
      consequence: 'Nothing can complete this item',
    })
  }
  yield* markdownProblems(description ?? '', '/description')
}
