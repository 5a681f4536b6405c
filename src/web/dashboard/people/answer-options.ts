import { scaleOf } from '../../../core/flow/answer.ts'
import type { AnswerCondition } from '../../../core/person/filter.ts'
import type { Written } from '../flows/definition.ts'

type Step = Written['steps'][number]
type Answer = Omit<AnswerCondition, 'step'>

const npsGroups: readonly (readonly [Answer, string])[] = [
  [{ from: 0, to: 6 }, 'Detractors (0 to 6)'],
  [{ from: 7, to: 8 }, 'Passives (7 and 8)'],
  [{ from: 9, to: 10 }, 'Promoters (9 and 10)'],
]

/** Answers to a step's question that a filter can ask for, with their names. */
export function answersTo({ question }: Step): readonly (readonly [Answer, string])[] {
  if (!question || question.type === 'text') return []
  if (question.type === 'choice') {
    return (question.choices ?? []).map(({ key, label }) => [{ choice: key }, label] as const)
  }
  const [least, most] = scaleOf(question)
  const numbers = Array.from({ length: most - least + 1 }, (_, i) => least + i)
  const inner = numbers.slice(1, -1)
  const groups =
    (question.scale ?? 'nps') === 'nps'
      ? npsGroups
      : [
          ...inner.map(to => [{ to }, `${to} or less`] as const),
          ...inner.map(from => [{ from }, `${from} or more`] as const),
        ]
  return [...groups, ...numbers.map(one => [{ from: one, to: one }, `${one}`] as const)]
}

/** An answer of a condition in words. */
export function answerText(
  { step: key, ...answer }: AnswerCondition,
  steps: readonly Step[],
): string {
  const step = steps.find(one => one.key === key)
  const same = JSON.stringify(answer)
  const named = step && answersTo(step).find(([one]) => JSON.stringify(one) === same)?.[1]
  const { from, to, choice } = answer
  const given =
    named ??
    choice ??
    (from === undefined
      ? to !== undefined && `${to} or less`
      : to === undefined
        ? `${from} or more`
        : from === to
          ? `${from}`
          : `${from} to ${to}`)
  return `answered “${step?.title || key}”${given ? `: ${given}` : ''}`
}
