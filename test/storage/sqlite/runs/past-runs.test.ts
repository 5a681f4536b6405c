import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { personOf } from '../../../../src/core/event/event.ts'
import { historyOf, type PastRun } from '../../../../src/core/run/past-run.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import { historyArbitrary, springAnchor } from '../../../support/histories.ts'
import { lawWorld } from '../../../support/lives.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'

const world = lawWorld()
afterAll(() => world.close())

const flowRows = (stored: StoredWorld) => [...stored.flowRows.values()]

/** The person's histories by flow id, for flows in which they have runs. */
async function told(stored: StoredWorld, userId: string | null, anonymousId: string | null) {
  const person = { userId, anonymousId }
  const found = await world.byRow.people.histories(stored.orgRow, flowRows(stored), person)
  const ids = new Map([...stored.flowRows].map(([key, row]) => [row, stored.flowIds.get(key)!]))
  return Object.fromEntries([...found].map(([row, history]) => [ids.get(row)!, history]))
}

/** The same by looking at all runs. */
function lookedThrough(stored: StoredWorld, userId: string | null, anonymousId: string | null) {
  const runs = world.database
    .query<PastRun & { flow: string }, [number, string]>(
      `select f.public_id as flow, r.run_key as key, r.started_at as startedAt,
        r.completed_at as completedAt, r.dismissed_at as dismissedAt
      from runs r join flows f on f.id = r.flow_id where r.org_id = ? and r.person = ?`,
    )
    .all(stored.orgRow, personOf(userId, anonymousId))
  const byFlow = Map.groupBy(runs, ({ flow }) => flow)
  return Object.fromEntries([...byFlow].map(([flow, ofFlow]) => [flow, historyOf(ofFlow)]))
}

/** What follows a batch. A rebuild is rare, because it replays all that the world has seen. */
const afterwardsArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.constant('nothing') },
  { weight: 1, arbitrary: fc.constant('rebuild') },
)

test('what a person has done agrees with all their runs, rebuilt or not', async () => {
  const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 20)
  await fc.assert(
    fc.asyncProperty(
      historyArbitrary({ anchor: springAnchor }),
      fc.array(afterwardsArbitrary, { minLength: 1, maxLength: 6 }),
      async (history, afterwards) => {
        const stored = storeFlows(world, history.flows)
        const size = Math.ceil(history.events.length / afterwards.length)
        for (const [n, next] of afterwards.entries()) {
          const events = history.events.slice(n * size, (n + 1) * size)
          if (events.length > 0) {
            await world.byRow.ledger.append({
              orgRef: stored.orgRow,
              receivedAt: world.clock.now(),
              events: events.map((event, i) => newEventOf(stored, event, `event-${n}-${i}`)),
              refusals: {},
              skewMs: null,
            })
          }
          if (next === 'rebuild') rebuild(world.database)
        }
        const people = new Map(
          history.events.map(({ userId = null, anonymousId = null }) => [
            personOf(userId, anonymousId),
            [userId, anonymousId] as const,
          ]),
        )
        for (const person of people.values()) {
          expect(await told(stored, ...person)).toEqual(lookedThrough(stored, ...person))
        }
      },
    ),
    { numRuns },
  )
}, 300_000)

const flow = (key: string) => ({
  key,
  versions: [{ version: 1, publishedAt: 0, steps: [{ key: 'a' }], items: [] }],
})

const start = (flowKey: string, userId: string, runId: string, at: number) =>
  ({ kind: 'flow_started', flowKey, userId, runId, at }) as const

test('if a person has very many runs, those that began last count', async () => {
  const stored = storeFlows(world, [flow('first'), flow('second')])
  const send = (runs: [flowKey: string, runId: string, at: number][]) =>
    world.byRow.ledger.append({
      orgRef: stored.orgRow,
      receivedAt: world.clock.now(),
      events: runs.map(([flowKey, runId, at]) =>
        newEventOf(stored, start(flowKey, 'eve', runId, at), `${flowKey}-${runId}`),
      ),
      refusals: {},
      skewMs: null,
    })
  await send([['second', 'other', 7]])
  await send(Array.from({ length: 1_500 }, (_, i) => ['first', `${i}`, i + 1]))
  const expected = {
    [stored.flowIds.get('first')!]: expect.objectContaining({ runs: 1_000, openRunId: '1499' }),
    [stored.flowIds.get('second')!]: expect.objectContaining({ runs: 1, openRunId: 'other' }),
  }
  expect(await told(stored, 'eve', null)).toEqual(expected)
})

test('runs of other people, other organisations and other flows do not count', async () => {
  const [ours, theirs] = [storeFlows(world, [flow('first')]), storeFlows(world, [flow('first')])]
  for (const stored of [ours, theirs]) {
    await world.byRow.ledger.append({
      orgRef: stored.orgRow,
      receivedAt: world.clock.now(),
      events: [newEventOf(stored, start('first', 'ann', `of ${stored.orgRow}`, 5), 'event')],
      refusals: {},
      skewMs: null,
    })
  }
  const id = ours.flowIds.get('first')!
  const own = expect.objectContaining({ runs: 1, openRunId: `of ${ours.orgRow}` })
  expect(await told(ours, 'ann', null)).toEqual({ [id]: own })
  expect(await told(ours, null, 'ann')).toEqual({})
  expect(await told(ours, 'an', null)).toEqual({})
  const mixed = { ...ours, orgRow: theirs.orgRow }
  expect(await told(mixed, 'ann', null)).toEqual({})
})
