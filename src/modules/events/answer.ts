import { type Answer, fitsQuestion, longestAnswer } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import { isCleanText } from '../../http/input.ts'

/** What an answer says to the counts, or why it is none. */
export type AnswerVerdict = { counted: string } | { fault: string }

/** What stands in place of words: they are in the properties alone. */
const inWords = JSON.stringify('')

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'number' ||
  (typeof value === 'string' && isCleanText(value)) ||
  (Array.isArray(value) && value.every(key => typeof key === 'string'))

/**
 * Judges what an answered question says, by all that its step ever asked: a page may have an older
 * version of the flow.
 *
 * @param questions the newest first
 */
export function judgeAnswer(answer: unknown, questions: readonly Question[]): AnswerVerdict {
  if (questions.length === 0) return { fault: 'This step never had a question' }
  if (answer === undefined) return { fault: 'question_answered needs properties.answer' }
  if (!isAnswer(answer)) {
    return { fault: 'properties.answer must be a number, a text or a list of keys' }
  }
  const fitting = questions.find(question => fitsQuestion(question, answer))
  if (!fitting) {
    const fault =
      typeof answer === 'string' && answer.length > longestAnswer
        ? `properties.answer may have at most ${longestAnswer} characters`
        : 'properties.answer fits no question that this step ever had'
    return { fault }
  }
  if (fitting.type === 'text') return { counted: inWords }
  // In one order, so that the same answer is the same text.
  return { counted: JSON.stringify(Array.isArray(answer) ? answer.toSorted() : answer) }
}
