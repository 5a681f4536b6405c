import { type Answer, fitsQuestion, maxAnswerLength } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import { isCleanText } from '../../http/input.ts'
import { propertyBounds } from './schema.ts'

type Properties = Readonly<Record<string, unknown>>

/** Why properties are not kept. */
export type PropertiesProblem = 'too many keys' | 'too deep' | 'too large' | 'beyond 2^53'

/**
 * Whether a number can be what its sender meant. 1e999 would become null, and a whole number beyond 2^53 has
 * usually been rounded without its sender knowing.
 */
const isPlausible = (value: number) =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/** Walks through the values of one event, and stops as soon as there are certainly too many. */
class PropertiesWalk {
  /** Bytes of JSON that are still allowed. */
  private left = propertyBounds.bytes

  /** What is wrong in a value that may be `depth` levels deep. */
  problemIn(value: unknown, depth: number): PropertiesProblem | null {
    // Includes the comma or brace after the value. Escapes and other scripts only make it longer.
    this.left -= typeof value === 'string' ? value.length + 3 : 2
    if (this.left < 0) return 'too large'
    if (typeof value === 'number') return isPlausible(value) ? null : 'beyond 2^53'
    if (typeof value !== 'object' || value === null) return null
    if (depth === 0) return 'too deep'
    for (const part of Array.isArray(value) ? value : Object.values(value)) {
      const problem = this.problemIn(part, depth - 1)
      if (problem) return problem
    }
    return null
  }
}

interface PropertiesVerdict {
  text: string | null
  problem: PropertiesProblem | null
}

const rejected = (problem: PropertiesProblem): PropertiesVerdict => ({ text: null, problem })

/** The JSON text of an event's properties, or why they are not kept. */
export function propertiesOf(properties: Properties): PropertiesVerdict {
  const { keys, depth, bytes } = propertyBounds
  if (Object.keys(properties).length > keys) return rejected('too many keys')
  const problem = new PropertiesWalk().problemIn(properties, depth)
  if (problem) return rejected(problem)
  const text = JSON.stringify(properties)
  // A UTF-16 unit takes at most three bytes, so most texts need not be measured.
  if (text.length * 3 > bytes && Buffer.byteLength(text) > bytes) return rejected('too large')
  return { text, problem: null }
}

/** What an answer adds to the counts, or what is wrong with it. */
type AnswerVerdict = { counted: string } | { problem: string }

/** Stands in for a text answer, whose words are only in the properties. */
const inWords = JSON.stringify('')

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'number' ||
  (typeof value === 'string' && isCleanText(value)) ||
  (Array.isArray(value) && value.every(key => typeof key === 'string'))

/**
 * Judges the answer to a question by every question that its step ever had, because a page may show an older version of the flow.
 *
 * @param questions newest first
 */
export function judgeAnswer(answer: unknown, questions: readonly Question[]): AnswerVerdict {
  if (questions.length === 0) return { problem: 'This step never had a question' }
  if (answer === undefined) return { problem: 'question_answered needs properties.answer' }
  if (!isAnswer(answer)) {
    return { problem: 'properties.answer must be a number, a text or a list of keys' }
  }
  const fitting = questions.find(question => fitsQuestion(question, answer))
  if (!fitting) {
    const problem =
      typeof answer === 'string' && answer.length > maxAnswerLength
        ? `properties.answer may have at most ${maxAnswerLength} characters`
        : 'properties.answer fits no question that this step ever had'
    return { problem }
  }
  if (fitting.type === 'text') return { counted: inWords }
  // Sorted, so that the same answer always gives the same text.
  return { counted: JSON.stringify(Array.isArray(answer) ? answer.toSorted() : answer) }
}
