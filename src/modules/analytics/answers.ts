import { scaleOf } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import { nearestRank, quotient, rate } from '../../core/number/statistics.ts'
import type { StepRef } from '../../core/reference.ts'
import type { AnsweredRun } from '../../storage/interfaces/analytics.ts'

/** On the scale from 0 to 10: promoters answer at least this, detractors at most that. */
const promotersFrom = 9
const detractorsTo = 6

/** The numbers of a question's answers. */
export type AnswerNumbers = ReturnType<AnswerTally['of']>

/** Counts the last answers of runs, by step. */
export class AnswerTally {
  /** By step and answer, as JSON. */
  private readonly counts = new Map<StepRef, Map<string, number>>()

  add({ answers }: Pick<AnsweredRun, 'answers'>): void {
    for (const { stepId, answer } of answers) {
      const counts = this.counts.get(stepId) ?? new Map<string, number>()
      this.counts.set(stepId, counts)
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
    }
  }

  /** Counts what another tally has counted, too. */
  addAll(other: AnswerTally): void {
    for (const [step, counts] of other.counts) {
      const own = this.counts.get(step) ?? new Map<string, number>()
      this.counts.set(step, own)
      for (const [answer, count] of counts) own.set(answer, (own.get(answer) ?? 0) + count)
    }
  }

  /**
   * The answers to a step's question, as answers of its newest question's type.
   *
   * @param questions all questions that it ever had, newest first
   */
  of(step: StepRef, questions: readonly [Question, ...Question[]]) {
    const counts = [...(this.counts.get(step) ?? [])].map(
      ([answer, count]) => [JSON.parse(answer) as number | string | string[], count] as const,
    )
    const [{ type }] = questions
    if (type === 'rating') return ratings(counts, questions[0])
    if (type === 'choice') return choices(counts, questions)
    const answers = sum(counts.filter(([answer]) => answer === ''))
    return { ...noNumbers, type, answers, distribution: [] }
  }
}

type Counts = readonly (readonly [answer: number | string | string[], count: number])[]

const sum = (counts: Counts) => counts.reduce((total, [, count]) => total + count, 0)

const noNumbers = { average: null, median: null, nps: null }

function ratings(counts: Counts, question: Question) {
  const given = new Map<number, number>()
  for (const [answer, count] of counts) if (typeof answer === 'number') given.set(answer, count)
  const [min, max] = scaleOf(question)
  // An older version may have had a wider scale, so answers outside this one are kept.
  for (let value = min; value <= max; value++) given.set(value, given.get(value) ?? 0)
  const byValue = [...given].sort(([a], [b]) => a - b)
  const all = byValue.flatMap(([value, count]) => Array<number>(count).fill(value))
  const answers = all.length
  const total = all.reduce((a, b) => a + b, 0)
  const countOf = (is: (value: number) => boolean) => all.filter(is).length
  const promoters = countOf(value => value >= promotersFrom)
  const detractors = countOf(value => value <= detractorsTo)
  const isNps = (question.scale ?? 'nps') === 'nps'
  return {
    type: question.type,
    answers,
    average: quotient(total, answers, 2),
    median: nearestRank(all, 0.5),
    nps: isNps
      ? {
          score: quotient(100 * (promoters - detractors), answers, 1),
          promoters,
          passives: answers - promoters - detractors,
          detractors,
        }
      : null,
    distribution: byValue.map(([value, count]) => ({
      value,
      label: (value === min && question.low) || (value === max && question.high) || null,
      count,
      share: rate(count, answers),
    })),
  }
}

function choices(counts: Counts, questions: readonly [Question, ...Question[]]) {
  // The choices of the newest question come first, in its order.
  const labels = new Map<string, string>()
  for (const { choices = [] } of questions) {
    for (const { key, label } of choices) if (!labels.has(key)) labels.set(key, label)
  }
  const current = new Set(questions[0].choices?.map(({ key }) => key))
  const given = new Map<string, number>()
  const chosen = counts.filter(([answer]) => typeof answer !== 'number' && answer !== '')
  for (const [answer, count] of chosen) {
    for (const key of [answer as string | string[]].flat()) {
      given.set(key, (given.get(key) ?? 0) + count)
    }
  }
  const answers = sum(chosen)
  return {
    ...noNumbers,
    type: questions[0].type,
    answers,
    distribution: [...labels]
      .filter(([key]) => current.has(key) || given.has(key))
      .map(([value, label]) => {
        const count = given.get(value) ?? 0
        return { value, label, count, share: rate(count, answers) }
      }),
  }
}
