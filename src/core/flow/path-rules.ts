import { didYouMean, quoted } from '../text/wording.ts'
import { comparedBy } from './audience-match.ts'
import type { FlowDefinition, StepDefinition, StepRule } from './flow.ts'
import { exitsOf, reachIn } from './paths.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { eventProblems } from './step-rules.ts'
import { audienceRuleProblems } from './targeting-rules.ts'

/** Problems with the ways from step to step, which can only be found by looking at all steps. */
export function* pathProblems({ steps }: Pick<FlowDefinition, 'steps'>): Iterable<FlowProblem> {
  yield* gotoProblems(steps)
  const reach = reachIn(steps)
  yield* answerProblems(steps, reach)
  const reached = reach(0)
  for (const [index, { key }] of steps.entries()) {
    if (index === 0 || reached.has(index)) continue
    const message = `No path leads to step ${quoted(key)}: add a button with "goto: ${key}", or remove the step`
    yield warning('unreachable_step', `/steps/${index}`, message)
  }
}

const unknownStep = (key: string, keys: string[]) =>
  `Unknown step ${quoted(key)}${didYouMean(key, keys) || ': write the key of a step of this flow'}`

function* gotoProblems(steps: readonly StepDefinition[]): Iterable<FlowProblem> {
  const keys = steps.map(({ key }) => key)
  for (const [at, { key, buttons }] of steps.entries()) {
    for (const [index, { goto, action }] of buttons.entries()) {
      const place = `/steps/${at}/buttons/${index}/goto`
      if (goto === undefined) continue
      if (!keys.includes(goto)) yield error('unknown_step', place, unknownStep(goto, keys))
      else if (action !== 'next') {
        const message = `The step has no effect with "action: ${action}": write "action: next", or remove goto`
        yield warning('unused_goto', place, message)
      } else if (goto === key) {
        const message = 'The button leads to its own step: name another one, or remove goto'
        yield warning('goto_itself', place, message)
      }
    }
  }
}

function* answerProblems(
  steps: readonly StepDefinition[],
  reach: ReturnType<typeof reachIn>,
): Iterable<FlowProblem> {
  const keys = steps.map(({ key }) => key)
  for (const [at, { when }] of steps.entries()) {
    for (const [index, { answer }] of (when?.rules ?? []).entries()) {
      if (answer === undefined) continue
      const place = `/steps/${at}/when/rules/${index}/answer`
      const questionIndex = keys.indexOf(answer)
      if (questionIndex < 0) yield error('unknown_step', place, unknownStep(answer, keys))
      else if (!('question' in steps[questionIndex]!)) {
        const message = `Step ${quoted(answer)} has no question, so it has no answer: add a question to it`
        yield warning('never_answered', place, message)
      } else if (!exitsOf(steps, questionIndex).some(exit => reach(exit).has(at))) {
        const message = `Step ${quoted(answer)} does not come before this one, so there is no answer yet: move it up`
        yield warning('never_answered', place, message)
      }
    }
  }
}

/** Problems of one condition of a step by itself. */
export function* stepRuleProblems(rule: StepRule): Iterable<FlowProblem> {
  const { attribute, answer, event, op, value } = rule
  const sources = [attribute, answer, event].filter(name => name !== undefined)
  if (sources.length !== 1) {
    const message = 'A rule checks one thing: write just one of attribute, answer and event'
    yield error('invalid_rule', '', message)
  } else if (event !== undefined) {
    const inVain = { code: 'never_sent', consequence: 'The event is never there' }
    yield* eventProblems(event, '/event', inVain)
    if ((op !== undefined && op !== 'exists') || (value !== null && typeof value !== 'boolean')) {
      const message =
        'A rule on an event has no comparison: remove op and value, or write "value: false" for "not tracked"'
      yield error('invalid_rule', op === undefined ? '/value' : '/op', message)
    }
  } else {
    const compared = comparedBy(rule)
    if (compared) yield* audienceRuleProblems(compared)
    else yield error('invalid_rule', '/op', 'The comparison is missing: add op, such as "op: eq"')
  }
}
