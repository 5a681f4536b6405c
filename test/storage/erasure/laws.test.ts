import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { personOf } from '../../../src/core/event/event.ts'
import { analyticsService, questionOf } from '../../../src/modules/analytics/service.ts'
import type { NewEvent } from '../../../src/storage/in-rows.ts'
import { rebuild } from '../../../src/storage/projections/rebuild.ts'
import { eraseBeside, textsIn } from '../../support/erasing.ts'
import { historyArbitrary, springAnchor } from '../../support/histories.ts'
import { storedEvents } from '../../support/ledger.ts'
import { lawWorld } from '../../support/lives.ts'
import { personalEvents } from '../../support/personal-events.ts'
import { type StoredWorld, storeFlows } from '../../support/stored-history.ts'

const world = lawWorld()
afterAll(() => world.close())

const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 30)

const orgIdOf = (orgRow: number) =>
  world.database
    .query<{ public_id: string }, [number]>('select public_id from organisations where id = ?')
    .get(orgRow)!.public_id

async function answers(stored: StoredWorld) {
  const day = 86_400_000
  const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const asked = { from: dateOf(springAnchor - 30 * day), to: dateOf(springAnchor + 30 * day) }
  const all = []
  for (const id of stored.flowIds.values()) {
    const flow = world.stores.catalogue().flow(id)!
    const question = questionOf(flow, asked, world.clock.now())
    all.push(await analyticsService(world).answer(question, new AbortController().signal))
  }
  return all
}

const caseArbitrary = historyArbitrary({ anchor: springAnchor, minEvents: 5, maxEvents: 60 }).chain(
  history =>
    fc.record({
      history: fc.constant(history),
      who: fc.nat({ max: 99 }),
      sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
      isSealed: fc.boolean(),
      killedAfter: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
)

test('every number is the same when somebody is erased, and nothing of theirs is in any file', async () => {
  await fc.assert(
    fc.asyncProperty(caseArbitrary, async drawn => {
      const { history, who, sizes, isSealed, killedAfter } = drawn
      const stored = storeFlows(world, history.flows)
      const { orgRow } = stored
      const events = personalEvents(stored, history.events)
      for (let at = 0, n = 0; at < events.length; n++) {
        const size = sizes[n % sizes.length]!
        await world.byRow.ledger.append({
          orgRef: orgRow,
          receivedAt: world.clock.now(),
          events: events.slice(at, at + size),
          refusals: {},
          skewMs: null,
        })
        at += size
      }
      if (isSealed) await world.sealAll()
      const before = await answers(stored)
      const ledgerBefore = storedEvents(world.database, orgRow)

      const { userId, anonymousId } = events[who % events.length]!
      const person = personOf(userId, anonymousId)
      const isTheirs = (event: NewEvent) => personOf(event.userId, event.anonymousId) === person
      const of = { orgRef: orgRow, orgId: orgIdOf(orgRow), person }
      if (killedAfter !== null) eraseBeside(world, of, killedAfter)
      eraseBeside(world, of)
      await world.storage.watch()

      expect((await answers(stored)).map(({ generatedAt, ...rest }) => rest)).toEqual(
        before.map(({ generatedAt, ...rest }) => rest),
      )
      const others = ledgerBefore.filter(event => !isTheirs(event))
      const own = ledgerBefore.filter(isTheirs)
      const othersRuns = new Set(others.flatMap(({ runId }) => runId ?? []))
      const gone = [
        person.slice(1),
        ...own.flatMap(event => [
          event.id,
          ...[event.url, event.reason, event.properties].flatMap(text => text ?? []),
          ...(event.runId !== null && !othersRuns.has(event.runId) ? [event.runId] : []),
        ]),
      ]
      expect(textsIn(world.dataDir, gone)).toEqual([])

      // Of the others nothing has changed but the anonymous id of who was erased, beside theirs.
      const isBeside = ({ userId, anonymousId }: NewEvent) =>
        userId !== null && personOf(null, anonymousId) === person
      const after = storedEvents(world.database, orgRow)
      expect(after.length).toBe(ledgerBefore.length)
      for (const [i, event] of ledgerBefore.entries()) {
        if (isTheirs(event)) expect(after[i]).toMatchObject(whatStays(event))
        else if (isBeside(event)) {
          expect(after[i]).toEqual({ ...event, anonymousId: after[i]!.anonymousId })
        } else expect(after[i]).toEqual(event)
      }

      // What they report is not taken any more, and what others report is.
      const again = await world.byRow.ledger.append({
        orgRef: orgRow,
        receivedAt: world.clock.now(),
        events: events.map(event => ({ ...event, id: `${event.id}!` })),
        refusals: {},
        skewMs: null,
      })
      expect(again.erased).toEqual(events.flatMap((event, i) => (isTheirs(event) ? [i] : [])))
      expect(textsIn(world.dataDir, [person.slice(1)])).toEqual([])
    }),
    { numRuns },
  )
}, 120_000)

const whatStays = ({ kind, flowRef, flowVersion, stepRef, itemRef, occurredAt }: NewEvent) => ({
  kind,
  flowRef,
  flowVersion,
  stepRef,
  itemRef,
  occurredAt,
})

test('a rebuild of all these histories changes nothing', () => {
  expect(rebuild(world.database).changed).toBe(0)
}, 120_000)
