import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { acquireLock, type Lock } from '../../src/runtime/lock.ts'
import { CommandLine } from '../support/command-line.ts'

let cairn: CommandLine
let lock: Lock

const holder = {
  pid: process.pid,
  host: 'here',
  startedAt: '2026-11-20T09:30:00.000Z',
  port: 1,
  managementHost: '127.0.0.1',
  managementPort: 2,
  version: '0.0.1',
}

beforeEach(() => {
  cairn = new CommandLine()
  lock = acquireLock(cairn.path('cairn-data'), holder)
})
afterEach(async () => {
  lock.release()
  await cairn.close()
})

test('a command does not change the tables under a server of an older release', async () => {
  lock.release()
  await cairn.run(['org', 'create', 'Harbor'])
  const database = new Database(cairn.path('cairn-data/cairn.db'))
  database.run('delete from migrations where id = (select max(id) from migrations)')
  lock = acquireLock(cairn.path('cairn-data'), holder)
  const { stderr, status } = await cairn.run(['org', 'list'])
  expect(status).toBe(1)
  expect(stderr).toContain('is older (0.0.1) than this command: stop it and start this release')
  database.close()
})
