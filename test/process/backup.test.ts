import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiOf, type Server, Workplace, withTour } from '../support/binary.ts'
import { storedEvents } from '../support/ledger.ts'
import { prepared } from '../support/prepared.ts'
import { MetricsPage } from '../support/prometheus.ts'

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

let place: Workplace
let snippetKey: string
beforeEach(async () => {
  place = new Workplace()
  const { slug, ...organisation } = await withData(place)
  snippetKey = organisation.snippetKey
  await place.run(['org', 'set', 'limits.events', '1000000', '--org', slug])
})
afterEach(() => place.close())

const at = (name: string) => join(place.folder, name)

async function send(server: Server, id: string): Promise<void> {
  const events = [{ id, kind: 'custom', name: 'x', userId: 'ann' }]
  const { status } = await apiOf(server, snippetKey)('POST', '/events', { events })
  expect(status).toBe(202)
}

function idsIn(file: string): string[] {
  using database = new Database(at(file), { readonly: true })
  return storedEvents(database).map(({ id }) => id)
}

const metricsOf = async (server: Server) =>
  new MetricsPage(await (await fetch(`${server.managementUrl}/metrics`)).text())

test('a backup beside a running server holds everything acknowledged before it began', async () => {
  const server = await place.serve()
  const acknowledged: string[] = []
  let isOver = false
  const client = async (name: number) => {
    for (let i = 0; !isOver; i++) {
      await send(server, `${name}-${i}`)
      acknowledged.push(`${name}-${i}`)
    }
  }
  const clients = [1, 2, 3].map(client)
  for (let i = 0; i < 3; i++) {
    await server.until(() => acknowledged.length >= 30 * (i + 1))
    const before = [...acknowledged]
    const { status } = await place.run(['backup', `${i}.db`])
    expect(status).toBe(0)
    const ids = new Set(idsIn(`${i}.db`))
    expect(before.filter(id => !ids.has(id))).toEqual([])
  }
  isOver = true
  await Promise.all(clients)
  expect(await server.end()).toBe(0)
  expect(new Set(idsIn('cairn-data/cairn.db'))).toEqual(new Set(acknowledged))
}, 300_000)

test('a server continues from a restored backup, and resent events are stored once', async () => {
  const first = await place.serve()
  await send(first, 'kept')
  await place.run(['backup', 'a.db'])
  await send(first, 'later')
  await first.end()
  expect((await place.run(['restore', 'a.db'])).status).toBe(0)
  const second = await place.serve()
  for (const id of ['kept', 'later', 'new']) await send(second, id)
  await second.end()
  expect(idsIn('cairn-data/cairn.db').sort()).toEqual(['kept', 'later', 'new'])
  expect(await place.json(['rebuild'])).toMatchObject({ changed: 0 })
}, 300_000)

test('the server makes a backup due at its start, reports it, and takes up new settings', async () => {
  writeFileSync(at('settings'), 'CAIRN_BACKUP_EVERY=6h\nCAIRN_BACKUP_DIR=one\n')
  const server = await place.serve(['--config', 'settings'])
  await server.until(() => server.stdout.includes('backed up'))
  const [backup] = readdirSync(at('one')).filter(name => name.endsWith('.db'))
  const page = await metricsOf(server)
  expect(page.sum('cairn_backup_interval_seconds')).toBe(21_600)
  expect(page.sum('cairn_backup_last_successful')).toBe(1)
  expect(page.sum('cairn_backup_overdue_seconds')).toBe(0)
  expect(page.sum('cairn_backup_last_size_bytes')).toBeGreaterThan(10_000)
  const age = Date.now() / 1_000 - page.sum('cairn_backup_last_success_timestamp_seconds')
  expect(age).toBeWithin(-1, 60)
  expect((await place.run(['restore', '--check', `one/${backup}`])).status).toBe(0)

  writeFileSync(at('settings'), 'CAIRN_BACKUP_EVERY=6h\nCAIRN_BACKUP_DIR=settings/two\n')
  server.child.kill('SIGHUP')
  await server.until(() => server.stdout.includes('the scheduled backup failed'))
  expect(server.stdout).toContain('settings/two cannot be used')
  const failed = await metricsOf(server)
  expect(failed.sum('cairn_backup_failures_total')).toBe(1)
  expect(failed.sum('cairn_backup_last_successful')).toBe(0)
  expect(await server.end()).toBe(0)

  // The next start finds the backup there, and makes none.
  writeFileSync(at('settings'), 'CAIRN_BACKUP_EVERY=6h\nCAIRN_BACKUP_DIR=one\n')
  const again = await place.serve(['--config', 'settings'])
  await again.until(
    async () => (await metricsOf(again)).sum('cairn_backup_last_success_timestamp_seconds') > 0,
  )
  expect(readFileSync(at(`one/${backup}.sha256`), 'utf8')).toContain(backup!)
  expect(readdirSync(at('one'))).toHaveLength(2)
}, 300_000)

test('a backup dated in the future by a wrong clock neither makes others due nor evicts them', async () => {
  const future = 'cairn-2999-01-01T00-00-00Z.db'
  await place.run(['backup', future])
  mkdirSync(at('b'))
  renameSync(at(future), at(`b/${future}`))
  const ours = () =>
    readdirSync(at('b'))
      .filter(name => /^cairn-2.*\.db$/.test(name))
      .sort()
  const env = { CAIRN_BACKUP_EVERY: '6h', CAIRN_BACKUP_DIR: 'b', CAIRN_BACKUP_KEEP: '1' }
  const server = await place.serve([], env)
  await server.until(() => server.stdout.includes('backed up'))
  const [made] = ours()
  expect(ours()).toEqual([expect.any(String), future])
  // The server checks every second whether a backup is due.
  await Bun.sleep(2_500)
  expect(server.stdout.split('backed up')).toHaveLength(2)
  expect(await server.end()).toBe(0)
  // Made in a later second, and so under another name.
  await place.run(['backup', 'b', '--keep', '1'])
  expect(ours()).toEqual([expect.any(String), future])
  expect(ours()).not.toContain(made)
}, 300_000)

test('a stop does not wait for a long reader of the database, such as Litestream', async () => {
  const server = await place.serve()
  await send(server, 'a')
  using reader = new Database(at('cairn-data/cairn.db'), { readonly: true })
  reader.run('begin')
  reader.query('select count(*) from organisations').get()
  await send(server, 'b')
  const startedAt = performance.now()
  expect(await server.end()).toBe(0)
  // Waiting would take five seconds, and a busy machine only adds to that.
  expect(performance.now() - startedAt).toBeLessThan(4_500)
  reader.run('rollback')
  expect(idsIn('cairn-data/cairn.db')).toEqual(['a', 'b'])
}, 300_000)

test('the doctor finds scheduled backups that are not made', async () => {
  const env = { CAIRN_BACKUP_EVERY: '1h', CAIRN_BACKUP_DIR: 'b' }
  const findings = async () => {
    const { stdout } = await place.run(['doctor', '--json', '--port', '0'], env)
    const all = JSON.parse(stdout) as {
      findings: { check: string; status: string; what: string }[]
    }
    return all.findings.filter(({ check }) => check === 'backup')
  }
  expect(await findings()).toMatchObject([{ status: 'warning', what: 'No backup in b yet.' }])
  await place.run(['backup', 'b/'])
  expect(await findings()).toMatchObject([{ status: 'ok' }])
  for (const name of readdirSync(at('b'))) {
    const old = name.replace(/\d{4}-\d\d-\d\d/, '2026-01-01')
    writeFileSync(at(`b/${old}`), readFileSync(at(`b/${name}`)))
    Bun.spawnSync(['rm', at(`b/${name}`)])
  }
  const [late] = await findings()
  expect(late).toMatchObject({ status: 'error' })
  expect(late?.what).toContain('older than CAIRN_BACKUP_EVERY')
}, 300_000)
