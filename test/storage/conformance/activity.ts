import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JudgedEvent } from '../../../src/storage/interfaces/events.ts'
import type { OpenStore, Store } from './store.ts'
import { auditOf, Tenant } from './tenant.ts'

const judged = (id: string, more: Partial<JudgedEvent> = {}): JudgedEvent => ({
  receivedAt: 1,
  verdict: 'accepted',
  code: null,
  message: null,
  id,
  kind: 'custom',
  flowId: null,
  flowKey: null,
  stepId: null,
  stepKey: null,
  name: 'x',
  url: null,
  userId: 'ann',
  anonymousId: null,
  ...more,
})

export function activityConforms(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
  })

  const watch = () => store.stores.watch
  const after = (cursor: string | null = null, of = tenant) =>
    store.management.activity.after(of.ref, cursor)
  const ids = (events: readonly JudgedEvent[]) => events.map(({ id }) => id)

  test('is recorded from the first question on, for that organisation alone, and reported once', async () => {
    const other = await Tenant.of(store)
    expect(watch().isWatched(tenant.ref)).toBe(false)
    watch().note(tenant.ref, [judged('before')])
    const first = await after()
    expect(first).toMatchObject({ isAnew: true, missed: 0, events: [] })
    expect(watch().isWatched(tenant.ref)).toBe(true)
    expect(watch().isWatched(other.ref)).toBe(false)
    watch().note(tenant.ref, [judged('a'), judged('b', { verdict: 'duplicate' })])
    const second = await after(first.cursor)
    expect(second).toMatchObject({
      isAnew: false,
      events: [judged('a'), judged('b', { verdict: 'duplicate' })],
    })
    expect((await after(second.cursor)).events).toEqual([])
    expect(ids((await after(null)).events)).toEqual(['a', 'b'])
    expect((await after(null, other)).events).toEqual([])
    expect(await after(first.cursor, other)).toMatchObject({ isAnew: true, events: [] })
  })

  test('is bounded in number and size, and says how many events are missing', async () => {
    const { cursor } = await after()
    const url = 'https://app.example/'.padEnd(300, 'x')
    let noted = 0
    const note = (count: number) =>
      watch().note(
        tenant.ref,
        Array.from({ length: count }, () => judged(`${noted++}`, { url })),
      )
    while (noted < 10_000) note(50)
    // Events that are left out of a flood are reported with the next one that is passed on.
    let told = await after(cursor)
    while (told.events.at(-1)?.id !== `${noted - 1}`) {
      await new Promise(setImmediate)
      note(1)
      told = await after(cursor)
    }
    const { events, missed } = told
    expect(events.length + missed).toBe(noted)
    expect(events.length).toBeGreaterThan(100)
    expect(events.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(events).length).toBeLessThan(260 * 1024)
  })

  test('says nothing about an erased person, before or after, until they are allowed again', async () => {
    const { erase, allow } = store.management.people
    const person = { orgRef: tenant.ref, orgId: tenant.id, person: 'uann' }
    const { cursor } = await after()
    watch().note(tenant.ref, [judged('mine'), judged('other', { userId: 'bob' })])
    await erase(person, { compact: false }, auditOf('person.erase'), () => {})
    const anew = await after(cursor)
    expect(anew).toMatchObject({ isAnew: true, events: [] })
    watch().note(tenant.ref, [judged('mine'), judged('other', { userId: 'bob' })])
    expect(ids((await after(anew.cursor)).events)).toEqual(['other'])
    await allow(person, auditOf('person.allow'))
    watch().note(tenant.ref, [judged('back')])
    expect(ids((await after(anew.cursor)).events)).toEqual(['other', 'back'])
  })
}
