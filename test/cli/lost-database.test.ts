import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Workplace } from '../support/binary.ts'

let cairn: Workplace
beforeEach(async () => {
  cairn = new Workplace()
  await cairn.json(['org', 'create', 'Acme'])
})
afterEach(() => cairn.close())

const inData = (name: string) => cairn.path(`cairn-data/${name}`)
const ephemeral = ['--port', '0', '--management-port', '0']

test.each([
  ...['cairn.db-wal', 'erasures.jsonl', 'last-backup.json'],
  'cairn.db.before-2026-11-21T15-54-09.748Z',
])('no new database is made beside the %s of a missing or empty one', async left => {
  renameSync(inData('cairn.db'), cairn.path('moved.db'))
  for (const suffix of ['-wal', '-shm']) rmSync(inData(`cairn.db${suffix}`), { force: true })
  writeFileSync(inData(left), 'left')
  const commands = [
    ['serve', ...ephemeral],
    ['org', 'create', 'Beta'],
    ['org', 'list'],
  ]
  for (const command of commands) {
    const { status, stdout, stderr } = await cairn.run(command)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain('cairn.db is gone from')
    expect(stderr).toContain('cairn restore FILE')
  }
  const { status, stdout } = await cairn.run(['doctor', ...ephemeral])
  expect(status).toBe(1)
  expect(stdout).toMatch(/error +cairn\.db is gone from .* — put it back, .* restore a backup/)
  expect(existsSync(inData('cairn.db'))).toBe(false)
  writeFileSync(inData('cairn.db'), '')
  const { stderr } = await cairn.run(['serve', ...ephemeral])
  expect(stderr).toContain('cairn.db is empty in')
  expect(readFileSync(inData(left), 'utf8')).toBe('left')
})

test('a restore replaces a missing database', async () => {
  await cairn.run(['backup', 'a.db'])
  rmSync(inData('cairn.db'))
  writeFileSync(inData('cairn.db-wal'), 'of the one that is gone')
  expect(await cairn.json(['restore', 'a.db'])).toMatchObject({ aside: null })
  expect(await cairn.json(['org', 'list'])).toHaveLength(1)
})
