import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { maxHeaderSize } from '../../src/runtime/header-size.ts'
import { tour } from '../support/flows.ts'
import { storedEvents } from '../support/ledger.ts'
import { overSocket } from '../support/raw-socket.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** What only shows over a connection: framing, reuse, headers that `Request` would not accept. */

const world = new World()
afterAll(async () => {
  await world.app.stop(true)
  await world.close()
})

let tenant: Tenant
let flowId: string
let port: number

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 10_000, events: 10_000, heartbeat: 10_000 })
  flowId = tenant.publish(tour()).id
  maxHeaderSize()
  world.app.listen({ port: 0, maxRequestBodySize: 1024 ** 3 })
  port = world.app.server!.port!
})

const close = 'Connection: close\r\n'

/** A request's head, with the tenant's key unless other headers are given. */
const head = (what: string, headers = `Authorization: Bearer ${tenant.key}\r\n`) => {
  const [method, path] = what.split(' ')
  return `${method} /api/v1${path} HTTP/1.1\r\nHost: cairn.test\r\n${headers}`
}

const alive = () => `${head('GET /heartbeat')}${close}\r\n`

const chunked = (...chunks: string[]) =>
  [...chunks, ''].map(chunk => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')

const isLimited = (headers: Record<string, string>) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'].every(
    name => headers[name] !== undefined,
  )

test('a token of 60,000 characters is 401; past 64 KiB of headers it is a bare 431', async () => {
  const withToken = async (length: number) => {
    const header = `Authorization: Bearer ${'x'.repeat(length)}\r\n`
    const request = `${head(`GET /flows/${flowId}/analytics`, header)}${close}\r\n`
    return (await overSocket(port, request)).answers[0]
  }
  expect(await withToken(60_000)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
  expect((await withToken(70_000))?.status).toBe(431)
})

describe('a body', () => {
  const event = { kind: 'custom', name: 'x', userId: 'u' }
  const large = 'x'.repeat(2 * 1_048_576)
  const post = (path: string, more: string, body: string) =>
    `${head(`POST ${path}`)}${more}\r\n${body}`
  const withLength = (path: string, body: string) =>
    post(path, `Content-Length: ${Buffer.byteLength(body)}\r\n`, body)
  const inChunks = (path: string, ...chunks: string[]) =>
    post(path, 'Transfer-Encoding: chunked\r\n', chunked(...chunks))
  const statuses = async (...requests: (string | Buffer)[]) =>
    (await overSocket(port, ...requests, alive())).answers.map(({ status }) => status)

  test('split within a character is put together again', async () => {
    const text = JSON.stringify({ events: [{ ...event, userId: 'é😀' }] })
    const frames = [...Buffer.from(text)].map(byte => Buffer.from([0x31, 13, 10, byte, 13, 10]))
    const opening = Buffer.from(post('/events', 'Transfer-Encoding: chunked\r\n', ''))
    const request = Buffer.concat([opening, ...frames, Buffer.from('0\r\n\r\n')])
    expect(await statuses(request)).toEqual([202, 200])
    const people = storedEvents(world.database).map(({ userId }) => userId)
    expect(people).toContain('é😀')
  })

  test('of two mebibytes is 413, and the connection goes on', async () => {
    expect(await statuses(withLength('/events', large))).toEqual([413, 200])
    expect(await statuses(inChunks('/events', large))).toEqual([413, 200])
    expect(await statuses(inChunks('/events', ...Array(32).fill(large.slice(0, 65_536))))).toEqual([
      413, 200,
    ])
    expect(await statuses(withLength(`/flows/${flowId}/complete`, 'x'.repeat(65_537)))).toEqual([
      413, 200,
    ])
  })

  test('that nobody reads, because the key is wrong, leaves the connection usable', async () => {
    const request = `${head('POST /events', '')}Content-Length: ${large.length}\r\n\r\n${large}`
    expect(await statuses(request)).toEqual([401, 200])
    const framed = `${head('POST /events', '')}Transfer-Encoding: chunked\r\n\r\n${chunked(large)}`
    expect(await statuses(framed)).toEqual([401, 200])
  })
})

/** Hosts of every length up to one that no router takes for too short, then some that no URL can have. */
const hosts = ['', 'x', 'ab', 'app', 'abcd', 'abcde', 'a:1', 'cairn.test', '[::1]', '[::1]:80']
const oddHosts = [
  '[::1',
  '%%%[',
  'a b',
  'a#b',
  'h/path?x=',
  'user:pw@h',
  'é',
  '\\',
  '/',
  '//x',
  '?',
]

test.each([
  ['/api/v1/flows', 200],
  ['/api/v1/../v1/flows', 200],
  ['/api/v1/./flows', 200],
  ['/api/v1/%2e/flows/', 200],
  ['http://elsewhere.example/api/v1/flows', 200],
  ['http://x/api/v1/flows/', 200],
  ['HTTP://x/api/v1/flows', 200],
  ['/api/v1/flows?%', 200],
  ['/api/v1/flows?/zzzzzz/', 200],
  ['/api/v1/flows/', 200],
  ['/api/v1/flows//', 404],
  ['/api/v1/flows#x', 404],
  ['/api/v1/flows;x=1', 404],
  ['/api%2Fv1/flows', 404],
  ['/API/v1/flows', 404],
  ['/api/v1/%', 404],
  ['/', 404],
  ['//', 404],
  ['/?/api/v1/flows', 404],
  ['//api/v1/flows', 404],
  ['//evil/api/v1/flows', 404],
  ['//api/v1/docs', 404],
  ['//snippet.js', 404],
  ['/snippet.js', 200],
  ['/snippet.js/', 404],
  ['/api/v1/docs', 200],
  ['/api/v1/docs/', 308],
  ['/docs/', 308],
  ['/docs/deploy', 200],
  ['//docs', 404],
  ['/\\evil/api/v1/flows', 404],
  ['/@x/api/v1/flows', 404],
  ['/zzzzzz/api/v1/flows', 404],
  ['/http://x/api/v1/flows', 404],
  ['http://x//api/v1/flows', 404],
  ['http://x', 404],
  [`/api/v1/${'x'.repeat(10_000)}`, 414],
  [`/api/v1/flows?${'&'.repeat(10_000)}`, 414],
])(
  'the target %s is answered %d whatever the Host is, with every header',
  async (target, status) => {
    for (const host of [...hosts, ...oddHosts]) {
      const request = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tenant.key}\r\n`
      const { answers } = await overSocket(port, `${request}${close}\r\n`)
      expect([host, answers[0]?.status]).toEqual([host, status])
      expect(isLimited(answers[0]!.headers)).toBe(true)
    }
  },
)

test('only downloads may stall for minutes before they are given up', async () => {
  const { server } = world.app
  const given: number[] = []
  const { timeout } = server!
  server!.timeout = (request, seconds) => {
    given.push(seconds)
    timeout.call(server, request, seconds)
  }
  const token = `Authorization: Bearer ${tenant.token}\r\n`
  await overSocket(port, `${head(`GET /flows/${flowId}/analytics`, token)}${close}\r\n`)
  await overSocket(port, `${head(`GET /flows/${flowId}/analytics/export.csv`, token)}${close}\r\n`)
  await overSocket(port, alive())
  server!.timeout = timeout
  expect(given).toEqual([240, 240])
})

describe('an export', () => {
  const row = { id: 'e', kind: 'custom', source: 'events', occurredAt: 0, receivedAt: 0 }
  const page = Array(2_000).fill({ ...row, reportedAt: null, stepRow: null, itemRow: null })
  const what = () => `GET /flows/${flowId}/analytics/export.csv?rows=events`

  /** The answer where the ledger gives ten pages, and then fails or ends. */
  const exported = async (failure: Error | null) => {
    const { analytics } = world.stores
    const events = async function* () {
      for (let pages = 0; pages < 10; pages++) {
        yield page
        await new Promise(resolve => setImmediate(resolve))
      }
      if (failure) throw failure
    }
    world.stores.analytics = { ...analytics, events }
    const request = `${head(what(), `Authorization: Bearer ${tenant.token}\r\n`)}${close}\r\n`
    const { text } = await overSocket(port, request)
    world.stores.analytics = analytics
    return text
  }

  test('that is whole ends as chunked bodies do', async () => {
    const text = await exported(null)
    expect(text).toContain('id,kind,source')
    expect(text.split('\r\ne,custom').length - 1).toBeGreaterThan(19_900)
    expect(text).toEndWith('\r\n0\r\n\r\n')
  })

  test('that fails midway breaks the connection: it never ends as if whole', async () => {
    const text = await exported(new Error('this failure is part of a test'))
    expect(text).toStartWith('HTTP/1.1 200')
    expect(text).toContain('\r\ne,custom')
    expect(text).not.toEndWith('\r\n0\r\n\r\n')
    expect(text.toLowerCase()).not.toContain('content-length')
  })
})
