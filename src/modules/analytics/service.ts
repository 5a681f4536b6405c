import { callerGone, invalid, mostProblems, type Problem } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import { below, nearest, quoted, shown } from '../../core/text/wording.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import { parametersOf } from '../../http/input.ts'
import { Semaphore, TimeSlices } from '../../scheduling/cooperative.ts'
import { healthOf } from '../steps/index.ts'
import { AnswerTally } from './answers.ts'
import { definitionsOf } from './definitions.ts'
import { experimentOf } from './experiment.ts'
import type { Analytics, AnalyticsQuery, Summary } from './model.ts'
import type { AnalyticsStores } from './port.ts'
import {
  CohortTally,
  type Groups,
  inSegments,
  isInSegments,
  lateIn,
  noGroups,
  SegmentTally,
  segmentsIn,
} from './segments.ts'
import { type Extras, nothingMore, ofVersion, RunTally } from './tally.ts'
import { WayTally } from './ways.ts'

/**
 * The names of parameters that mean nothing, each once and at most twenty, because an answer must say what
 * it ignored.
 *
 * @param names parameters that mean something
 * @throws AppError `validation_failed` for one that looks like a misspelling of one of these, because the
 *   numbers would answer another question than the one asked
 */
export function ignoredParameters(request: Request, names: readonly string[]): string[] {
  const others = new Set(parametersOf(request).map(([name]) => name))
  for (const name of names) others.delete(name)
  const first = [...others].slice(0, mostProblems)
  const misspelt = first.flatMap((name): Problem[] => {
    const meant = nameMeant(name, names)
    if (meant === null) return []
    const message = `There is no such parameter: did you mean ${quoted(meant)}?`
    return [{ path: below('', name), message }]
  })
  if (misspelt.length > 0) throw invalid(...misspelt)
  return first.map(name => shown(name))
}

/**
 * The name that was probably meant: it has the same letters in the same order (such as tz), or nearly all
 * of them.
 */
function nameMeant(name: string, names: readonly string[]): string | null {
  if (name.length < 2) return null
  const short = names.filter(known => isShortFor(name.toLowerCase(), known))
  if (short.length === 1) return short[0]!
  // Two letters are always close to any other two.
  return name.length === 2 ? null : nearest(name, [...names])
}

/** Whether a word consists of letters of another word, in their order, and has the same first letter. */
function isShortFor(word: string, whole: string): boolean {
  if (word[0] !== whole[0]) return false
  let at = 0
  for (const letter of word) {
    at = whole.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

const isAsking = <One>(asked: readonly One[]): asked is readonly [One, ...One[]] => asked.length > 0

/** A question that has been validated. */
export interface Question extends Extras, Groups {
  flow: FlowEntry
  range: TimeRange
  version: number | null
  /** Names of parameters that were sent but mean nothing. */
  ignored: readonly string[]
}

/** @throws AppError `validation_failed` for a wrong date, zone, order or range */
export function rangeOf(
  query: Pick<AnalyticsQuery, 'from' | 'to' | 'timezone'>,
  now: number,
): TimeRange {
  const resolved = resolveRange(query, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return resolved.range
}

/** @throws AppError `validation_failed` for a wrong date, zone, order, range, version, segment or step */
export function questionOf(
  flow: FlowEntry,
  query: AnalyticsQuery,
  now: number,
  ignored: readonly string[] = [],
): Question {
  const range = rangeOf(query, now)
  const version = query.version === undefined ? null : Number(query.version)
  if (version !== null && !flow.versions.some(known => known.version === version)) {
    throw invalid({ path: '/version', message: 'This version was never published' })
  }
  return {
    ...{ flow, range, version, ignored },
    hasDistribution: query.distribution === '1',
    interval: query.interval ?? null,
    hasWays: query.ways === '1',
    ...(query.segment ? segmentsIn(flow, query.segment) : { filters: [], by: null }),
    late: query.late === undefined ? null : lateIn(flow, query.late),
  }
}

/** Answers computed at once in one thread, because each keeps what it knows about every person in memory. */
const answersAtOnce = 1

/** @throws AppError `caller_gone`, so that nothing is computed once the caller has gone */
function goOn(signal: AbortSignal): void {
  if (signal.aborted) throw callerGone(signal.reason)
}

export function analyticsService({ stores, clock }: { stores: AnalyticsStores; clock: Clock }) {
  const turns = new Semaphore(answersAtOnce)

  function checklistOf({ flow }: Question, tally: RunTally) {
    const checklist = flow.latest?.checklist
    if (!checklist) return null
    return {
      items: checklist.items.map(({ id, key, title }) => ({
        itemId: id,
        key,
        title,
        completions: tally.tickersOf(flow.itemRefs.get(id)!),
      })),
      completedAll: tally.checklistCompleters(),
    }
  }

  /** Counts the answers to questions; null if the flow never asked anything. */
  async function answersOf(
    { flow, range, version, filters }: Question,
    signal: AbortSignal,
  ): Promise<AnswerTally | null> {
    if (flow.questions.size === 0) return null
    const tally = new AnswerTally(version)
    for await (const runs of stores.analytics.answers(flow.organisation.ref, flow.ref, range)) {
      goOn(signal)
      for (const run of runs) if (isInSegments(run.traits, filters)) tally.add(run)
    }
    return tally
  }

  async function stepsOf(
    question: Question,
    { tally, ways }: { tally: RunTally; ways: WayTally | null },
    now: number,
    signal: AbortSignal,
  ) {
    const { flow } = question
    const refs = tally.stepRefs()
    const answers = await answersOf(question, signal)
    return Promise.all(
      refs.map(async ref => {
        const { id, key, title } = flow.steps.get(ref) ?? { id: '', key: '', title: '' }
        const asked = flow.questions.get(ref) ?? []
        return {
          stepId: id,
          key,
          position: tally.positions.newestOf(ref)?.position ?? 0,
          title,
          ...tally.step(ref),
          ...(answers && isAsking(asked) && { question: answers.of(ref, asked) }),
          ...(ways && { leftOut: ways.leftOutOf(ref) }),
          health: await healthOf(stores, flow, { id, ref }, now),
        }
      }),
    )
  }

  async function tallyOf(
    { flow, range, version, filters, by, late, ...extras }: Omit<Question, 'ignored'>,
    now: number,
    signal: AbortSignal,
  ) {
    const tally = new RunTally(flow, range, version, now, extras)
    const runs = { orgRef: flow.organisation.ref, flowRef: flow.ref, versions: flow.versions }
    const bySegment = by === null ? null : new SegmentTally(by)
    const byCohort = late && new CohortTally(late)
    const { hasWays } = extras
    const ways = hasWays ? new WayTally(flow) : null
    for await (const columns of stores.analytics.columns(runs, range, { late, hasWays })) {
      goOn(signal)
      const kept = filters.length > 0 ? inSegments(columns, filters) : columns
      if (!kept) continue
      tally.add(kept)
      const counted = version === null ? kept : ofVersion(kept, version)
      if (!counted) continue
      bySegment?.add(counted)
      byCohort?.add(counted)
      ways?.add(counted)
    }
    const slices = new TimeSlices()
    /** Runs work in small pieces. */
    const counted = async <T>(work: Iterator<void, T>): Promise<T> => {
      for (;;) {
        const piece = work.next()
        if (piece.done) return piece.value
        await slices.rest()
      }
    }
    await counted(tally.countingPeople())
    const segments = bySegment && (await counted(bySegment.counting()))
    const cohorts = byCohort && (await counted(byCohort.counting()))
    return { tally, segments, cohorts, ways }
  }

  /** Undefined for a flow that holds nobody back. */
  async function experimentIn({ flow, range, version, filters }: Question) {
    const { goal, rollout } = flow.latest ?? {}
    if (!goal) return undefined
    const counts = await stores.analytics.experiment(flow.organisation.ref, flow.ref, {
      ...{ range, version, goal: goal.event },
    })
    if (rollout?.holdOut === undefined && counts.heldOut.people === 0) return undefined
    return filters.length > 0 ? null : experimentOf(goal.event, counts)
  }

  async function answer(question: Question, signal: AbortSignal): Promise<Analytics> {
    const { flow, range, version, ignored, filters } = question
    const now = clock.now()
    const { tally, segments, cohorts, ways } = await tallyOf(question, now, signal)
    const periods = tally.periods()
    const experiment = await experimentIn(question)
    const hasExperiment = experiment !== undefined
    return {
      flowId: flow.id,
      flowKey: flow.key,
      flowName: flow.name,
      range: {
        from: range.from,
        to: range.to,
        timezone: range.timezone,
        complete: range.endMs <= now,
      },
      filters: { version, ...(filters.length > 0 && { segment: [...filters] }) },
      ignored: [...ignored],
      generatedAt: isoTime(now),
      totals: tally.totals(),
      timeToComplete: tally.timeToComplete(),
      steps: await stepsOf(question, { tally, ways }, now, signal),
      ...(ways && {
        ways: ways.numbers(tally.stepRefs(), ref => flow.steps.get(ref)?.id ?? ''),
      }),
      checklist: checklistOf(question, tally),
      daily: tally.daily(),
      ...(periods && { periods }),
      versions: flow.versions.map(({ version, publishedAt }) => ({
        version,
        publishedAt: isoTime(publishedAt),
        ...tally.ofVersion(version),
      })),
      ...(segments && { segments }),
      ...(cohorts && { late: cohorts }),
      ...(hasExperiment && { experiment }),
      definitions: definitionsOf({ ...question, hasExperiment }),
    }
  }

  /** The numbers of one flow, for the summary of all flows. */
  async function summary(flow: FlowEntry, range: TimeRange, signal: AbortSignal) {
    const question = { flow, range, version: null, ...nothingMore, ...noGroups }
    const { tally } = await tallyOf(question, clock.now(), signal)
    return {
      flowId: flow.id,
      flowKey: flow.key,
      totals: tally.totals(),
      timeToComplete: tally.timeToComplete(),
      daily: tally.daily().map(({ uniqueUsers: _, ...day }) => day),
    }
  }

  const inTurn = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    turns.take(() => {
      goOn(signal)
      return work()
    })

  return {
    answer: (question: Question, signal: AbortSignal) =>
      inTurn(signal, () => answer(question, signal)),
    /** One flow after the other, so that answers about single flows can come in between. */
    async summary(
      flows: readonly FlowEntry[],
      range: TimeRange,
      signal: AbortSignal,
    ): Promise<Summary> {
      const { from, to, timezone, endMs } = range
      const summaries: Summary['flows'] = []
      for (const flow of flows) {
        summaries.push(await inTurn(signal, () => summary(flow, range, signal)))
      }
      const complete = endMs <= clock.now()
      return {
        range: { from, to, timezone, complete },
        flows: summaries,
        definitions: definitionsOf({ ...nothingMore, ...noGroups }),
      }
    },
  }
}
