import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { idsOf } from '../../src/core/event/event.ts'
import { analyticsService, questionOf } from '../../src/modules/analytics/service.ts'
import { rebuild } from '../../src/storage/projections/rebuild.ts'
import {
  passesOf,
  personOfEvent,
  progressOf,
  type RefEvent,
  type RefFlow,
  referenceAnalytics,
} from '../support/analytics-reference.ts'
import { eraseBeside } from '../support/erasing.ts'
import { storedEvents } from '../support/ledger.ts'
import { lawWorld } from '../support/lives.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../support/stored-history.ts'

/**
 * Checklists as people live with them: a visitor who ticks and then signs in, two people in one run,
 * lists taken back and ticked again, new versions with other items, reports that come late. What is
 * answered is what the slow reference says of the ledger.
 */

const world = lawWorld()
afterAll(() => world.close())

const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 60)

const begin = Date.UTC(2026, 10, 16, 9)
const people = ['av', 'aw', 'uann', 'ubob']
const items = ['x', 'y', 'z']

const itemsOf = fc.shuffledSubarray(items, { minLength: 1, maxLength: 3 })
const flowArbitrary = fc.tuple(itemsOf, fc.option(itemsOf)).map(
  ([first, second]): RefFlow => ({
    key: 'setup',
    versions: [first, ...(second ? [second] : [])].map((keys, n) => ({
      version: n + 1,
      publishedAt: n === 0 ? 0 : begin + 20_000,
      steps: [{ key: 'a' }],
      items: keys.map(key => ({ key, completeOn: key === 'z' ? 'did_z' : null })),
    })),
  }),
)

const inRun = fc.constantFrom<{ runId?: string; sessionId?: string }>(
  {},
  { runId: '1' },
  { runId: '1' },
  { runId: '2' },
  { sessionId: '1' },
)
const person = fc.nat({ max: people.length - 1 }).map(i => people[i]!)

const deed = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('report' as const),
      kind: fc.constantFrom<RefEvent['kind']>(
        'checklist_opened',
        'item_completed',
        'item_completed',
        'item_completed',
        'step_viewed',
        'custom',
        'flow_completed',
      ),
      person,
      item: fc.constantFrom(...items),
      run: inRun,
      flowVersion: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
      agoMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 15_000 })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('write' as const),
      person,
      items: fc.uniqueArray(fc.tuple(fc.constantFrom(...items), fc.boolean()), {
        selector: ([key]) => key,
        minLength: 1,
        maxLength: 3,
      }),
      run: inRun,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'seal' as const }) },
)

const caseArbitrary = fc.record({
  flow: flowArbitrary,
  deeds: fc.array(fc.tuple(deed, fc.constantFrom(1, 2, 1_000, 7_000), fc.boolean()), {
    minLength: 4,
    maxLength: 24,
    size: 'max',
  }),
  erased: fc.option(person),
})

/** The ledger as a reference's events; what Cairn itself made of custom events is left to it. */
function eventsIn(stored: StoredWorld): RefEvent[] {
  const keyOf = (rows: Map<string, number>, row: number | null) =>
    [...rows].find(([, known]) => known === row)?.[0].split('/')[1]
  return storedEvents(world.database, stored.orgRow)
    .filter(({ source }) => source !== 'custom_event')
    .map(event => {
      const given = {
        kind: event.kind,
        userId: event.userId,
        anonymousId: event.anonymousId,
        flowKey: event.kind === 'custom' ? null : 'setup',
        flowVersion: event.flowVersion,
        stepKey: keyOf(stored.stepRows, event.stepRef),
        itemKey: keyOf(stored.itemRows, event.itemRef),
        runId: event.runId,
        sessionId: event.sessionId,
        name: event.name,
        at: event.occurredAt,
      }
      return Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
      ) as unknown as RefEvent
    })
}

async function answerOf(stored: StoredWorld) {
  const flow = world.stores.catalogue().flow(stored.flowIds.get('setup') as string)!
  const question = questionOf(flow, { from: '2026-11-01', to: '2026-11-30' }, world.clock.now())
  const { totals, timeToComplete, steps, checklist, daily, versions } = await analyticsService(
    world,
  ).answer(question, new AbortController().signal)
  return {
    totals,
    timeToComplete,
    steps: steps.map(({ stepId, title, health, ...step }) => step),
    checklist: checklist && {
      items: checklist.items.map(({ key, completions }) => ({ key, completions })),
      completedAll: checklist.completedAll,
    },
    daily,
    versions,
  }
}

const hasRunsThatBeginTogether = (orgRow: number) =>
  world.database
    .query(
      `select 1 from runs where org_id = ? group by flow_id, person, started_at having count(*) > 1`,
    )
    .get(orgRow) !== null

const met = { sharedRun: 0, completed: 0, takenBack: 0, passedAgain: 0, erased: 0 }

test('what is answered of checklists is what the ledger says, also when somebody is erased', async () => {
  await fc.assert(
    fc.asyncProperty(caseArbitrary, async ({ flow, deeds, erased }) => {
      world.clock.wallMs = begin
      const stored = storeFlows(world, [flow])
      const { orgRow } = stored
      const flowRow = stored.flowRows.get('setup') as number
      const itemRow = (key: string) => stored.itemRows.get(`setup/${key}`)
      const has = (key: string) => itemRow(key) !== undefined
      const pending: Promise<unknown>[] = []
      for (const [i, [deed, pauseMs, isAwaited]] of deeds.entries()) {
        world.clock.advance(pauseMs)
        const now = world.clock.now()
        if (deed.type === 'seal') {
          await Promise.all(pending)
          await world.sealAll()
          continue
        }
        const { userId, anonymousId } = idsOf(deed.person)
        if (deed.type === 'write') {
          const written = deed.items.filter(([key]) => has(key))
          pending.push(
            world.byRow.ledger.tick({
              userId,
              anonymousId,
              ...deed.run,
              orgRef: orgRow,
              flowRef: flowRow,
              items: written.map(([key, completed]) => ({ itemRef: itemRow(key)!, completed })),
              receivedAt: now,
            }),
          )
        } else {
          const { kind, item, run, flowVersion, agoMs } = deed
          if (kind === 'item_completed' && !has(item)) continue
          const event: RefEvent = {
            kind,
            ...(userId === null ? { anonymousId: anonymousId as string } : { userId }),
            ...run,
            at: now - agoMs,
            ...(kind === 'custom' ? { name: 'did_z' } : { flowKey: 'setup', flowVersion }),
            ...(kind === 'item_completed' && { itemKey: item }),
            ...(kind === 'step_viewed' && { stepKey: 'a' }),
          }
          pending.push(
            world.byRow.ledger.append({
              orgRef: orgRow,
              receivedAt: now,
              events: [newEventOf(stored, event, `deed-${i}`)],
              refusals: {},
              skewMs: null,
            }),
          )
        }
        if (isAwaited) await Promise.all(pending)
      }
      await Promise.all(pending)

      const answer = await answerOf(stored)
      const events = eventsIn(stored)
      const query = { flowKey: 'setup', from: '2026-11-01', to: '2026-11-30', timezone: 'UTC' }
      const now = world.clock.now()
      const { isComplete, ...expected } = referenceAnalytics([flow], events, { ...query, now })
      expect(answer).toEqual(expected)
      for (const one of people) {
        const { ticked } = await world.byRow.checklists.progress(orgRow, flowRow, idsOf(one))
        const byKey = items.flatMap(key => {
          const at = ticked.get(itemRow(key) ?? -1)
          return at === undefined ? [] : [[key, at]]
        })
        expect(Object.fromEntries(byKey)).toEqual(progressOf(flow, events, one).ticked)
      }
      met.completed += answer.totals.completions > 0 ? 1 : 0
      met.takenBack += events.some(({ kind }) => kind === 'item_reopened') ? 1 : 0
      met.passedAgain += people.some(one => passesOf(flow, events, one).length > 1) ? 1 : 0
      const inFirst = events.filter(event => event.runId === '1').map(personOfEvent)
      met.sharedRun += new Set(inFirst).size > 1 ? 1 : 0

      // Of two runs that began in one moment the greater key is the later, and erasing changes keys.
      if (erased === null || hasRunsThatBeginTogether(orgRow)) return
      const { public_id: orgId } = world.database
        .query<{ public_id: string }, [number]>('select public_id from organisations where id = ?')
        .get(orgRow)!
      eraseBeside(world, { orgRef: orgRow, orgId, person: erased })
      await world.storage.watch()
      met.erased++
      expect(await answerOf(stored)).toEqual(answer)
    }),
    { numRuns },
  )
}, 240_000)

test('those lives had what they are about', () => {
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(numRuns / 10)
})

test('a rebuild of all these histories changes nothing', () => {
  expect(rebuild(world.database).changed).toBe(0)
}, 120_000)
