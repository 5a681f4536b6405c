import { type Answer, fitsQuestion, maxAnswerLength } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import { isCleanText } from '../../http/input.ts'

/** What an answer adds to the counts, or what is wrong with it. */
export type AnswerVerdict = { counted: string } | { fault: string }

/** Stands in for a text answer, whose words are only in the properties. */
const inWords = JSON.stringify('')

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'number' ||
  (typeof value === 'string' && isCleanText(value)) ||
  (Array.isArray(value) && value.every(key => typeof key === 'string'))

/**
 * Judges the answer to a question by everything that its step ever asked, because a page may have an older
 * version of the flow.
 *
 * @param questions newest first
 */
export function judgeAnswer(answer: unknown, questions: readonly Question[]): AnswerVerdict {
  if (questions.length === 0) return { fault: 'This step never had a question' }
  if (answer === undefined) return { fault: 'question_answered needs properties.answer' }
  if (!isAnswer(answer)) {
    return { fault: 'properties.answer must be a number, a text or a list of keys' }
  }
  const fitting = questions.find(question => fitsQuestion(question, answer))
  if (!fitting) {
    const problem =
      typeof answer === 'string' && answer.length > maxAnswerLength
        ? `properties.answer may have at most ${maxAnswerLength} characters`
        : 'properties.answer fits no question that this step ever had'
    return { fault: problem }
  }
  if (fitting.type === 'text') return { counted: inWords }
  // Sorted, so that the same answer always gives the same text.
  return { counted: JSON.stringify(Array.isArray(answer) ? answer.toSorted() : answer) }
}
