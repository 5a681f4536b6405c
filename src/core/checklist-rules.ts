import { eventNameFault } from './event-name.ts'
import type { FlowDefinition, ItemDefinition } from './flow.ts'
import { error, type FlowProblem, warning } from './flow-problem.ts'
import { htmlIn } from './markdown-html.ts'

type Checklist = NonNullable<FlowDefinition['checklist']>

/** What is wrong with the items of a checklist. */
export function* checklistProblems({ items }: Checklist): Iterable<FlowProblem> {
  for (const [index, item] of items.entries()) {
    const path = `/checklist/items/${index}`
    yield* completionProblems(item, path)
    const html = htmlIn(item.description ?? '')
    if (html !== null) yield warning('html', `${path}/description`, html)
  }
}

/**
 * An item is ticked by a custom event, by a person who follows its link or ticks it by hand, or by
 * a back end that posts it. So an item without `completeOn` and `href` is no error, but one that
 * waits for an event which cannot come is.
 */
function* completionProblems(item: ItemDefinition, path: string): Iterable<FlowProblem> {
  const { completeOn, href } = item
  if (completeOn === null) {
    if (href !== null) return
    const message =
      'Nothing in the flow completes this item: add completeOn with the name of your event, or href; as it is, your back end or page has to tick it'
    yield warning('ticked_from_outside', `${path}/completeOn`, message)
    return
  }
  const fault = eventNameFault(completeOn.event)
  if (fault !== null) {
    const message = `Nothing can complete this item: ${fault}`
    yield error('never_completed', `${path}/completeOn/event`, message)
  }
}
