import { afterEach, beforeEach, expect, test } from 'bun:test'
import { acquireLock, type Lock } from '../../src/server/lock.ts'
import { Cairn } from './cairn.ts'

let cairn: Cairn
let lock: Lock

beforeEach(() => {
  cairn = new Cairn()
  lock = acquireLock(cairn.path('cairn-data'), {
    pid: process.pid,
    host: 'here',
    startedAt: new Date().toISOString(),
    port: 1,
    managementHost: '127.0.0.1',
    managementPort: 2,
    version: 'dev',
  })
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
