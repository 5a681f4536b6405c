import { eventNameFault } from './event-name.ts'
import type { FlowDefinition, StepDefinition, Target } from './flow.ts'
import { error, type FlowProblem, warning } from './flow-problem.ts'
import { htmlIn } from './markdown-html.ts'
import { fragileParts } from './selector-fragility.ts'
import { readSelector } from './selector-syntax.ts'

/** What is wrong with the steps of a flow, each by itself. */
export function* stepProblems({ steps }: FlowDefinition): Iterable<FlowProblem> {
  for (const [index, step] of steps.entries()) {
    const path = `/steps/${index}`
    if (step.target !== null) yield* targetProblems(step.target, `${path}/target`)
    else if (step.kind === 'tooltip' || step.kind === 'hotspot') {
      const message = `A ${step.kind} points at an element: add target with a selector, or make it a modal or banner`
      yield error('missing_target', `${path}/target`, message)
    }
    yield* advanceProblems(step, path)
    yield* buttonProblems(step, path)
    yield* bodyProblems(step, path)
  }
}

function* targetProblems({ selector, text }: Target, path: string): Iterable<FlowProblem> {
  const read = readSelector(selector)
  const place = `${path}/selector`
  if ('fault' in read) {
    yield error('invalid_selector', place, read.fault)
    return
  }
  for (const weakness of fragileParts(read.tree, text !== null)) {
    yield warning('fragile_selector', place, weakness)
  }
}

function* advanceProblems({ advance }: StepDefinition, path: string): Iterable<FlowProblem> {
  const place = `${path}/advance/event`
  if (advance.on !== 'event') {
    if (advance.event === null) return
    const message = `The event has no effect with "on: ${advance.on}": write "on: event", or remove it`
    yield warning('unused_event', place, message)
  } else if (advance.event === null) {
    const message = 'The step goes on with an event: add the name of the one that you send'
    yield error('missing_event', place, message)
  } else {
    const fault = eventNameFault(advance.event)
    if (fault !== null) yield error('never_sent', place, `The step never goes on: ${fault}`)
  }
}

function* buttonProblems({ buttons }: StepDefinition, path: string): Iterable<FlowProblem> {
  for (const [index, { action, href }] of buttons.entries()) {
    const place = `${path}/buttons/${index}/href`
    if (action === 'link' && href === null) {
      const message = 'A button with "action: link" leads somewhere: add href with the address'
      yield error('missing_href', place, message)
    } else if (action !== 'link' && href !== null) {
      const message = `The link has no effect with "action: ${action}": write "action: link", or remove it`
      yield warning('unused_href', place, message)
    }
  }
}

/** How much of a body people still read, in characters: about 150 words beside an element. */
const longBody = { tooltip: 1_000, hotspot: 1_000, banner: 1_000, modal: 3_000 }

function* bodyProblems({ kind, body }: StepDefinition, path: string): Iterable<FlowProblem> {
  const place = `${path}/body`
  const most = longBody[kind]
  if (body.length > most) {
    const message = `${body.length} characters are long for a ${kind}: shorten it to ${most}, or link to a page that says the rest`
    yield warning('long_body', place, message)
  }
  const html = htmlIn(body)
  if (html !== null) yield warning('html', place, html)
}
