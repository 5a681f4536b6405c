import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvOf } from '../../../src/modules/analytics/csv.ts'
import { intervals } from '../../../src/modules/analytics/periods.ts'
import {
  daysBetween,
  type RefFlow,
  type RefQuery,
  referenceAnalytics,
} from '../../support/analytics-reference.ts'
import {
  autumnAnchor,
  type History,
  historyArbitrary,
  historyZones,
  reach,
  springAnchor,
} from '../../support/histories.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { rebuilt, Tenant } from './tenant.ts'

const day = 86_400_000
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** How a history is sent: the order, the batch sizes, and the events that are sent again. */
interface Delivery {
  order: number[]
  sizes: number[]
  again: number[]
  /** The batches after which the background work is done. */
  settles: boolean[]
}

const deliveryArbitrary = (events: number) =>
  fc.record({
    order: fc.shuffledSubarray(
      Array.from({ length: events }, (_, i) => i),
      { minLength: events },
    ),
    sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
    settles: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    again: fc.array(fc.nat({ max: Math.max(0, events - 1) }), { maxLength: events === 0 ? 0 : 10 }),
  })

const caseArbitrary = (anchor: number, maxEvents = 60) =>
  historyArbitrary({ anchor, maxEvents }).chain(history =>
    fc.record({
      history: fc.constant(history),
      deliveries: fc.array(deliveryArbitrary(history.events.length), {
        minLength: modes.length,
        maxLength: modes.length,
      }),
      timezone: fc.constantFrom(...historyZones),
      fromDay: fc.integer({ min: -22, max: 10 }),
      days: fc.integer({ min: 1, max: 40 }),
      version: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined, freq: 3 }),
      interval: fc.option(fc.constantFrom(...intervals), { nil: undefined }),
      distribution: fc.option(fc.constant('1' as const), { nil: undefined }),
      // Rarely, because ways and `lateMinutes` are never read from segments.
      ways: fc.option(fc.constant('1' as const), { nil: undefined, freq: 1 }),
      only: fc.option(
        fc.record({
          trait: fc.constantFrom('plan', 'size'),
          value: fc.constantFrom('free', 'pro', '2', 'nobody', null),
        }),
        { nil: undefined, freq: 2 },
      ),
      by: fc.option(fc.constantFrom('plan', 'size'), { nil: undefined }),
      lateMinutes: fc.option(fc.constantFrom(1, 60, 1_440), { nil: undefined, freq: 1 }),
      now: fc.integer({ min: -reach, max: 2 * reach }).map(distance => anchor + distance),
    }),
  )

/** When the background work is done: not before the question, before it, or again and again. */
const modes = ['unsettled', 'settled', 'both'] as const

async function deliver(
  store: Store,
  tenant: Tenant,
  history: History,
  delivery: Delivery,
  mode: (typeof modes)[number],
): Promise<void> {
  const sent = [...delivery.order, ...delivery.again]
  const pending: Promise<unknown>[] = []
  for (let at = 0, n = 0; at < sent.length; n++) {
    const size = delivery.sizes[n % delivery.sizes.length]!
    const events = sent
      .slice(at, at + size)
      .map(i => tenant.event(`event-${i}`, history.events[i]!))
    at += size
    const batch = tenant.append(events)
    pending.push(batch)
    // Sometimes alone in a commit, sometimes with others.
    if (n % 3 !== 0) await batch
    if (mode === 'both' && delivery.settles[n % delivery.settles.length]) await store.settle()
  }
  await Promise.all(pending)
  if (mode === 'settled') await store.settle()
}

type Answer = Awaited<ReturnType<Tenant['answer']>>

/** An answer without what the reference lacks: ids, titles, health, words. */
function comparable(answer: Answer) {
  return {
    totals: answer.totals,
    isComplete: answer.range.complete,
    timeToComplete: answer.timeToComplete,
    steps: answer.steps.map(({ stepId, title, health, ...step }) => step),
    checklist: answer.checklist && {
      items: answer.checklist.items.map(({ key, completions }) => ({ key, completions })),
      completedAll: answer.checklist.completedAll,
    },
    daily: answer.daily,
    ...(answer.periods && { periods: answer.periods }),
    versions: answer.versions,
    ...(answer.segments && {
      segments: answer.segments.map(({ trait, interval, ...segment }) => segment),
    }),
    ...(answer.ways && { ways: byKeys(answer) }),
    ...(answer.late && {
      late: answer.late.cohorts.map(({ interval, ...cohort }) => cohort),
    }),
  }
}

/** The ways, with the keys of steps in place of their ids, each after a slash. */
function byKeys({ ways = [], steps }: Answer) {
  const named = (stop: string | null) => {
    const step = steps.find(({ stepId }) => stepId === stop)
    return step ? `/${step.key}` : stop
  }
  return ways.map(({ from, to, runs }) => ({ from: named(from), to: named(to), runs }))
}

/** The ways count each run once: it begins, enters and leaves each step that it viewed, and ends. */
function expectWays(answer: Answer, flow: RefFlow): void {
  const { ways, steps, totals, filters, versions } = answer
  if (!ways) return
  const sum = (of: typeof ways) => of.reduce((total, { runs }) => total + runs, 0)
  expect(sum(ways.filter(({ from }) => from === null))).toBe(totals.starts)
  expect(sum(ways.filter(({ to }) => to === 'completed'))).toBe(totals.completions)
  expect(sum(ways.filter(({ to }) => to === 'dismissed'))).toBe(totals.dismissals)
  expect(sum(ways.filter(({ to }) => to === null))).toBe(totals.inProgress)
  for (const { stepId, reached } of steps) {
    expect(sum(ways.filter(({ to }) => to === stepId))).toBe(reached)
    expect(sum(ways.filter(({ from }) => from === stepId))).toBe(reached)
  }
  // The newest version's steps come first, in that version's order.
  if (filters.version !== versions.at(-1)!.version) return
  const own = steps.slice(0, flow.versions.at(-1)!.steps.length)
  for (const [i, step] of own.entries()) {
    const before = own[i - 1]
    if (!before) continue
    expect(step.reached + step.leftOut!).toBeLessThanOrEqual(before.reached + before.leftOut!)
  }
}

/** Reads the CSV with a real parser and compares every number and text in it with the JSON. */
function expectCsvToSayTheSame(answer: Answer): void {
  const rows: Record<string, string>[] = parse(csvOf(answer, { bom: true }), {
    columns: true,
    bom: true,
    record_delimiter: '\r\n',
  })
  const ofType = (type: string) => rows.filter(row => row.row_type === type)
  type Cell = string | number | boolean | null
  const cell = (value: Cell) => (value === null ? '' : `${value}`)
  const cells = (values: Record<string, Cell>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, cell(value)]))
  const { totals, timeToComplete, checklist } = answer
  expect(ofType('total')).toMatchObject([
    cells({
      id: answer.flowId,
      key: answer.flowKey,
      starts: totals.starts,
      unique_users: totals.uniqueUsers,
      completions: totals.completions,
      unique_completers: totals.uniqueCompleters,
      dismissals: totals.dismissals,
      in_progress: totals.inProgress,
      completion_rate: totals.completionRate,
      timed_runs: timeToComplete.count,
      median_seconds: timeToComplete.medianSeconds,
      p90_seconds: timeToComplete.p90Seconds,
      completed_all: checklist?.completedAll ?? null,
      untimed: timeToComplete.untimed,
      complete: answer.range.complete,
    }),
  ])
  expect(ofType('day')).toMatchObject(
    answer.daily.map(({ uniqueUsers, ...day }) => cells({ ...day, unique_users: uniqueUsers })),
  )
  expect(ofType('step')).toMatchObject(
    answer.steps.map(step =>
      cells({
        id: step.stepId,
        key: step.key,
        title: step.title,
        position: step.position,
        reached: step.reached,
        unique_users: step.uniqueUsers,
        completed: step.completed,
        skipped: step.skipped,
        target_missing: step.targetMissing,
        dropped_here: step.droppedHere,
        drop_off_rate: step.dropOffRate,
        still_here: step.stillHere,
        ...(step.leftOut !== undefined && { left_out: step.leftOut }),
        median_seconds: step.medianSeconds,
        p90_seconds: step.p90Seconds,
        health_state: step.health.state,
        health_ok_rate: step.health.okRate,
        health_reports: step.health.reports,
        ...(step.question && {
          question: step.question.type,
          answers: step.question.answers,
          average: step.question.average,
          median: step.question.median,
          nps_score: step.question.nps?.score ?? null,
          promoters: step.question.nps?.promoters ?? null,
          passives: step.question.nps?.passives ?? null,
          detractors: step.question.nps?.detractors ?? null,
        }),
      }),
    ),
  )
  expect(ofType('answer')).toMatchObject(
    answer.steps.flatMap(({ stepId, question }) =>
      (question?.distribution ?? []).map(({ value, ...of }) =>
        cells({ id: stepId, answer: value, ...of }),
      ),
    ),
  )
  expect(ofType('period')).toMatchObject(
    (answer.periods ?? []).map(({ from, to, uniqueUsers, ...period }) =>
      cells({ ...period, date: from, last_date: to, unique_users: uniqueUsers }),
    ),
  )
  const bins = timeToComplete.distribution ?? []
  const ofBins = (version: number | null, counts: readonly number[] = []) =>
    bins.map(({ fromSeconds, toSeconds }, bin) =>
      cells({
        version,
        timed_runs: counts[bin]!,
        from_seconds: fromSeconds,
        to_seconds: toSeconds,
      }),
    )
  expect(ofType('bin')).toMatchObject([
    ...ofBins(
      null,
      bins.map(({ count }) => count),
    ),
    ...answer.versions.flatMap(({ version, distribution }) => ofBins(version, distribution)),
  ])
  expect(ofType('item')).toMatchObject(
    (checklist?.items ?? []).map(({ itemId, key, title, completions }) =>
      cells({ id: itemId, key, title, completions }),
    ),
  )
  const groupCells = (group: NonNullable<Answer['segments']>[number]) => {
    const { interval, timeToComplete } = group
    return cells({
      starts: group.starts,
      unique_users: group.uniqueUsers,
      completions: group.completions,
      unique_completers: group.uniqueCompleters,
      dismissals: group.dismissals,
      in_progress: group.inProgress,
      completion_rate: group.completionRate,
      rate_low: interval?.low ?? null,
      rate_high: interval?.high ?? null,
      timed_runs: timeToComplete.count,
      median_seconds: timeToComplete.medianSeconds,
      p90_seconds: timeToComplete.p90Seconds,
      untimed: timeToComplete.untimed,
    })
  }
  // A spreadsheet would take such a text for a formula.
  const text = (value: string | null) => (value?.startsWith('=') ? `'${value}` : value)
  expect(ofType('way')).toMatchObject((answer.ways ?? []).map(way => cells(way)))
  expect(ofType('filter')).toMatchObject(
    (answer.filters.segment ?? []).map(({ trait, value }) => cells({ trait, value: text(value) })),
  )
  expect(ofType('segment')).toMatchObject(
    (answer.segments ?? []).map(({ trait, kind, value, values, ...group }) => ({
      ...cells({ trait, kind, value: text(value), values }),
      ...groupCells(group as never),
    })),
  )
  expect(ofType('cohort')).toMatchObject(
    (answer.late?.cohorts ?? []).map(({ cohort, ...group }) => ({
      ...cells({
        kind: cohort,
        id: answer.late!.stepId,
        key: answer.late!.key,
        after_seconds: answer.late!.afterSeconds,
      }),
      ...groupCells(group as never),
    })),
  )
  expect(ofType('version')).toMatchObject(
    answer.versions.map(({ version, publishedAt, starts, completions, completionRate }) =>
      cells({
        version,
        date: publishedAt,
        starts,
        completions,
        completion_rate: completionRate,
      }),
    ),
  )
}

/** Groups partition all runs that were counted, and every interval contains its rate. */
function expectParts({ totals, segments, late }: Answer): void {
  for (const groups of [segments, late?.cohorts]) {
    if (!groups) continue
    for (const name of ['starts', 'completions', 'dismissals', 'inProgress'] as const) {
      expect(groups.reduce((sum, group) => sum + group[name], 0)).toBe(totals[name])
    }
    for (const { completionRate, interval } of groups) {
      if (completionRate === null) expect(interval).toBeNull()
      else {
        expect(interval!.low).toBeLessThanOrEqual(completionRate)
        expect(interval!.high).toBeGreaterThanOrEqual(completionRate)
      }
    }
  }
}

/** Periods add up from their days, and bins from the runs that were timed. */
function expectSums({ daily, periods, timeToComplete, versions, filters }: Answer): void {
  for (const { from, to, uniqueUsers, whole: _, complete: __, ...sums } of periods ?? []) {
    const own = daily.filter(({ date }) => from <= date && date <= to)
    const sum = (of: 'starts' | 'completions' | 'dismissals' | 'uniqueUsers') =>
      own.reduce((total, day) => total + day[of], 0)
    for (const name of ['starts', 'completions', 'dismissals'] as const) {
      expect(sums[name]).toBe(sum(name))
    }
    expect(uniqueUsers).toBeLessThanOrEqual(sum('uniqueUsers'))
  }
  if (periods)
    expect(periods.flatMap(({ from, to }) => daysBetween(from, to))).toEqual(
      daily.map(({ date }) => date),
    )
  const { distribution, count } = timeToComplete
  if (!distribution) return
  const counts = distribution.map(bin => bin.count)
  expect(counts.reduce((total, each) => total + each, 0)).toBe(count)
  if (filters.version === null) {
    const ofVersions = counts.map((_, bin) =>
      versions.reduce((total, version) => total + version.distribution![bin]!, 0),
    )
    expect(ofVersions).toEqual(counts)
  }
}

export function analyticsConform(open: OpenStore, rounds: Rounds): void {
  describe.each([
    ['spring', springAnchor],
    ['autumn', autumnAnchor],
  ])('histories around the clock changes of %s', (_, anchor) => {
    test('give the defined numbers in any order, batches and repetitions, and a rebuild changes nothing', async () => {
      const store = await open()
      await fc.assert(
        fc.asyncProperty(caseArbitrary(anchor), async drawn => {
          const { history, deliveries, timezone, fromDay, days, version, now } = drawn
          const { interval, distribution, ways, only, by, lateMinutes } = drawn
          const query: RefQuery = {
            flowKey: 'welcome',
            from: dateOf(anchor + fromDay * day),
            to: dateOf(anchor + (fromDay + days - 1) * day),
            timezone,
            ...(interval && { interval }),
            ...(distribution && { distribution }),
            ...(ways && { ways }),
            ...(only && { only: [only] }),
            ...(by && { by }),
            now,
          }
          const flow = history.flows.find(({ key }) => key === 'welcome')
          if (version && flow?.versions.some(known => known.version === version)) {
            query.version = version
          }
          const lateStep = flow?.versions[0]?.steps[0]?.key
          if (lateMinutes && lateStep) {
            query.late = { stepKey: lateStep, afterMs: lateMinutes * 60_000 }
          }
          const segment = [
            ...(by ? [by] : []),
            ...(only ? [`${only.trait}:${only.value ?? ''}`] : []),
          ]
          for (const [i, mode] of modes.entries()) {
            const tenant = await Tenant.withFlows(store, history.flows)
            await tenant.change({ settings: { traits: ['plan', 'size'] } })
            store.clock.moveTo(now)
            await deliver(store, tenant, history, deliveries[i]!, mode)
            const rank = await tenant.rankOfSteps('welcome')
            const expected = referenceAnalytics(history.flows, history.events, query, rank)
            const asked = { from: query.from, to: query.to, timezone, interval, distribution, ways }
            const answer = await tenant.answer(
              'welcome',
              {
                ...asked,
                ...(query.version !== undefined && { version: `${query.version}` }),
                ...(segment.length > 0 && { segment }),
                ...(query.late && { late: `${lateStep}:${lateMinutes}m` }),
              },
              now,
            )
            expect(comparable(answer)).toEqual(expected as never)
            expectCsvToSayTheSame(answer)
            expectSums(answer)
            expectParts(answer)
            expectWays(answer, flow!)
          }
        }),
        { numRuns: rounds(60) },
      )
      expect(await rebuilt(store)).toBe(0)
      await store.close()
    }, 300_000)
  })
}
