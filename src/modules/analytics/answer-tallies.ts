import { traitIn } from '../../core/event/traits.ts'
import type { Question } from '../../core/flow/question.ts'
import type { StepRef } from '../../core/reference.ts'
import type { AnsweredRun } from '../../storage/interfaces/analytics.ts'
import { type AnswerNumbers, AnswerTally } from './answers.ts'
import { maxValues } from './definitions.ts'
import { periodsOf } from './periods.ts'
import type { Query } from './query.ts'

type Questions = readonly [Question, ...Question[]]

const partOf = ({ answers, average, nps }: AnswerNumbers) => ({ answers, average, nps })

/** The answers of runs together, and where requested by period and by a trait's value. */
export class AnswerTallies {
  private readonly all = new AnswerTally()
  private readonly periods
  private readonly bySegment = new Map<string | null, AnswerTally>()

  constructor(
    private readonly query: Pick<Query, 'range' | 'interval' | 'groupBy' | 'hasAnswers'>,
  ) {
    const { range, interval, hasAnswers } = query
    const periods = hasAnswers ? periodsOf(range, interval ?? 'week') : []
    this.periods = periods
      .map(({ first, last }) => {
        const { endMs } = range.days[last]!
        return { from: range.days[first]!.date, to: range.days[last]!.date, endMs }
      })
      .map(period => ({ ...period, tally: new AnswerTally() }))
  }

  add(run: AnsweredRun): void {
    this.all.add(run)
    if (!this.query.hasAnswers) return
    this.periods.find(({ endMs }) => run.startedAt < endMs)?.tally.add(run)
    const { groupBy } = this.query
    if (groupBy === null) return
    const value = traitIn(run.traits, groupBy)
    const tally = this.bySegment.get(value) ?? new AnswerTally()
    this.bySegment.set(value, tally)
    tally.add(run)
  }

  /** @param questions all questions that the step ever had, newest first */
  of(step: StepRef, questions: Questions) {
    const { hasAnswers, groupBy } = this.query
    const numbers = this.all.of(step, questions)
    return {
      ...numbers,
      ...(hasAnswers && numbers.type === 'rating' && { trend: this.trendOf(step, questions) }),
      ...(hasAnswers && groupBy !== null && { segments: this.segmentsOf(step, questions) }),
    }
  }

  private trendOf(step: StepRef, questions: Questions) {
    return this.periods.map(({ from, to, tally }) => ({
      from,
      to,
      ...partOf(tally.of(step, questions)),
    }))
  }

  private segmentsOf(step: StepRef, questions: Questions) {
    const groups = [...this.bySegment].map(([value, tally]) => ({
      ...{ kind: value === null ? ('not_said' as const) : ('value' as const), value, tally },
      ...partOf(tally.of(step, questions)),
    }))
    const known = groups.filter(({ kind }) => kind === 'value')
    known.sort((a, b) => b.answers - a.answers || (a.value! < b.value! ? -1 : 1))
    const rest = new AnswerTally()
    for (const { tally } of known.slice(maxValues)) rest.addAll(tally)
    const other = { kind: 'other' as const, value: null, ...partOf(rest.of(step, questions)) }
    const unknown = groups.filter(({ kind }) => kind === 'not_said')
    return [...known.slice(0, maxValues), other, ...unknown]
      .filter(({ answers }) => answers > 0)
      .map(({ kind, value, answers, average, nps }) => ({ kind, value, answers, average, nps }))
  }
}
