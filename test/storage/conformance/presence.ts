import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { noUserHashes } from '../../../src/core/organisation/verified-identity.ts'
import type { OpenStore, Store } from './store.ts'
import { Tenant } from './tenant.ts'

const minute = 60_000
const hour = 60 * minute

export function presenceConforms(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    store = await open()
    // On the hour, so that counts fall into the hours that the tests expect.
    store.clock.advance(hour - (store.clock.now() % hour))
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    other = await Tenant.of(store)
  })

  const read = (of = tenant) => store.stores.presence.read(of.ref, store.clock.now())
  const written = () => store.management.seen.write()

  test('every field is empty for an organisation that was never seen', async () => {
    const { seen, ...rest } = await read()
    expect(Object.values(seen)).toEqual([null, null, null, null, null])
    expect(rest).toEqual({
      ...{ snippetVersion: null, skews: [], rejections: {}, erased: 0, rejectedOrigins: 0 },
      ...{ limitedMinutes: {}, userHashes: noUserHashes },
    })
  })

  test('marks give their first and last time, at once and after a restart', async () => {
    const { presence } = store.stores
    const now = store.clock.now() - 10_000
    presence.mark(tenant.ref, 'heartbeat', now)
    presence.mark(tenant.ref, 'heartbeat', now + 5_000)
    presence.mark(tenant.ref, 'old_key_used', now + 7_000)
    const marks = {
      ...{ key_used: null, flows_fetched: null, events_flowing: null },
      heartbeat: { firstAt: now, lastAt: now + 5_000 },
      old_key_used: { firstAt: now + 7_000, lastAt: now + 7_000 },
    }
    expect((await read()).seen).toEqual(marks)
    await written()
    expect((await read()).seen).toEqual(marks)
    expect((await read(other)).seen.heartbeat).toBeNull()
    await store.reopen()
    expect((await read()).seen).toEqual(marks)
    store.stores.presence.mark(tenant.ref, 'heartbeat', now + 9_000)
    expect((await read()).seen.heartbeat).toEqual({ firstAt: now, lastAt: now + 9_000 })
  })

  test('nobody appears as seen later than now, even if the clock was changed back since', async () => {
    const now = store.clock.now()
    store.stores.presence.mark(tenant.ref, 'heartbeat', now + 5_000)
    const seen = { firstAt: now, lastAt: now }
    expect((await read()).seen.heartbeat).toEqual(seen)
    await written()
    expect((await read()).seen.heartbeat).toEqual(seen)
  })

  test('the latest version of the snippet is reported', async () => {
    const { presence } = store.stores
    for (const version of ['1.0.0', '1.1.0', '1.1.0']) {
      await presence.recordSnippetVersion(tenant.ref, version, store.clock.now())
    }
    expect((await read()).snippetVersion).toBe('1.1.0')
    expect((await read(other)).snippetVersion).toBeNull()
  })

  test('the latest clock skews and rejections are stored with a batch, even one of nothing else', async () => {
    store.alone?.()
    for (let i = 0; i < 110; i++) await tenant.append([], { skewMs: i })
    await tenant.append([], { refusals: { invalid: 2, too_old: 1 } })
    await tenant.append([], { refusals: { invalid: 1 } })
    await written()
    const { skews, rejections } = await read()
    expect(skews).toEqual(Array.from({ length: 101 }, (_, i) => i + 9))
    expect(rejections).toEqual({ invalid: 3, too_old: 1 })
    expect((await read(other)).rejections).toEqual({})
  })

  test('rejections count for 24 hours: origins each time, limits once per minute and bucket', async () => {
    const { presence } = store.stores
    const start = store.clock.now()
    for (const at of [start, start + 1]) await presence.recordRejectedOrigin(tenant.ref, at)
    for (const at of [start, start + minute - 1, start + minute]) {
      await presence.recordLimited(tenant.ref, 'events', at)
      await presence.recordLimited(tenant.ref, 'flows', start)
    }
    await tenant.append([], { refusals: { invalid: 2 } })
    const refused = {
      ...{ rejectedOrigins: 2, limitedMinutes: { events: 2, flows: 1 } },
      rejections: { invalid: 2 },
    }
    expect(await read()).toMatchObject(refused)
    store.clock.advance(23 * hour)
    expect(await read()).toMatchObject(refused)
    store.clock.advance(2 * hour)
    expect(await read()).toMatchObject({ rejectedOrigins: 0, limitedMinutes: {}, rejections: {} })
    expect(await read(other)).toMatchObject({ rejectedOrigins: 0, limitedMinutes: {} })
  })

  test('rejections say since which hour they have gone on without a gap of a day', async () => {
    const { presence } = store.stores
    const since = (of = tenant) => presence.since(of.ref, store.clock.now())
    const hourOf = (at: number) => Math.floor(at / hour) * hour
    const none = { rejections: {}, rejectedOrigins: null, limited: {}, wrongHashes: null }
    expect(await since()).toEqual(none)
    const refuse = async () => {
      await presence.recordRejectedOrigin(tenant.ref, store.clock.now())
      await presence.recordLimited(tenant.ref, 'events', store.clock.now())
      presence.countUserHashes(tenant.ref, { valid: 1, missing: 1 })
      await tenant.append([], { refusals: { invalid: 1 } })
      await written()
    }
    await refuse()
    store.clock.advance(26 * hour)
    const begins = hourOf(store.clock.now())
    for (let i = 0; i < 3; i++) {
      await refuse()
      store.clock.advance(20 * hour)
    }
    expect(await since()).toEqual({
      ...{ rejections: { invalid: begins }, rejectedOrigins: begins },
      ...{ limited: { events: begins }, wrongHashes: begins },
    })
    expect(await since(other)).toEqual(none)
    // A valid hash is not a fault.
    presence.countUserHashes(other.ref, { valid: 1 })
    await written()
    expect((await since(other)).wrongHashes).toBeNull()
  })

  test('user hashes are counted once, however many writes are asked for at the same moment', async () => {
    const { presence } = store.stores
    for (let i = 1; i <= 5; i++) {
      presence.countUserHashes(tenant.ref, { missing: 3 })
      await Promise.all([written(), written(), written()])
      expect((await read()).userHashes).toMatchObject({ missing: 3 * i })
    }
  })

  test('checked user hashes are counted once each, by the hour, for 24 hours', async () => {
    const { presence } = store.stores
    presence.countUserHashes(tenant.ref, { valid: 3, missing: 1 })
    presence.countUserHashes(other.ref, { invalid: 5 })
    await written()
    await written()
    store.clock.advance(hour)
    presence.countUserHashes(tenant.ref, { valid: 1, outdated: 2 })
    const hours = () => store.management.organisations.identityHours(tenant.ref, store.clock.now())
    const start = store.clock.now() - hour
    const told = [
      { ...noUserHashes, at: start, valid: 3, missing: 1 },
      { ...noUserHashes, at: start + hour, valid: 1, outdated: 2 },
    ]
    expect(await hours()).toEqual(told)
    expect((await read()).userHashes).toEqual({ valid: 4, outdated: 2, invalid: 0, missing: 1 })
    await store.reopen()
    expect(await hours()).toEqual(told)
    store.clock.advance(23 * hour)
    expect(await hours()).toEqual(told.slice(1))
    expect((await read()).userHashes).toMatchObject({ valid: 1, outdated: 2 })
  })

  describe('heartbeats', () =>
    test('are spaced apart, each after those reserved before it, separately per organisation', () => {
      const bounds = {
        ...{ soonestMs: 1_000, apartMs: 500, apartInCrowdMs: 100, latestMs: 60_000 },
        ...{ moments: 1 as const, remaining: 1_000, resetInMs: 60_000 },
      }
      const now = store.clock.monotonic()
      const reserve = (of: Tenant) => store.stores.presence.reserveBeat(of.ref, now, bounds)
      const waits = Array.from({ length: 5 }, () => reserve(tenant))
      expect(waits[0]).toBeGreaterThanOrEqual(bounds.soonestMs)
      for (const [i, wait] of waits.slice(1).entries()) {
        expect(wait - waits[i]!).toBeGreaterThanOrEqual(bounds.apartInCrowdMs)
      }
      expect(reserve(other)).toBe(waits[0]!)
    }))
}
