import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { acquireLock, type Lock } from '../../src/server/lock.ts'
import { Cairn } from './cairn.ts'

let cairn: Cairn
let lock: Lock

const holder = {
  pid: process.pid,
  host: 'here',
  startedAt: '2026-11-20T09:30:00.000Z',
  port: 1,
  managementHost: '127.0.0.1',
  managementPort: 2,
  version: 'dev',
}

beforeEach(() => {
  cairn = new Cairn()
  lock = acquireLock(cairn.path('cairn-data'), holder)
})
afterEach(async () => {
  lock.release()
  await cairn.close()
})

test('a server that does not take a change up is waited for 5 s, and then the status is 1', async () => {
  const startedAt = performance.now()
  const { stdout, stderr, status } = await cairn.run(['org', 'create', 'Harbor', '--json'])
  expect(performance.now() - startedAt).toBeGreaterThan(5_000)
  expect(status).toBe(1)
  expect(JSON.parse(stdout).slug).toBe('harbor')
  expect(stderr).toStartWith('cairn: warning: the change is stored, but the running server')
}, 15_000)

test('a server that ends meanwhile is not waited for', async () => {
  const startedAt = performance.now()
  const finished = cairn.run(['org', 'create', 'Harbor', '--json'])
  await Bun.sleep(500)
  lock.release()
  const { stderr, status } = await finished
  expect([status, stderr]).toEqual([0, ''])
  expect(performance.now() - startedAt).toBeLessThan(4_000)
})

test('a server of an older release is not pulled the tables from under', async () => {
  lock.release()
  await cairn.run(['org', 'create', 'Harbor'])
  const database = new Database(cairn.path('cairn-data/cairn.db'))
  database.run('delete from migrations where id = (select max(id) from migrations)')
  lock = acquireLock(cairn.path('cairn-data'), holder)
  const { stderr, status } = await cairn.run(['org', 'list'])
  expect(status).toBe(1)
  expect(stderr).toContain('is older (dev) than this command: stop it and start this release')
  database.close()
})
