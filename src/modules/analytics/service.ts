import { callerGone } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import { stalledAfterMs } from '../../core/run/outcome.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import { Semaphore, TimeSlices } from '../../scheduling/cooperative.ts'
import type { AnalyticsStores } from '../../storage/interfaces/analytics.ts'
import { healthOf } from '../steps/service.ts'
import { AnswerTallies } from './answer-tallies.ts'
import { VersionTally } from './distribution.ts'
import { experimentOf } from './experiment.ts'
import { LeaverTally } from './leavers.ts'
import { PathTally } from './paths.ts'
import { definitionsOf, type Query } from './query.ts'
import type { Analytics, Summary } from './schema.ts'
import { hasTraits, SegmentTally, withTraits } from './segments.ts'
import { ofVersion, RunTally } from './tally.ts'

/** At most this many are computed at the same time, because each keeps every person in memory. */
const maxAtOnce = 1

/** @throws AppError `caller_gone`, so that nothing is computed once the caller has gone */
function throwIfGone(signal: AbortSignal): void {
  if (signal.aborted) throw callerGone(signal.reason)
}

/** Runs work to its end in small pieces. */
async function inSlices<T>(slices: TimeSlices, work: Iterator<void, T>): Promise<T> {
  for (;;) {
    const piece = work.next()
    if (piece.done) return piece.value
    await slices.rest()
  }
}

export function analyticsService({ stores, clock }: { stores: AnalyticsStores; clock: Clock }) {
  const turns = new Semaphore(maxAtOnce)

  function checklistOf({ flow }: Query, tally: RunTally) {
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

  /** Counts the answers to questions; null if the flow never had a question. */
  async function answersOf(query: Query, signal: AbortSignal) {
    const { flow, range, version, filters } = query
    if (flow.questions.size === 0) return null
    const tally = new AnswerTallies(query)
    for await (const runs of stores.analytics.answers(flow.organisation.ref, flow.ref, range)) {
      throwIfGone(signal)
      for (const run of runs) {
        if (version !== null && run.version !== version) continue
        if (hasTraits(run.traits, filters)) tally.add(run)
      }
    }
    return tally
  }

  async function stepsOf(
    query: Query,
    { tally, paths }: { tally: RunTally; paths: PathTally | null },
    now: number,
    signal: AbortSignal,
  ) {
    const { flow } = query
    const answers = await answersOf(query, signal)
    return Promise.all(
      tally.stepRefs().map(async ref => {
        const { id, key, title } = flow.steps.get(ref) ?? { id: '', key: '', title: '' }
        const [question, ...older] = flow.questions.get(ref) ?? []
        return {
          stepId: id,
          key,
          position: tally.positions.newestOf(ref)?.position ?? 0,
          title,
          ...tally.step(ref),
          ...(answers && question && { question: answers.of(ref, [question, ...older]) }),
          ...(paths && { leftOut: paths.leftOutOf(ref) }),
          health: await healthOf(stores, flow, { id, ref }, now),
        }
      }),
    )
  }

  /** Reads the runs and counts them. */
  async function tallyOf(query: Query, now: number, signal: AbortSignal) {
    const { flow, range, version, filters, groupBy: by, hasPaths, leftAt } = query
    const tally = new RunTally(query, now)
    const versions = new VersionTally()
    const runs = { orgRef: flow.organisation.ref, flowRef: flow.ref, versions: flow.versions }
    const bySegment = by === null ? null : new SegmentTally(by)
    const paths = hasPaths ? new PathTally(flow) : null
    const leavers = leftAt === null ? null : new LeaverTally(leftAt, flow.steps, now)
    for await (const columns of stores.analytics.columns(runs, range, hasPaths)) {
      throwIfGone(signal)
      const kept = withTraits(columns, filters)
      if (!kept) continue
      versions.add(kept)
      const counted = version === null ? kept : ofVersion(kept, version)
      if (!counted) continue
      tally.add(counted)
      bySegment?.add(counted)
      paths?.add(counted)
      leavers?.add(counted)
    }
    const slices = new TimeSlices()
    await inSlices(slices, tally.countingPeople())
    const segments = bySegment && (await inSlices(slices, bySegment.counting()))
    return { tally, versions, segments, paths, leavers: leavers?.numbers() }
  }

  /** Undefined if the flow has no experiment; null if segments are filtered. */
  async function experimentIn({ flow, range, version, filters }: Query) {
    const { goal, rollout } = flow.definition ?? {}
    if (!goal) return undefined
    const groups = await stores.analytics.experiment(flow.organisation.ref, flow.ref, {
      ...{ range, version, goal: goal.event },
    })
    if (rollout?.holdOut === undefined && groups.heldOut.people === 0) return undefined
    return filters.length > 0 ? null : experimentOf(goal.event, groups)
  }

  async function analytics(
    query: Query,
    signal: AbortSignal,
    ignored: string[],
  ): Promise<Analytics> {
    const { flow, version, filters, hasDistribution, leftAt } = query
    const now = clock.now()
    const { tally, versions, segments, paths, leavers } = await tallyOf(query, now, signal)
    const periods = tally.periods()
    const experiment = await experimentIn(query)
    const hasExperiment = experiment !== undefined
    return {
      flowId: flow.id,
      flowKey: flow.key,
      flowName: flow.name,
      range: rangeIn(query.range, now),
      filters: { version, ...filtersIn(filters) },
      ignored,
      generatedAt: isoTime(now),
      totals: tally.totals(),
      timeToComplete: tally.timeToComplete(hasDistribution),
      steps: await stepsOf(query, { tally, paths }, now, signal),
      ...(paths && { ways: paths.numbers(tally.stepRefs()) }),
      checklist: checklistOf(query, tally),
      daily: tally.daily(),
      ...(periods && { periods }),
      versions: flow.versions.map(({ version, publishedAt }) => ({
        version,
        publishedAt: isoTime(publishedAt),
        ...versions.numbers(version, hasDistribution),
      })),
      ...(segments && { segments }),
      ...(hasExperiment && { experiment }),
      ...(leavers && { leavers: { step: flow.steps.get(leftAt!)!.key, ...leavers } }),
      definitions: definitionsOf({ ...query, hasExperiment }),
    }
  }

  async function summaryOf(flow: FlowEntry, range: TimeRange, signal: AbortSignal) {
    const now = clock.now()
    const { tally } = await tallyOf({ ...plainQuery, flow, range }, now, signal)
    return {
      flowId: flow.id,
      flowKey: flow.key,
      totals: tally.totals(),
      timeToComplete: tally.timeToComplete(false),
      stalled: await isStalled(flow, now - stalledAfterMs),
      worstSteps: worstStepsOf(flow, tally),
      daily: tally.daily().map(({ uniqueUsers: _, ...day }) => day),
    }
  }

  /** Whether a flow was published before a time, and no run of it has started since. */
  async function isStalled(flow: FlowEntry, since: number): Promise<boolean> {
    const publishedAt = flow.versions.at(-1)?.publishedAt
    if (flow.status !== 'published' || publishedAt === undefined || publishedAt > since)
      return false
    const lastStart = await stores.analytics.lastStart(flow.organisation.ref, flow.ref)
    return lastStart === null || lastStart <= since
  }

  const inTurn = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    turns.take(() => {
      throwIfGone(signal)
      return work()
    })

  return {
    /** @param ignored the names of unknown parameters */
    analytics: (query: Query, signal: AbortSignal, ignored: string[] = []) =>
      inTurn(signal, () => analytics(query, signal, ignored)),
    /** One flow after the other, so that requests for single flows can come in between. */
    async summary(
      flows: readonly FlowEntry[],
      range: TimeRange,
      signal: AbortSignal,
    ): Promise<Summary> {
      const summaries: Summary['flows'] = []
      for (const flow of flows) {
        summaries.push(await inTurn(signal, () => summaryOf(flow, range, signal)))
      }
      return {
        range: rangeIn(range, clock.now()),
        flows: summaries,
        definitions: definitionsOf(plainQuery),
      }
    },
  }
}

/** What runs were limited to, as it is returned. */
function filtersIn(filters: Query['filters']) {
  const segment = filters.flatMap(filter => ('saved' in filter ? [] : [filter]))
  const saved = filters.flatMap(filter => ('saved' in filter ? [filter.saved] : []))
  return {
    ...(segment.length > 0 && { segment }),
    ...(saved.length > 0 && { saved: saved.map(({ id, name }) => ({ id, name })) }),
  }
}

/** The steps at which runs left, most first, at most three. */
function worstStepsOf({ steps }: FlowEntry, tally: RunTally) {
  return tally
    .stepRefs()
    .map(ref => {
      const { droppedHere, activeHere, reached } = tally.step(ref)
      const { id, key, title } = steps.get(ref) ?? { id: '', key: '', title: '' }
      const position = tally.positions.newestOf(ref)?.position ?? 0
      return { stepId: id, key, title, position, reached, left: droppedHere - activeHere }
    })
    .filter(({ left }) => left > 0)
    .sort((a, b) => b.left - a.left || a.position - b.position)
    .slice(0, 3)
}

const plainQuery = {
  version: null,
  filters: [],
  groupBy: null,
  interval: null,
  hasDistribution: false,
  hasPaths: false,
  hasAnswers: false,
  leftAt: null,
} satisfies Omit<Query, 'flow' | 'range'>

const rangeIn = ({ from, to, timezone, endMs }: TimeRange, now: number) => ({
  from,
  to,
  timezone,
  complete: endMs <= now,
})
