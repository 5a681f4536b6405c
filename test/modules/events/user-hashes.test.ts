import { afterAll, beforeEach, expect, test } from 'bun:test'
import { noUserHashes, userHashOf } from '../../../src/core/organisation/verified-identity.ts'
import { identityOf, rotateIdentitySecret, setIdentityMode } from '../../support/organisations.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Verified identity from a call to its count; test/contract has what callers see of it. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
})

function verify(mode: 'off' | 'observe' | 'enforce'): string {
  setIdentityMode(world.database, tenant.row, mode, world.clock.now())
  world.takeUp()
  return identityOf(world.database, tenant.row, world.clock.now()).secrets[0]?.secret ?? ''
}

const event = (userId: string, userHash?: string | null) => ({
  kind: 'custom',
  name: 'clicked',
  userId,
  ...(userHash !== undefined && { userHash }),
})

const counted = async () => {
  await world.storage.housekeeping.writePresence()
  const { userHashes } = await world.stores.presence.read(tenant.ref, world.clock.now())
  return userHashes
}

const cause = () => world.answers.at(-1)?.cause

test('nothing is counted while verification is off', async () => {
  expect((await tenant.send([event('ann', 'wrong'), event('bob')])).status).toBe(202)
  expect(await counted()).toEqual(noUserHashes)
})

test('observing counts every event that names a user, and refuses none', async () => {
  const secret = verify('observe')
  const { body } = await tenant.send([
    event('ann', userHashOf(secret, 'ann')),
    event('ann', userHashOf(secret, 'ann')),
    event('bob', userHashOf(secret, 'ann')),
    event('bob'),
    { kind: 'custom', name: 'clicked', anonymousId: 'somebody' },
  ])
  expect(body).toMatchObject({ accepted: 5, rejected: 0 })
  expect(await counted()).toEqual({ valid: 2, outdated: 0, invalid: 1, missing: 1 })
})

test('a right hash proves no other user of its batch, however hash and id are spelled', async () => {
  const secret = verify('enforce')
  const { body } = await tenant.send([
    event('mallory bob', userHashOf(secret, 'mallory bob')),
    event('bob', `${userHashOf(secret, 'mallory bob')} mallory`),
    event('bob', 'null'),
    event('null bob'),
  ])
  expect(body).toMatchObject({ accepted: 1, rejected: 3 })
  expect(await counted()).toEqual({ valid: 1, outdated: 0, invalid: 2, missing: 1 })
})

test('a rotation applies at once; the old secret is counted separately until it ends', async () => {
  const secret = verify('enforce')
  const sendOld = () => tenant.send([event('ann', userHashOf(secret, 'ann'))])
  const { now } = world.clock
  rotateIdentitySecret(world.database, tenant.row, { now: now(), graceMs: 60_000 })
  world.takeUp()
  expect((await sendOld()).status).toBe(202)
  expect(await counted()).toEqual({ valid: 0, outdated: 1, invalid: 0, missing: 0 })
  world.clock.advance(60_000)
  expect((await sendOld()).status).toBe(401)
  expect(cause()).toBe('wrong_user_hash')
})

test('the log is told why a call was refused, the caller is not', async () => {
  verify('enforce')
  const { status, body } = await tenant.send([event('ann'), event('bob')])
  expect([status, body, cause()]).toEqual([401, { error: 'Unauthorized' }, 'missing_user_hash'])
  await tenant.send([event('ann'), event('bob', 'wrong')])
  expect(cause()).toBe('wrong_user_hash')
  const { flowId } = { flowId: tenant.publish({ key: 'tour', steps: [step] }).id }
  const complete = (body: object) => tenant.answer(`POST /flows/${flowId}/complete`, { body })
  expect((await complete({ userId: 'ann' })).status).toBe(401)
  expect(cause()).toBe('missing_user_hash')
  expect((await complete({ userId: 'ann', userHash: 'wrong' })).status).toBe(401)
  expect(cause()).toBe('wrong_user_hash')
  expect(await counted()).toEqual({ valid: 0, outdated: 0, invalid: 2, missing: 4 })
})

const step = { key: 'hello', title: 'Hello', kind: 'modal' }

test('a batch with only foreign events is logged as such, whoever is named', async () => {
  verify('observe')
  const other = (await Tenant.of(world)).publish({ key: 'tour', steps: [step] })
  const started = { kind: 'flow_started', userId: 'ann', flowId: other.id }
  expect((await tenant.send([started])).status).toBe(401)
  expect(cause()).toBe('foreign_events')
})

test('counts of a month ago are deleted', async () => {
  verify('observe')
  await tenant.send([event('ann')])
  await counted()
  const rows = () =>
    world.database.query('select 1 from identity_counts where org_id = ?').all(tenant.row).length
  expect(rows()).toBe(1)
  world.clock.advance((30 * 24 + 2) * 3_600_000)
  await world.retainAll()
  expect(rows()).toBe(0)
})

test('a request for a user’s history is judged and counted like any call naming them', async () => {
  const secret = verify('enforce')
  const ask = async (query: string) => (await tenant.answer(`GET /flows${query}`)).status
  expect(await ask(`?userId=ann&userHash=${userHashOf(secret, 'ann')}`)).toBe(200)
  expect(await ask('?userId=ann&userHash=wrong')).toBe(401)
  expect(cause()).toBe('wrong_user_hash')
  expect(await ask('?userId=ann')).toBe(401)
  expect(await ask('?anonymousId=ann')).toBe(200)
  expect(await ask('')).toBe(200)
  expect(await counted()).toEqual({ valid: 1, outdated: 0, invalid: 1, missing: 1 })
})
