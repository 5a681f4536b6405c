import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DiskWatch } from '../../src/runtime/disk-watch.ts'

let dataDir: string
let database: string
let watch: DiskWatch

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'cairn-disk-'))
  database = join(dataDir, 'cairn.db')
  writeFileSync(database, 'x'.repeat(100))
  writeFileSync(`${database}-wal`, 'x'.repeat(10))
  watch = new DiskWatch(dataDir, () => performance.now())
  await watch.look()
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test('sees sizes and room', () => {
  expect(watch.seen).toMatchObject({ databaseBytes: 100, walBytes: 10, fault: null })
  expect(watch.seen?.freeBytes).toBeGreaterThan(0)
  expect(watch.seen?.totalBytes).toBeGreaterThan(watch.seen?.freeBytes as number)
  expect(watch.waitingMs).toBe(0)
})

test('sees that the database is gone, and that it is back', async () => {
  renameSync(database, `${database}.away`)
  await watch.look()
  expect(watch.seen?.fault).toBe('gone')
  renameSync(`${database}.away`, database)
  await watch.look()
  expect(watch.seen?.fault).toBe(null)
})

test('sees that another file has taken its place', async () => {
  renameSync(database, `${database}.away`)
  writeFileSync(database, '')
  await watch.look()
  expect(watch.seen?.fault).toBe('replaced')
})

test('a look is not repeated while one is under way, and its waiting time is known', async () => {
  let now = 1_000
  const slow = new DiskWatch(dataDir, () => now)
  const looking = slow.look()
  now += 6_000
  await slow.look()
  expect(slow.seen).toBe(null)
  expect(slow.waitingMs).toBe(6_000)
  await looking
  expect(slow.waitingMs).toBe(0)
})
