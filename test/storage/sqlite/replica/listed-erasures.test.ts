import { afterAll, beforeAll, expect } from 'bun:test'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOfPerson } from '../../../../src/storage/sqlite/erasure/person-matcher.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { PostgresServer, test } from '../../../support/postgres.ts'
import type { Store } from '../../conformance/store.ts'
import { Tenant } from '../../conformance/tenant.ts'

/** The list of erasures in each node's directory, beside the log that all follow. */

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open()
})
afterAll(() => server?.close())

const listOf = (dataDir: string) => readFileSync(join(dataDir, 'erasures.jsonl'), 'utf8')

async function two() {
  const url = await server.newDatabase()
  const clock = new HandClock()
  const nodes = [await NodeWorld.open(url, clock), await NodeWorld.open(url, clock)] as const
  const [one, other] = nodes
  const tenant = await Tenant.of(one.world as unknown as Store)
  const send = (userId: string) =>
    tenant.append([
      tenant.event(`${userId}-${clock.advance(1)}`, { kind: 'custom', userId, name: 'a' }),
    ])
  const erased = (node: typeof one) =>
    node.world.database.query('select count(*) as people from erasures').get() as { people: number }
  const userIds = async () => (await tenant.events()).map(({ userId }) => userId)
  return { url, clock, one, other, tenant, send, erased, userIds }
}

test('whoever is allowed again is not erased again by a node whose list is older', async () => {
  const { clock, one, other, tenant, send, erased } = await two()
  await send('ann')
  await tenant.erase('uann')
  clock.advance(1_000)
  await tenant.allow('uann')
  clock.advance(1_000)
  await send('ann')
  await tenant.erase('ubob')
  for (const node of [one, other]) {
    await node.world.storage.follow()
    expect(erased(node)).toEqual({ people: 1 })
    expect(listOf(node.world.dataDir)).toContain('"allow"')
  }
  await Promise.all([one.close(), other.close()])
})

test('whoever is on the list of a node, but not in a restored database, is erased again everywhere', async () => {
  const { url, clock, one, other, tenant, send, userIds } = await two()
  await send('ann')
  // The list of a node that has followed the log until the moment at which the database was lost.
  await tenant.erase('uzoe')
  await one.world.storage.follow()
  const line = JSON.parse(listOf(one.world.dataDir).trim().split('\n')[0]!)
  const person = hashOfPerson(line.key, tenant.id, 'uann')
  appendFileSync(
    join(other.world.dataDir, 'erasures.jsonl'),
    `${JSON.stringify({ ...line, person })}\n`,
  )
  await other.stop()
  const again = await NodeWorld.open(url, clock, { dataDir: other.world.dataDir })
  await again.world.storage.careForLog()
  await one.world.storage.follow()
  expect(await userIds()).not.toContain('ann')
  await Promise.all([one, again].map(node => node.close()))
})
