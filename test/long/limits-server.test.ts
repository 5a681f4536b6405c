import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test'
import { cpSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { until } from '../../scripts/support/until.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import { apiOf, type Server, Workplace, withTour } from '../support/binary.ts'
import { MetricsPage } from '../support/prometheus.ts'
import { test, Valkey } from '../support/valkey.ts'

/** Limits that a limits server counts, for one node or for several together. */

let place: Workplace
let valkey: Valkey
beforeEach(async () => {
  place = new Workplace()
  valkey = await Valkey.open('--requirepass', 'hush hush')
})
afterEach(async () => {
  await place.close()
  await valkey.close()
})

/** The patience is far longer than an answer takes, because the machine may be busy. */
const named = () => ({ CAIRN_LIMITS_URL: valkey.url, CAIRN_LIMITS_PATIENCE_MS: '5000' })

const metricsOf = async ({ managementUrl }: Server) =>
  new MetricsPage(await (await fetch(`${managementUrl}/metrics`)).text())

test('of a thousand requests at once to three nodes, a limit of 60 admits exactly 60', async () => {
  const { snippetKey } = await withTour(place)
  // Copies of one data directory stand in for the data that nodes share.
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map(async name => {
      cpSync(place.dataDir, place.path(name), { recursive: true })
      return place.serve(['--data', place.path(name)], named())
    }),
  )
  const asks = nodes.map(node => apiOf(node, snippetKey))
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => asks[i % 3]!('GET', '/flows')),
  )
  const admitted = answers.filter(({ status }) => status === 200)
  const rests = admitted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
  expect(rests.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i))
  const [refused] = answers.filter(({ status }) => status === 429)
  expect(Number(refused?.headers.get('retry-after'))).toBeWithin(1, 61)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(940)
})

test('a restart forgets no window, and the password appears nowhere', async () => {
  const { snippetKey } = await withTour(place)
  const first = await place.serve([], named())
  expect((await apiOf(first, snippetKey)('GET', '/heartbeat')).status).toBe(200)
  const commandLine = readFileSync(`/proc/${first.child.pid}/cmdline`, 'utf8')
  await first.end()
  const second = await place.serve([], named())
  const answer = await apiOf(second, snippetKey)('GET', '/heartbeat')
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('8')
  const said = first.stdout + first.stderr + second.stdout + second.stderr + commandLine
  expect(said).toContain(`127.0.0.1:${valkey.port}`)
  expect(said).not.toMatch(/hush/)
})

test('while the limits server is unavailable, requests are answered and operators see it', async () => {
  const { snippetKey } = await withTour(place)
  const server = await place.serve([], named())
  const ask = apiOf(server, snippetKey)
  expect((await metricsOf(server)).sum('cairn_limits_away')).toBe(0)
  await valkey.kill()
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => (await ask('GET', '/heartbeat')).status),
  )
  // Counted by this node's own window.
  expect(statuses.filter(status => status === 200)).toHaveLength(10)
  await until(async () => (await metricsOf(server)).sum('cairn_limits_away') === 1)
  const metrics = await metricsOf(server)
  expect(metrics.sum('cairn_limits_alone_total')).toBe(12)
  expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
  const unix = socketFile(place.dataDir)
  const figures = await (await fetch('http://cairn/api/v1/manage/server', { unix })).json()
  expect(figures).toMatchObject({ limitsServer: { isAway: true } })
  await valkey.start()
  await until(async () => (await metricsOf(server)).sum('cairn_limits_away') === 0)
  expect(server.stdout).toContain('the limits server is unavailable')
  await until(() => server.stdout.includes('the limits server is back'))
})

test('without a limits server the metrics do not mention one', async () => {
  const server = await place.serve()
  const page = await (await fetch(`${server.managementUrl}/metrics`)).text()
  expect(page).not.toContain('cairn_limits_')
})

describe('a server that cannot count is rejected at the start', () => {
  let other: ReturnType<typeof createServer>
  let otherPort = 0
  beforeAll(async () => {
    other = createServer(socket => socket.on('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')))
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    otherPort = (other.address() as { port: number }).port
  })
  afterAll(() => other.close())

  interface Case {
    why: string
    url: () => string
    says: RegExp
    /** A command that the limits server gets first. */
    told?: [string, ...string[]]
  }
  const cases: Case[] = [
    {
      why: 'wrong password',
      url: () => valkey.url.replace('hush%20hush', 'wrong'),
      says: /rejects the connection \(WRONGPASS.*correct the user or the password/,
    },
    {
      why: 'no password',
      url: () => `redis://127.0.0.1:${valkey.port}`,
      says: /rejects the connection \(NOAUTH/,
    },
    {
      why: 'TLS where there is none',
      url: () => valkey.url.replace('redis:', 'rediss:'),
      says: /use redis:\/\//,
    },
    {
      why: 'another program',
      url: () => `redis://127.0.0.1:${otherPort}`,
      says: /cannot be reached \(HTTP/,
    },
    {
      why: 'no such address',
      url: () => 'http://127.0.0.1',
      says: /CAIRN_LIMITS_URL is wrong.*set the address/,
    },
    {
      why: 'a password with a slash, of which nothing may be shown',
      url: () => 'redis://doc:12/hush@127.0.0.1:1',
      says: /CAIRN_LIMITS_URL is wrong.*write %2F/,
    },
    {
      why: 'windows that are forgotten',
      url: () => valkey.url,
      says: /set maxmemory-policy noeviction/,
      told: ['CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru'],
    },
    {
      why: 'a replica',
      url: () => valkey.url,
      says: /name its primary/,
      told: ['REPLICAOF', '127.0.0.1', '1'],
    },
    {
      why: 'a user who may not',
      url: () => valkey.url.replace(':hush%20hush', 'guest:guest'),
      says: /allow the user/,
      told: ['ACL', 'SETUSER', 'guest', 'on', '>guest', '~*', '+hello', '+auth', '+client'],
    },
  ]

  test.each(cases)('$why', async ({ url, says, told }) => {
    if (told) await valkey.ask(...told)
    const env = { CAIRN_LIMITS_URL: url() }
    const ports = ['--port', '0', '--management-port', '0']
    const { status, stderr } = await place.run(['serve', ...ports], env)
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/hush|wrong@|^\s+at /m)
    expect(status).not.toBe(0)
    const doctor = await place.run(['doctor', ...ports], env)
    expect(doctor.stdout.replaceAll('\n         ', ' ')).toMatch(says)
    expect(doctor.status).toBe(1)
  })
})

test('a start does not wait for a limits server that is away, and finds it later', async () => {
  await withTour(place)
  await valkey.kill()
  const server = await place.serve([], named())
  expect(server.stderr).toContain('cannot be reached (ECONNREFUSED): start it')
  expect((await metricsOf(server)).sum('cairn_limits_away')).toBe(1)
  await valkey.start()
  await until(async () => (await metricsOf(server)).sum('cairn_limits_away') === 0)
})
