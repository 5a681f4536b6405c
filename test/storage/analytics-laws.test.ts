import { afterAll, describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvOf } from '../../src/modules/analytics/csv.ts'
import { analyticsService, questionOf } from '../../src/modules/analytics/service.ts'
import { rebuild } from '../../src/storage/projections/rebuild.ts'
import { type RefQuery, referenceAnalytics } from '../support/analytics-reference.ts'
import {
  autumnAnchor,
  type History,
  historyArbitrary,
  historyZones,
  reach,
  springAnchor,
} from '../support/histories.ts'
import { lawWorld } from '../support/lives.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../support/stored-history.ts'

const world = lawWorld()
afterAll(() => world.close())

/** How many histories a law is tried on; more in a long run. */
const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 60)

const day = 86_400_000
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** How a history is sent: in which order, in batches of which sizes, and which events again. */
interface Delivery {
  order: number[]
  sizes: number[]
  again: number[]
  /** After which batches blocks are made of what is there, again and again. */
  seals: boolean[]
}

const deliveryArbitrary = (events: number) =>
  fc.record({
    order: fc.shuffledSubarray(
      Array.from({ length: events }, (_, i) => i),
      { minLength: events },
    ),
    sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
    seals: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
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
      now: fc.integer({ min: -reach, max: 2 * reach }).map(distance => anchor + distance),
    }),
  )

/** Where runs stand when they are counted: as rows, in blocks, or in blocks that go and come. */
const modes = ['rows', 'blocks', 'both'] as const

async function deliver(
  stored: StoredWorld,
  history: History,
  delivery: Delivery,
  mode: (typeof modes)[number],
): Promise<void> {
  const sent = [...delivery.order, ...delivery.again]
  const pending: Promise<unknown>[] = []
  for (let at = 0, n = 0; at < sent.length; n++) {
    const size = delivery.sizes[n % delivery.sizes.length] as number
    const events = sent
      .slice(at, at + size)
      .map(i => newEventOf(stored, history.events[i] as never, `event-${i}`))
    at += size
    const batch = world.byRow.ledger.append({
      orgRef: stored.orgRow,
      receivedAt: world.clock.now(),
      events,
      refusals: {},
      skewMs: null,
    })
    pending.push(batch)
    // Sometimes alone in a commit, sometimes with others.
    if (n % 3 !== 0) await batch
    if (mode === 'both' && delivery.seals[n % delivery.seals.length]) await world.sealAll()
  }
  await Promise.all(pending)
  if (mode === 'blocks') await world.sealAll()
}

async function answerOf(stored: StoredWorld, query: RefQuery) {
  const flow = world.stores.catalogue().flow(stored.flowIds.get(query.flowKey) as string)
  if (!flow) throw new Error('the flow is stored')
  const { version, now, ...rest } = query
  const asked = { ...rest, ...(version === undefined ? {} : { version: `${version}` }) }
  const question = questionOf(flow, asked, now)
  return analyticsService(world).answer(question, new AbortController().signal)
}

type Answer = Awaited<ReturnType<typeof answerOf>>

/** An answer without what the reference does not have: ids, titles, health, words. */
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
    versions: answer.versions,
  }
}

/** Reads the CSV with a real parser and holds every number and text of it against the JSON. */
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
        median_seconds: step.medianSeconds,
        p90_seconds: step.p90Seconds,
        health_state: step.health.state,
        health_ok_rate: step.health.okRate,
        health_reports: step.health.reports,
      }),
    ),
  )
  expect(ofType('item')).toMatchObject(
    (checklist?.items ?? []).map(({ itemId, key, title, completions }) =>
      cells({ id: itemId, key, title, completions }),
    ),
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

const orderOf = (stored: StoredWorld, flow: string) => (key: string) =>
  stored.stepRows.get(`${flow}/${key}`) ?? 0

for (const [season, anchor] of [
  ['spring', springAnchor],
  ['autumn', autumnAnchor],
] as const) {
  describe(`histories around the clock changes of ${season}`, () => {
    test('any order, batching and repetition gives the numbers of the definitions', async () => {
      await fc.assert(
        fc.asyncProperty(caseArbitrary(anchor), async drawn => {
          const { history, deliveries, timezone, fromDay, days, version, now } = drawn
          world.clock.wallMs = now
          const query: RefQuery = {
            flowKey: 'welcome',
            from: dateOf(anchor + fromDay * day),
            to: dateOf(anchor + (fromDay + days - 1) * day),
            timezone,
            now,
          }
          const flow = history.flows.find(({ key }) => key === 'welcome')
          if (version && flow?.versions.some(known => known.version === version)) {
            query.version = version
          }
          for (const [i, mode] of modes.entries()) {
            const delivery = deliveries[i] as Delivery
            const stored = storeFlows(world, history.flows)
            await deliver(stored, history, delivery, mode)
            const expected = referenceAnalytics(
              history.flows,
              history.events,
              query,
              orderOf(stored, 'welcome'),
            )
            const answer = await answerOf(stored, query)
            expect(comparable(answer)).toEqual(expected as never)
            expectCsvToSayTheSame(answer)
          }
        }),
        { numRuns },
      )
    }, 120_000)
  })
}

test('a rebuild of all these histories changes nothing', () => {
  const { flows, changed } = rebuild(world.database)
  expect(flows).toBeGreaterThan(numRuns)
  expect(changed).toBe(0)
}, 120_000)
