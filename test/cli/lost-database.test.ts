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

test('no command creates a new database beside the remains of a missing or empty one', async () => {
  renameSync(inData('cairn.db'), cairn.path('moved.db'))
  const expectError = async (message: string, ...command: string[]) => {
    const { status, stdout, stderr } = await cairn.run(command)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
    expect(stderr).toContain('cairn restore FILE')
  }
  for (const left of [
    ...['cairn.db-wal', 'erasures.jsonl', 'last-backup.json'],
    'cairn.db.before-2026-11-21T15-54-09.748Z',
  ]) {
    for (const suffix of ['-wal', '-shm']) rmSync(inData(`cairn.db${suffix}`), { force: true })
    writeFileSync(inData(left), 'left')
    await expectError('cairn.db is gone from', 'org', 'create', 'Beta')
    expect(existsSync(inData('cairn.db'))).toBe(false)
    expect(readFileSync(inData(left), 'utf8')).toBe('left')
    if (left.includes('before')) break
    rmSync(inData(left))
  }
  await expectError('cairn.db is gone from', 'serve', ...ephemeral)
  await expectError('cairn.db is gone from', 'org', 'list')
  const { status, stdout } = await cairn.run(['doctor', ...ephemeral])
  expect(status).toBe(1)
  expect(stdout).toMatch(/error +cairn\.db is gone from .*\n +put it back .* restore a backup/)
  writeFileSync(inData('cairn.db'), '')
  await expectError('cairn.db is empty in', 'serve', ...ephemeral)
})

test('a restore replaces a missing database', async () => {
  await cairn.run(['backup', 'a.db'])
  rmSync(inData('cairn.db'))
  writeFileSync(inData('cairn.db-wal'), 'of the one that is gone')
  expect(await cairn.json(['restore', 'a.db'])).toMatchObject({ aside: null })
  expect(await cairn.json(['org', 'list'])).toHaveLength(1)
})
