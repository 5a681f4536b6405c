import { eventProblems } from './event-rules.ts'
import type { ItemDefinition } from './flow.ts'
import { type FlowProblem, warning } from './flow-problem.ts'
import { markdownProblems } from './markdown-rules.ts'

/** What is wrong with an item of a checklist, by itself. */
export function* itemProblems(item: ItemDefinition): Iterable<FlowProblem> {
  yield* completionProblems(item)
  yield* markdownProblems(item.description ?? '', '/description')
}

/**
 * An item is ticked by a custom event, by a person who follows its link or ticks it by hand, or by
 * a back end that posts it. So an item without `completeOn` and `href` is no error, but one that
 * waits for an event which cannot come is.
 */
function* completionProblems({ completeOn, href }: ItemDefinition): Iterable<FlowProblem> {
  if (completeOn !== null) {
    yield* eventProblems(completeOn.event, '/completeOn/event', {
      code: 'never_completed',
      consequence: 'Nothing can complete this item',
    })
  } else if (href === null) {
    const message =
      'Nothing in the flow completes this item: add completeOn with the name of your event, or href; as it is, your back end or page has to tick it'
    yield warning('ticked_from_outside', '/completeOn', message)
  }
}
