import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrateUpTo, writeOlder } from '../../scripts/support/older-schema.ts'
import { freePort } from '../../scripts/support/ports.ts'
import { until } from '../../scripts/support/until.ts'
import { acquireLock } from '../../src/runtime/lock.ts'
import { schemaState } from '../../src/storage/sqlite/database/migrate.ts'
import { builtBinary, type Server, Workplace } from '../support/binary.ts'

let place: Workplace

beforeEach(async () => {
  await builtBinary()
  place = new Workplace()
  writeOlder(data(), 1)
})
afterEach(() => place.close())

const data = () => join(place.folder, 'cairn-data')
const file = () => join(data(), 'cairn.db')
const newest = schemaState(new Database(':memory:')).known

function schemaOf(path = file()): number {
  const database = new Database(path)
  const { schema } = database
    .query<{ schema: number }, []>('select max(id) as schema from migrations')
    .get()!
  expect(database.query('pragma integrity_check').values()).toEqual([['ok']])
  database.close()
  return schema
}

const copies = () =>
  existsSync(join(data(), 'backups'))
    ? readdirSync(join(data(), 'backups')).filter(name => name.endsWith('.db'))
    : []

/** Starts a server that is held up within a migration step, and waits until it says that it is in one. */
async function startWithin(action: string, env: Record<string, string> = {}) {
  const [port, management] = [await freePort(), await freePort()]
  const server = await place.start(['--port', `${port}`, '--management-port', `${management}`], {
    CAIRN_FAILPOINTS: `migration_step=${action}`,
    ...env,
  })
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${management}${path}`).catch(() => null)
    return response && { status: response.status, text: await response.text() }
  }
  await until(async () => /^migrating: step/.test((await ask('/readyz'))?.text ?? ''))
  return { server, ask, api: `http://127.0.0.1:${port}/api/v1/flows` }
}

const serves = async (server: Server) => {
  await server.ready
  return (await fetch(`${server.managementUrl}/readyz`)).status
}

describe('while a start brings the database up to date', () => {
  test('the server is alive but not ready, reports progress, and nobody can connect', async () => {
    const { server, ask, api } = await startWithin('delay:100')
    expect(await ask('/readyz')).toEqual({
      status: 503,
      text: expect.stringMatching(
        /^migrating: step \d+ of \d+ \(\d, [a-z-]+\), \d+ % of it done, \d+ s so far: wait\n$/,
      ),
    })
    expect((await ask('/healthz'))?.status).toBe(200)
    expect((await ask('/metrics'))?.text).toContain('cairn_ready 0')
    expect(fetch(api)).rejects.toThrow()
    expect(await serves(server)).toBe(200)
    expect((await fetch(api)).status).toBe(401)
    await until(() => server.stdout.includes('the database is prepared'))
    expect(schemaOf()).toBe(newest)
    expect(copies()).toHaveLength(1)
  })

  test('SIGTERM ends it at once with nothing half done, and the next start goes on', async () => {
    const { server } = await startWithin('hang')
    expect(await server.end()).toBe(0)
    await until(() => server.stdout.includes('stopped before it was ready'))
    expect(existsSync(join(data(), 'server.json'))).toBe(false)
    expect(schemaOf()).toBe(1)
    expect(await serves(await place.serve())).toBe(200)
    expect(schemaOf()).toBe(newest)
  })

  test('SIGKILL leaves the finished steps, and a copy from before the migration', async () => {
    migrateUpTo(data(), 4)
    const { server } = await startWithin('hang')
    await server.end('SIGKILL')
    expect(schemaOf()).toBe(4)
    expect(copies()[0]).toStartWith('before-schema-5-')
    expect(schemaOf(join(data(), 'backups', copies()[0]!))).toBe(4)
    const { stdout } = await place.run(['doctor'])
    expect(stdout).toMatch(
      /warning {2}a migration of the database from schema 4 to \d+, begun at \S+, was stopped or killed — /,
    )
    expect(await serves(await place.serve())).toBe(200)
    expect((await place.run(['doctor'])).stdout).not.toContain('a migration of the database')
  })
})

describe('a step that fails', () => {
  test('ends the start with one line, changes nothing, and is reported by doctor', async () => {
    const serve = ['serve', '--port', '0', '--management-port', '0']
    const full = { CAIRN_FAILPOINTS: 'migration_step=full' }
    const { status, stderr } = await place.run(serve, full)
    expect([status, stderr.split('\n').length]).toEqual([1, 2])
    expect(stderr).toContain('the disk is full: make room and try again')
    expect(schemaOf()).toBe(1)
    expect(copies()).toEqual([])
    const { stdout } = await place.run(['doctor'])
    expect(stdout).toMatch(/error {4}a migration of the database .* has failed: .*full/)
  })
})

describe('cairn migrate', () => {
  const migrate = (...args: string[]) => place.json<Record<string, unknown>>(['migrate', ...args])

  test('--dry-run tells what the migration would do and need, and changes nothing', async () => {
    const before = readFileSync(file())
    const told = await migrate('--dry-run')
    expect(told).toMatchObject({ from: 1, to: newest, copy: null })
    expect(told.steps).toContainEqual({ id: 4, name: 'event-batches', seconds: null })
    expect(told.wantedBytes).toBeGreaterThan(before.length)
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect((await place.run(['migrate', '--dry-run'])).stdout).toContain('--on-copy tries it here')
  })

  test('--on-copy tries the migration, times every step, and leaves nothing', async () => {
    const before = readFileSync(file())
    const { steps } = await migrate('--on-copy')
    const seconds = (steps as { seconds: number }[]).map(step => typeof step.seconds)
    expect(seconds).toEqual(seconds.map(() => 'number'))
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect(readdirSync(data()).filter(name => name.startsWith('migration'))).toEqual([])
  })

  test('migrates once, and its copy restores the database as the old release left it', async () => {
    const { copy } = await migrate()
    expect(schemaOf(copy as string)).toBe(1)
    expect(schemaOf()).toBe(newest)
    expect(await migrate()).toMatchObject({ from: newest, steps: [], copy: null })
    expect((await place.run(['migrate'])).stdout).toStartWith('nothing to do: ')
    const restored = await place.run(['restore', copy as string])
    expect([restored.status, restored.stderr]).toEqual([0, ''])
    expect(restored.stdout).toContain(': schema 1, no event')
    expect(schemaOf()).toBe(1)
    expect(await migrate('--no-copy')).toMatchObject({ copy: null })
    expect(copies()).toHaveLength(1)
  })

  test.each(['--dry-run', '--no-copy'])('--on-copy with %s is refused', async flag => {
    const { status, stderr } = await place.run(['migrate', '--on-copy', flag])
    expect(status).toBe(2)
    expect(stderr).toContain('--on-copy goes with neither --dry-run nor --no-copy')
  })

  test('refuses beside a running older server, except for --dry-run and --on-copy', async () => {
    const holder = {
      pid: process.pid,
      host: 'here',
      startedAt: '2026-11-21T00:00:00.000Z',
      port: 1,
      managementHost: '127.0.0.1',
      managementPort: 1,
      version: '0.0.9',
    }
    const lock = acquireLock(data(), holder)
    try {
      for (const command of [['migrate'], ['org', 'list']]) {
        const { status, stderr } = await place.run(command)
        expect(status).toBe(1)
        expect(stderr).toMatch(/^cairn: the server that runs on .* is older \(0\.0\.9\)/)
      }
      expect(await migrate('--dry-run')).toMatchObject({ from: 1 })
      expect(await migrate('--on-copy')).toMatchObject({ from: 1 })
    } finally {
      lock.release()
    }
  })
})

const canMount = process.getuid?.() === 0 && Bun.which('mount') !== null

test.skipIf(!canMount)(
  'a migration is refused before it begins if the disk has not enough room',
  async () => {
    const small = join(place.folder, 'small')
    mkdirSync(small)
    const size = 128 * 2 ** 20 + Math.ceil(readFileSync(file()).length * 2.5)
    const mounted = Bun.spawnSync([
      'mount',
      '-t',
      'tmpfs',
      '-o',
      `size=${size},mode=700`,
      'tmpfs',
      small,
    ])
    if (!mounted.success) return
    try {
      copyFileSync(file(), join(small, 'cairn.db'))
      const refusal =
        /^cairn: bringing the database from schema 1 to \d+ may take \d+ MiB on the disk of \S+, which has \d+ MiB free: make room, or keep a copy elsewhere yourself and run "cairn migrate --no-copy", which takes \d+ MiB\n$/
      for (const command of [['serve', '--port', '0', '--management-port', '0'], ['migrate']]) {
        const { status, stderr } = await place.run([...command, '--data', small])
        expect([status, stderr]).toEqual([1, expect.stringMatching(refusal)])
      }
      expect(readdirSync(small)).not.toContain('backups')
      expect(await place.run(['migrate', '--no-copy', '--data', small])).toMatchObject({
        status: 0,
      })
    } finally {
      Bun.spawnSync(['umount', '-l', small])
    }
  },
)

test('other commands do not change older data, and say what to run', async () => {
  const { status, stderr } = await place.run(['org', 'create', 'Other'])
  expect(status).toBe(1)
  expect(stderr).toBe(
    `cairn: the database in ./cairn-data has schema 1, and this cairn works with ${newest}: run "cairn migrate", or start the server, which does the same\n`,
  )
  expect(schemaOf()).toBe(1)
})

test('a newer database is refused by every command, with the two ways out', async () => {
  const { copy } = await place.json<{ copy: string }>(['migrate'])
  const database = new Database(file())
  database.run("insert into migrations values (999, 'later', 'x', 1)")
  database.close()
  const ways = `the database has schema 999, and this cairn knows ${newest}: run the newer release, or give up what was stored since and restore the copy that was made before: cairn restore ${copy}`
  for (const command of [
    ['serve', '--port', '0', '--management-port', '0'],
    ['org', 'list'],
    ['migrate'],
  ]) {
    const { status, stderr } = await place.run(command)
    expect([status, stderr]).toEqual([1, `cairn: ${ways}\n`])
  }
})
