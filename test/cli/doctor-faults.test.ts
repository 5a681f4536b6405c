import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finished } from '../../scripts/support/finished.ts'
import { until } from '../../scripts/support/until.ts'
import { noteBackup } from '../../src/storage/sqlite/backup/last-backup.ts'
import { apiOf, builtBinary, rawConnection, Workplace, withTour } from '../support/binary.ts'
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
  stdout.split('\n').filter(line => /^(warning|error)/.test(line))
const complaints = async (...args: string[]) =>
  complaintsIn(await place.run(['doctor', ...freePorts, ...args]))

const canMount = process.getuid?.() === 0 && Bun.which('mount') !== null
const canTrace = Bun.which('strace') !== null

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
        expect.stringMatching(
          /^error {4}.* is on a file system that is mounted read-only — mount it/,
        ),
      ])
      mount('-o', 'remount,rw')
      for (const suffix of ['-wal', '-shm']) rmSync(`${databaseFile()}${suffix}`, { force: true })
      const ballast = join(data(), 'ballast')
      expect(() => writeFileSync(ballast, Buffer.alloc(32e6))).toThrow('ENOSPC')
      expect(await ofBinary()).toEqual([
        expect.stringMatching(/^error {4}0 bytes \(0\.0 %\) are free where .* — make room/),
        expect.stringMatching(/^error {4}the disk is full: make room and try again \(SQLITE_/),
        expect.stringMatching(
          /^warning {2}no backup is known, and whether events are stored cannot be read — set/,
        ),
      ])
    } finally {
      unmount()
    }
  })
})

describe.skipIf(!canTrace)('under a tracer', () => {
  const traced = async (inject: string, ...args: string[]) => {
    const strace = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${inject.split(':')[0]}`]
    return Bun.spawn(
      ['strace', ...strace, '-e', `inject=${inject}`, await builtBinary(), ...args],
      {
        cwd: place.folder,
        env: {},
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
  }

  test('slow syncs', async () => {
    await withData(place)
    const child = await traced('fdatasync:delay_enter=150000', 'doctor', ...freePorts)
    expect(await new Response(child.stdout).text()).toMatch(
      /^warning {2}a sync of the disk takes \d+ ms, over 100 ms — every commit waits for one/m,
    )
    expect((await complaints()).join()).not.toContain('a sync of the disk')
  })

  test('what was left by a backup that was killed', async () => {
    await withData(place)
    const child = await traced('fsync,fdatasync:delay_enter=1000000', 'backup', 'backup.db')
    const left = () => readdirSync(place.folder).filter(name => name.endsWith('.partial'))
    await until(() => left().length > 0)
    // If only the tracer were killed, the command would go on.
    const tasks = `/proc/${child.pid}/task/${child.pid}/children`
    process.kill(Number(readFileSync(tasks, 'utf8').trim()), 'SIGKILL')
    await child.exited
    const [name] = left()
    const found = await complaints('--backup-every', '1h', '--backup-dir', place.folder)
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`a killed command has left .*${name}[ ,].* — run "rm -r `)),
    )
  })
})

test('doctor names the reader that keeps a write-ahead log from being written back', async () => {
  await withData(place)
  const reading = `const { Database } = require('bun:sqlite')
    const database = new Database(${JSON.stringify(databaseFile())}, { readonly: true })
    database.run('begin')
    database.query('select * from flows').all()
    console.log('reads')
    setInterval(() => {}, 1000)`
  const reader = Bun.spawn([process.execPath, '-e', reading], { stdout: 'pipe' })
  try {
    for await (const chunk of reader.stdout) if (Buffer.from(chunk).includes('reads')) break
    const database = new Database(databaseFile())
    database.run('pragma synchronous = off')
    database.run('create table ballast (bytes blob)')
    database.run(
      `with recursive row (i) as (select 1 union all select i + 1 from row where i < 260)
      insert into ballast select zeroblob(1000000) from row`,
    )
    database.close()
    expect(await complaints()).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `the write-ahead log has grown to 26\\d MB.* — stop or restart .*: \\S+ \\(process ${reader.pid}\\)`,
        ),
      ),
    )
  } finally {
    reader.kill('SIGKILL')
  }
})

describe('a server', () => {
  const events = (count: number, id = 'e') =>
    Array.from({ length: count }, (_, i) => ({
      id: `${id}${i}`,
      kind: 'custom',
      name: 'x',
      userId: 'u',
    }))

  test('whose storage refuses, and that has refused before', async () => {
    const { snippetKey } = await withData(place)
    const server = await place.serve([], { CAIRN_FAILPOINTS: 'before_commit=full' })
    const answer = await apiOf(server, snippetKey)('POST', '/events', { events: events(1) })
    expect(answer.status).toBe(503)
    const found = await complaints()
    expect(found).toContainEqual(
      expect.stringMatching(
        /^error {4}.*is not ready: storage refuses writes: the log has the reason/,
      ),
    )
    expect(found).toContainEqual(
      expect.stringMatching(/^warning {2}the server has answered 1 request by 503 since its start/),
    )
  })

  test('whose buffer is full', async () => {
    const { snippetKey } = await withData(place)
    const args = ['--buffer-events', '100', '--ack', 'buffer']
    const server = await place.serve(args, { CAIRN_FAILPOINTS: 'before_commit=delay:4000' })
    const post = apiOf(server, snippetKey)
    for (const id of ['a', 'b', 'c']) await post('POST', '/events', { events: events(50, id) })
    expect(await complaints()).toContainEqual(
      expect.stringMatching(
        /^error {4}.*is not ready: the ingest buffer is full: wait for the disk/,
      ),
    )
  })

  test.skipIf(process.platform !== 'linux')('during whose run the clock was set', async () => {
    await withData(place)
    const server = await place.serve()
    const file = join(data(), 'server.json')
    const holder = JSON.parse(readFileSync(file, 'utf8'))
    expect((await complaints()).join()).not.toContain('the clock of this machine was set')
    for (const [hours, words] of [
      [1, 'back by (3599|360\\d) s'],
      [-1, 'forward by (3599|360\\d) s'],
    ] as const) {
      // The server noted its start by the clock before the change.
      const startedAt = new Date(Date.parse(holder.startedAt) + hours * 3_600_000).toISOString()
      writeFileSync(file, JSON.stringify({ ...holder, startedAt }))
      expect(await complaints()).toContainEqual(
        expect.stringMatching(new RegExp(`^warning {2}the clock of this machine was set ${words}`)),
      )
    }
    await server.end()
  })

  test.skipIf(Bun.which('prlimit') === null)(
    'that may open too few files, and has most of them open',
    async () => {
      await withData(place)
      const server = await place.serve()
      Bun.spawnSync(['prlimit', '--pid', `${server.child.pid}`, '--nofile=80:80'])
      const openFiles = async () => {
        const page = await (await fetch(`${server.managementUrl}/metrics`)).text()
        return Number(/^process_open_fds (\d+)$/m.exec(page)?.[1])
      }
      const count = 72 - (await openFiles())
      const idle = await Promise.all(Array.from({ length: count }, () => rawConnection(server)))
      // The kernel keeps a connection to itself until something is sent on it.
      for (const { write } of idle) write('GET / HTTP/1.1\r\n')
      await until(openFiles, count => count >= 70)
      const found = await complaints()
      expect(found).toContainEqual(
        expect.stringMatching(
          /^warning {2}80 files and connections may be open at a time — raise it/,
        ),
      )
      expect(found).toContainEqual(
        expect.stringMatching(
          /^warning {2}the server has \d+ files and connections open, of at most 80/,
        ),
      )
      for (const { end } of idle) end()
    },
  )
})

describe('data', () => {
  test('of a newer schema', async () => {
    await withData(place)
    noteBackup(data(), 'copy.db', Date.now())
    {
      using database = new Database(databaseFile())
      database.run('pragma user_version = 999')
    }
    expect((await complaints())[0]).toMatch(/^error .*schema 999.* — run the newer cairn$/)
  })
})
