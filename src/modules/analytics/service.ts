import { callerGone, invalid } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import { Semaphore } from '../../scheduling/semaphore.ts'
import { TimeSlices } from '../../scheduling/time-slices.ts'
import { healthOf } from '../steps/index.ts'
import { definitions } from './definitions.ts'
import type { Analytics, AnalyticsQuery } from './model.ts'
import type { AnalyticsStores } from './port.ts'
import { RunTally } from './tally.ts'

/** What was asked, checked. */
export interface Question {
  flow: FlowEntry
  range: TimeRange
  version: number | null
  /** Parameters that were sent and mean nothing, by name. */
  ignored: readonly string[]
}

/** @throws AppError `validation_failed` for a wrong date, zone, order, range or version */
export function questionOf(
  flow: FlowEntry,
  query: AnalyticsQuery,
  now: number,
  ignored: readonly string[] = [],
): Question {
  const resolved = resolveRange(query, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  const version = query.version === undefined ? null : Number(query.version)
  if (version !== null && !flow.versions.some(known => known.version === version)) {
    throw invalid({ path: '/version', message: 'This version was never published' })
  }
  return { flow, range: resolved.range, version, ignored }
}

/** Answers worked out at once in one thread: each holds what it knows of every person in memory. */
const answersAtOnce = 1

/** @throws AppError `caller_gone`, so that nothing is worked out for nobody */
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

  async function stepsOf({ flow }: Question, tally: RunTally, now: number) {
    const refs = tally.stepRefs()
    return Promise.all(
      refs.map(async ref => {
        const { id, key, title } = flow.steps.get(ref) ?? { id: '', key: '', title: '' }
        return {
          stepId: id,
          key,
          position: tally.positions.newestOf(ref)?.position ?? 0,
          title,
          ...tally.step(ref),
          health: await healthOf(stores, flow, { id, ref }, now),
        }
      }),
    )
  }

  async function answer(question: Question, signal: AbortSignal): Promise<Analytics> {
    const { flow, range, version, ignored } = question
    const now = clock.now()
    const tally = new RunTally(flow, range, version, now)
    const runs = { orgRef: flow.organisation.ref, flowRef: flow.ref, versions: flow.versions }
    for await (const columns of stores.analytics.columns(runs, range)) {
      goOn(signal)
      tally.add(columns)
    }
    const slices = new TimeSlices()
    for (const _ of tally.countingPeople()) await slices.rest()
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
      filters: { version },
      ignored: [...ignored],
      generatedAt: isoTime(now),
      totals: tally.totals(),
      timeToComplete: tally.timeToComplete(),
      steps: await stepsOf(question, tally, now),
      checklist: checklistOf(question, tally),
      daily: tally.daily(),
      versions: flow.versions.map(({ version, publishedAt }) => ({
        version,
        publishedAt: isoTime(publishedAt),
        ...tally.ofVersion(version),
      })),
      definitions,
    }
  }

  return {
    answer: (question: Question, signal: AbortSignal) =>
      turns.take(() => {
        goOn(signal)
        return answer(question, signal)
      }),
  }
}
