import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checklistHistory, type Tick } from '../../src/core/run/checklist.ts'
import { rebuild } from '../../src/storage/projections/rebuild.ts'
import { storedEvents } from '../support/ledger.ts'
import { newEventOf, storeFlows } from '../support/stored-history.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

const flow = {
  key: 'setup',
  versions: [
    {
      version: 1,
      publishedAt: 0,
      steps: [{ key: 'a' }],
      items: [
        { key: 'one', completeOn: 'did_one' },
        { key: 'two', completeOn: null },
      ],
    },
  ],
}

/** What a person does: writes through a page now, or events that arrive now but occurred earlier. */
const deedArbitrary = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    item: fc.constantFrom('one', 'two'),
    completed: fc.boolean(),
    // Requests reach the writer in another order than they were received in.
    receivedAgoMs: fc.integer({ min: 0, max: 8 }),
  }),
  fc.record({
    // Other events may name an item too: they tick nothing.
    type: fc.constantFrom('tick' as const, 'custom' as const, 'seen' as const),
    item: fc.constantFrom('one', 'two'),
    agoMs: fc.integer({ min: 0, max: 40 }),
  }),
)

test('ticks that are kept say the same as all that ever happened, and a rebuild agrees', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(deedArbitrary, fc.integer({ min: 0, max: 10 }), fc.boolean()), {
        maxLength: 25,
      }),
      async deeds => {
        const stored = storeFlows(world, [flow])
        const { orgRow } = stored
        const flowRow = stored.flowRows.get('setup') as number
        const rowOf = (item: string) => stored.itemRows.get(`setup/${item}`) as number
        const person = { userId: 'u', anonymousId: null }
        const pending: Promise<unknown>[] = []
        for (const [i, [deed, pauseMs, isAwaited]] of deeds.entries()) {
          world.clock.advance(pauseMs)
          const now = world.clock.now()
          if (deed.type === 'write') {
            const items = [{ itemRef: rowOf(deed.item), completed: deed.completed }]
            const receivedAt = now - deed.receivedAgoMs
            pending.push(
              world.byRow.ledger.tick({
                ...person,
                orgRef: orgRow,
                flowRef: flowRow,
                items,
                receivedAt,
              }),
            )
            if (isAwaited) await Promise.all(pending)
            continue
          }
          const at = now - deed.agoMs
          const event =
            deed.type === 'seen'
              ? ({
                  kind: 'checklist_opened',
                  flowKey: 'setup',
                  itemKey: deed.item,
                  userId: 'u',
                  at,
                } as const)
              : deed.type === 'custom'
                ? ({ kind: 'custom', name: 'did_one', userId: 'u', at } as const)
                : ({
                    kind: 'item_completed',
                    flowKey: 'setup',
                    itemKey: deed.item,
                    userId: 'u',
                    at,
                  } as const)
          const append = world.byRow.ledger.append({
            orgRef: orgRow,
            receivedAt: now,
            events: [newEventOf(stored, event, `deed-${i}`)],
            refusals: {},
            skewMs: null,
          })
          pending.push(append)
          // Not awaited, several share a commit.
          if (isAwaited) await Promise.all(pending)
        }
        await Promise.all(pending)
        const ledger = storedEvents(world.database, orgRow)
          .filter(({ kind }) => kind === 'item_completed' || kind === 'item_reopened')
          .map(
            ({ kind, itemRef, occurredAt }): Tick => ({
              person: 'uu',
              runKey: '',
              itemId: itemRef as number,
              at: occurredAt,
              ticked: kind === 'item_completed',
            }),
          )
        const { ticked, completedAt } = await world.byRow.checklists.progress(
          orgRow,
          flowRow,
          person,
        )
        const sorted = (states: ReadonlyMap<number, number>) =>
          [...states].sort(([a], [b]) => a - b)
        const items = [rowOf('one'), rowOf('two')]
        const { states, passes } = checklistHistory(ledger, () => items)
        expect(sorted(ticked)).toEqual(sorted(states))
        expect(completedAt).toBe(passes[0]?.at ?? null)
      },
    ),
    { numRuns: 150 },
  )
  expect(rebuild(world.database).changed).toBe(0)
}, 60_000)

test('a custom event after a taking back ticks again, in one commit with it too', async () => {
  const stored = storeFlows(world, [flow])
  const { orgRow } = stored
  const flowRow = stored.flowRows.get('setup') as number
  const itemRow = stored.itemRows.get('setup/one') as number
  const person = { userId: 'u', anonymousId: null }
  const write = (completed: boolean) =>
    world.byRow.ledger.tick({
      ...person,
      orgRef: orgRow,
      flowRef: flowRow,
      items: [{ itemRef: itemRow, completed }],
      receivedAt: world.clock.now(),
    })
  await write(true)
  world.clock.advance(1_000)
  const takenBack = write(false)
  world.clock.advance(5)
  const at = world.clock.now()
  const custom = { kind: 'custom', name: 'did_one', userId: 'u', at } as const
  const again = world.byRow.ledger.append({
    orgRef: orgRow,
    receivedAt: at,
    events: [newEventOf(stored, custom, 'again')],
    refusals: {},
    skewMs: null,
  })
  await Promise.all([takenBack, again])
  const { ticked } = await world.byRow.checklists.progress(orgRow, flowRow, person)
  expect([...ticked]).toEqual([[itemRow, at]])
})
