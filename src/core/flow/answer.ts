/** The rules for answers to a question. The snippet contains them too, so this needs no schema. */

export const maxAnswerLength = 1_000

/** The fields of a question that decide which answers fit. */
export interface AnswerRules {
  type: 'rating' | 'choice' | 'text'
  scale?: 'nps' | 'stars' | 'numbers'
  min?: number
  max?: number
  choices?: readonly { key: string }[]
  several?: boolean
  longest?: number
}

/** A number, the key of one or several choices, or a text. */
export type Answer = number | string | readonly string[]

/** The least and the greatest number of a rating. */
export function scaleOf({
  scale = 'nps',
  min = 1,
  max = 5,
}: AnswerRules): [least: number, most: number] {
  if (scale === 'nps') return [0, 10]
  return scale === 'stars' ? [1, 5] : [min, max]
}

/** Whether an answer fits this question. */
export function fitsQuestion(question: AnswerRules, answer: Answer): boolean {
  const { type, choices = [], several = false, longest = maxAnswerLength } = question
  if (type === 'rating') {
    const [least, most] = scaleOf(question)
    return (
      typeof answer === 'number' && Number.isInteger(answer) && answer >= least && answer <= most
    )
  }
  const isChoice = (key: unknown) => choices.some(choice => choice.key === key)
  if (type === 'choice') {
    if (typeof answer === 'string') return isChoice(answer)
    if (typeof answer === 'number' || !several || answer.length === 0) return false
    return answer.every(isChoice) && new Set(answer).size === answer.length
  }
  return typeof answer === 'string' && answer.length <= longest && answer.trim() !== ''
}
