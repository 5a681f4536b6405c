import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvOf } from '../../../src/modules/analytics/csv.ts'
import { intervals } from '../../../src/modules/analytics/periods.ts'
import {
  type RefGroup,
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
      // Rarely, because ways are never read from segments.
      ways: fc.option(fc.constant('1' as const), { nil: undefined, freq: 1 }),
      only: fc.option(
        fc.record({
          trait: fc.constantFrom('plan', 'size'),
          value: fc.constantFrom('free', 'pro', '2', 'nobody', null),
        }),
        { nil: undefined, freq: 2 },
      ),
      by: fc.option(fc.constantFrom('plan', 'size'), { nil: undefined }),
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

type Cell = string | number | boolean | null

/** The cells of a row by the names of their columns. A spreadsheet would take a text with "=" for a formula. */
const cells = (values: Record<string, Cell>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const column = name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
      return [column, `${value ?? ''}`.replace(/^=/, "'=")]
    }),
  )

const timesOf = ({ distribution, count, ...times }: Answer['timeToComplete']) => ({
  timedRuns: count,
  ...times,
})

interface Group extends RefGroup {
  interval: { low: number; high: number } | null
}

const groupOf = ({ interval, timeToComplete, ...group }: Group) =>
  cells({
    ...{ ...group, rateLow: interval?.low ?? null, rateHigh: interval?.high ?? null },
    ...timesOf(timeToComplete),
  })

/** Reads the CSV with a real parser and compares it with the JSON, which alone has distributions and paths. */
function expectCsvToSayTheSame(answer: Answer): void {
  const rows: Record<string, string>[] = parse(csvOf(answer, { bom: true }), {
    columns: true,
    bom: true,
    record_delimiter: '\r\n',
  })
  const { totals, timeToComplete, checklist, flowId: id, flowKey: key } = answer
  const expected: Record<string, object[]> = {
    total: [
      cells({
        ...{ id, key, ...totals, ...timesOf(timeToComplete) },
        ...{ completedAll: checklist?.completedAll ?? null, complete: answer.range.complete },
      }),
    ],
    day: answer.daily.map(day => cells({ ...day })),
    period: (answer.periods ?? []).map(({ from, to, ...period }) =>
      cells({ ...period, date: from, lastDate: to }),
    ),
    step: answer.steps.map(({ stepId, health, question, leftOut, ...step }) =>
      cells({
        ...{ id: stepId, ...step, healthState: health.state },
        ...{ healthOkRate: health.okRate, healthReports: health.reports },
        ...(question && {
          ...{ question: question.type, answers: question.answers, average: question.average },
          ...{ median: question.median, npsScore: question.nps?.score ?? null },
          promoters: question.nps?.promoters ?? null,
          passives: question.nps?.passives ?? null,
          detractors: question.nps?.detractors ?? null,
        }),
      }),
    ),
    answer: answer.steps.flatMap(({ stepId, question }) =>
      (question?.distribution ?? []).map(({ value, ...of }) =>
        cells({ id: stepId, answer: value, ...of }),
      ),
    ),
    item: (checklist?.items ?? []).map(({ itemId, ...item }) => cells({ id: itemId, ...item })),
    filter: (answer.filters.segment ?? []).map(({ trait, value }) => cells({ trait, value })),
    segment: (answer.segments ?? []).map(groupOf),
    version: answer.versions.map(({ publishedAt, distribution, ...version }) =>
      cells({ ...version, date: publishedAt }),
    ),
  }
  for (const [type, ofType] of Object.entries(expected)) {
    expect(rows.filter(row => row.row_type === type)).toMatchObject(ofType)
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
          const { interval, distribution, ways, only, by } = drawn
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
            const requested = {
              from: query.from,
              to: query.to,
              timezone,
              interval,
              distribution,
              ways,
            }
            const answer = await tenant.answer(
              'welcome',
              {
                ...requested,
                ...(query.version !== undefined && { version: `${query.version}` }),
                ...(segment.length > 0 && { segment }),
              },
              now,
            )
            expect(comparable(answer)).toEqual(expected as never)
            expectCsvToSayTheSame(answer)
          }
        }),
        { numRuns: rounds(60) },
      )
      expect(await rebuilt(store)).toBe(0)
      await store.close()
    }, 300_000)
  })
}
