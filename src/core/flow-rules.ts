import { Value } from '@sinclair/typebox/value'
import { checklistProblems } from './checklist-rules.ts'
import { FlowDefinition } from './flow.ts'
import { error, type FlowProblem } from './flow-problem.ts'
import { unreachableTargets } from './reach-rules.ts'
import { stepProblems } from './step-rules.ts'
import { targetingProblems } from './targeting-rules.ts'
import { quoted, shown } from './wording.ts'

/**
 * What is wrong with what a flow means, beyond the shapes that its schema holds. Pure, and bounded
 * by the flow's size.
 */
export function flowProblems(flow: FlowDefinition): FlowProblem[] {
  return [
    ...emptiness(flow),
    ...repeatedKeys(flow.steps, '/steps'),
    ...repeatedKeys(flow.checklist?.items ?? [], '/checklist/items'),
    ...targetingProblems(flow.targeting),
    ...stepProblems(flow),
    ...unreachableTargets(flow),
    ...(flow.checklist === null ? [] : checklistProblems(flow.checklist)),
  ]
}

/**
 * The errors of something that was stored as a flow, maybe by another version of Cairn: of its
 * shape, or where that is right, of what it means.
 */
export function storedFlowErrors(stored: unknown): FlowProblem[] {
  if (Value.Check(FlowDefinition, stored)) {
    return flowProblems(stored).filter(({ severity }) => severity === 'error')
  }
  // What is stored may have fields of any name.
  const paths = new Set([...Value.Errors(FlowDefinition, stored)].map(({ path }) => shown(path)))
  const message = 'This does not have the shape that a flow has now: push its file again'
  return [...paths].slice(0, 20).map(path => error('invalid_value', path, message))
}

function* emptiness({ kind, steps, checklist }: FlowDefinition): Iterable<FlowProblem> {
  if (steps.length > 0 || (checklist?.items.length ?? 0) > 0) return
  const isList = kind === 'checklist' || checklist !== null
  const message = isList
    ? 'The flow shows nothing: add an item to its checklist, or a step'
    : 'The flow shows nothing: add a step, or a checklist with an item'
  yield error('empty_flow', isList ? '/checklist/items' : '/steps', message)
}

/** In a file, which tells of them by their lines, they have been found before this. */
function* repeatedKeys(entries: readonly { key: string }[], path: string): Iterable<FlowProblem> {
  const keys = new Set<string>()
  for (const [index, { key }] of entries.entries()) {
    if (keys.has(key)) {
      const message = `The key ${quoted(key)} is used already: change it`
      yield error('repeated_key', `${path}/${index}/key`, message)
    }
    keys.add(key)
  }
}
