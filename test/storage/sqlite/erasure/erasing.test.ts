import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { emptyLog } from '../../../../src/storage/sqlite/database/compact.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { beginRewriting } from '../../../../src/storage/sqlite/database/rewriting.ts'
import {
  allowAgain,
  beginErasure,
  finishErasures,
} from '../../../../src/storage/sqlite/erasure/erasures.ts'
import { noEvent } from '../../../../src/storage/sqlite/ledger/event-batches.ts'
import { eraseBeside, textsIn } from '../../../support/erasing.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../../support/tenant.ts'
import { World } from '../../../support/world.ts'

let world: World
let acme: Tenant
let flow: PublishedFlow

beforeEach(async () => {
  world = new World()
  acme = await Tenant.of(world)
  flow = publishTo(acme)
})
afterEach(() => world.close())

const publishTo = (tenant: Tenant) =>
  tenant.publish({ key: 'tour', steps: [{ key: 'hello', kind: 'modal', title: 'Hello' }] })

const personOf = (tenant: Tenant, person: string) => ({
  orgRef: tenant.row,
  orgId: tenant.organisation.id,
  person,
})

const started = (more: Record<string, unknown>) => ({
  kind: 'flow_started',
  flowId: flow.id,
  ...more,
})

test('the ids of their events are forgotten, and those of others are kept', async () => {
  const event = (userId: string) => started({ userId, id: `of-${userId}`, runId: userId })
  await acme.send([event('ada'), event('bob')])
  await eraseBeside(world, personOf(acme, 'uada'))
  const ids = world.database.query('select id from event_ids').values().flat()
  expect(ids).toEqual(['of-bob'])
})

test('an erased person’s events in a server’s buffer are rejected as well', async () => {
  const { orgRef } = personOf(acme, '')
  const batch = (id: string) =>
    world.byRow.ledger.append({
      orgRef,
      receivedAt: world.clock.now(),
      events: [eventOf(id, 'ada'), eventOf(`${id}+`, 'bob')],
      refusals: {},
      skewMs: null,
    })
  await batch('before')
  const waiting = batch('waiting')
  await eraseBeside(world, personOf(acme, 'uada'))
  expect(await waiting).toEqual({ duplicates: [], deadLetters: [], erased: [0] })
  expect(storedEvents(world.database).filter(({ userId }) => userId === 'ada')).toEqual([])
})

const eventOf = (id: string, userId: string): NewEvent => ({
  ...noEvent,
  ...{ id, kind: 'custom', name: 'x', userId, occurredAt: 1_000 },
})

test('a person who is allowed again is accepted, and stays so when an older database is restored', async () => {
  await acme.send([started({ userId: 'ada' })])
  const ada = personOf(acme, 'uada')
  await eraseBeside(world, ada)
  const own = openForWriting(world.dataDir)
  const older = own.query('select * from erasures').get() as Record<string, string | number>
  expect(allowAgain(own, world.dataDir, ada, world.clock.now() - 5_000)).toBe(true)
  expect(allowAgain(own, world.dataDir, ada, world.clock.now())).toBe(false)
  expect((await acme.send([started({ userId: 'ada' })])).status).toBe(202)
  own.run(
    `insert into erasures (org_id, key, person, asked_at, secret)
    values (?, ?, ?, ?, 'a secret')`,
    [older.org_id!, older.key!, older.person!, older.asked_at!],
  )
  expect(finishErasures(own, world.dataDir, world.clock.now()).unfinished).toBe(null)
  expect(own.query('select * from erasures').all()).toEqual([])
  await eraseBeside(world, ada)
  own.close()
  await acme.send([started({ userId: 'ada' })])
  expect(storedEvents(world.database).map(({ userId }) => userId)).not.toContain('ada')
})

test('what the database could not take is not on the list either, and takes no effect later', async () => {
  await acme.send([started({ userId: 'ada' })])
  const [ada, ben] = [personOf(acme, 'uada'), personOf(acme, 'uben')]
  await eraseBeside(world, ada)
  const own = openForWriting(world.dataDir)
  const listed = () => readFileSync(join(world.dataDir, 'erasures.jsonl'), 'utf8')
  const before = listed()
  own.run(
    "create temp trigger full before update on server_state begin select raise(abort, 'database or disk is full'); end",
  )
  expect(() => allowAgain(own, world.dataDir, ada, world.clock.now())).toThrow('disk is full')
  expect(() => beginErasure(own, world.dataDir, ben, world.clock.now())).toThrow('disk is full')
  expect(listed()).toBe(before)
  own.run('drop trigger full')
  expect(finishErasures(own, world.dataDir, world.clock.now()).people).toBe(0)
  const rows = own.query('select person from erasures').all()
  expect(rows).toHaveLength(1)
  expect(allowAgain(own, world.dataDir, ada, world.clock.now())).toBe(true)
  own.close()
})

test('a server that starts while a command erases or rebuilds leaves the rest to the next start', async () => {
  await acme.send([started({ userId: 'ada-lovelace' })])
  await eraseBeside(world, personOf(acme, 'uada-lovelace'), 1)
  const release = beginRewriting(world.dataDir)
  const { unfinished } = finishErasures(world.database, world.dataDir, 5)
  expect(unfinished).toContain('A person is being erased')
  release()
  expect(finishErasures(world.database, world.dataDir, 6).unfinished).toBeNull()
  expect(textsIn(world.dataDir, ['ada-lovelace'])).toEqual([])
})

test('a lost list of erasures is written again from the database', async () => {
  const ada = personOf(acme, 'uada')
  await eraseBeside(world, ada)
  const file = `${world.dataDir}/erasures.jsonl`
  const before = await Bun.file(file).text()
  await Bun.file(file).delete()
  const own = openForWriting(world.dataDir)
  finishErasures(own, world.dataDir, world.clock.now())
  own.close()
  expect(await Bun.file(file).text()).toBe(before)
})

test('a reader of an older snapshot keeps the log from being emptied, but only while it reads', async () => {
  await acme.send([started({ userId: 'ada' })])
  const own = openForWriting(world.dataDir)
  world.snapshots.run('begin')
  world.snapshots.query('select count(*) from runs').get()
  await acme.send([started({ userId: 'ada' })])
  expect(emptyLog(own)).toBe(false)
  expect((await acme.send([started({ userId: 'ada' })])).status).toBe(202)
  world.snapshots.run('commit')
  expect(emptyLog(own)).toBe(true)
  own.close()
})
