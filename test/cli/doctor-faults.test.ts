import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finished } from '../../scripts/support/finished.ts'
import { noteBackup } from '../../src/storage/sqlite/backup/last-backup.ts'
import { apiOf, builtBinary, Workplace, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { prepared } from '../support/prepared.ts'

/** Each fault is caused for real, and the doctor names it. */

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

let place: CommandLine

beforeEach(() => {
  place = new CommandLine()
})
afterEach(() => place.close())

const data = () => join(place.folder, 'cairn-data')
const databaseFile = () => join(data(), 'cairn.db')
const freePorts = ['--port', '0', '--management-port', '0']

/** The warnings and errors, one line each. */
const complaintsIn = ({ stdout }: Finished) =>
  stdout
    .replaceAll('\n         ', ' ')
    .split('\n')
    .filter(line => /^(warning|error)/.test(line))
const complaints = async (...args: string[]) =>
  complaintsIn(await place.run(['doctor', ...freePorts, ...args]))

const canMount = process.getuid?.() === 0 && Bun.which('mount') !== null

describe.skipIf(!canMount)('a disk', () => {
  const mount = (...args: string[]) => Bun.spawnSync(['mount', ...args, data()]).success
  const unmount = () => Bun.spawnSync(['umount', '-l', data()])

  test('that is full, and one that is read-only', async () => {
    mkdirSync(data(), { mode: 0o700 })
    if (!mount('-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs')) return
    // Nothing can be remounted read-only while a process has a file on it open for writing.
    const ofBinary = async () => complaintsIn(await place.runBinary(['doctor', ...freePorts]))
    try {
      await withTour(new Workplace(builtBinary, place.folder))
      mount('-o', 'remount,ro')
      expect(await ofBinary()).toEqual([
        expect.stringMatching(/^error {4}.* is on a read-only file system\. Mount it/),
      ])
      mount('-o', 'remount,rw')
      for (const suffix of ['-wal', '-shm']) rmSync(`${databaseFile()}${suffix}`, { force: true })
      const ballast = join(data(), 'ballast')
      expect(() => writeFileSync(ballast, Buffer.alloc(32e6))).toThrow('ENOSPC')
      expect(await ofBinary()).toEqual([
        expect.stringMatching(/^error {4}Free disk space: 0 bytes \(0\.0%\)/),
        expect.stringMatching(/^error {4}the disk is full free some space and try again \(SQLITE_/),
        expect.stringMatching(/^warning {2}No backup found\. Set/),
      ])
    } finally {
      unmount()
    }
  })
})

describe('a server', () => {
  const events = (count: number, id = 'e') =>
    Array.from({ length: count }, (_, i) => ({
      id: `${id}${i}`,
      kind: 'custom',
      name: 'x',
      userId: 'u',
    }))

  test('whose storage refuses', async () => {
    const { snippetKey } = await withData(place)
    const server = await place.serve([], { CAIRN_FAILPOINTS: 'before_commit=full' })
    const answer = await apiOf(server, snippetKey)('POST', '/events', { events: events(1) })
    expect(answer.status).toBe(503)
    const found = await complaints()
    expect(found).toContainEqual(
      expect.stringMatching(
        /^error {4}.*not ready storage rejects writes: see the log for the reason/,
      ),
    )
  })

  test('whose buffer is full', async () => {
    const { snippetKey } = await withData(place)
    const args = ['--buffer-events', '100', '--ack', 'buffer']
    // What is not synced keeps its place in the buffer, however late the doctor comes.
    const server = await place.serve(args, { CAIRN_FAILPOINTS: 'before_sync=stall' })
    const post = apiOf(server, snippetKey)
    const statuses = []
    for (const id of ['a', 'b', 'c']) {
      statuses.push((await post('POST', '/events', { events: events(50, id) })).status)
    }
    expect(statuses).toEqual([202, 202, 503])
    expect(await complaints()).toContainEqual(
      expect.stringMatching(/^error {4}.*not ready the ingest buffer is full: wait for the disk/),
    )
  })
})

describe('data', () => {
  test('of a newer schema', async () => {
    await withData(place)
    noteBackup(data(), 'copy.db', Date.now())
    {
      using database = new Database(databaseFile())
      database.run('pragma user_version = 999')
    }
    expect((await complaints())[0]).toMatch(/^error .*schema 999.* Run the newer cairn\.$/)
  })
})
