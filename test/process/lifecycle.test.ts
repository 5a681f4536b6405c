import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import {
  apiOf,
  builtBinary,
  eventsHead,
  rawConnection,
  type Server,
  Workplace,
  withTour,
} from '../support/binary.ts'
import { prepared } from '../support/prepared.ts'

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

let place: Workplace

beforeEach(async () => {
  await builtBinary()
  place = new Workplace()
})
afterEach(() => place.close())

describe('starting', () => {
  test('without settings a server is live and ready, ignores a .env file, and keeps a second one from starting', async () => {
    await Bun.write(join(place.folder, '.env'), 'CAIRN_ACK=maybe\n')
    const server = await place.serve([], { BUN_JSC_useDFGJIT: undefined })
    expect(await (await fetch(`${server.managementUrl}/healthz`)).text()).toStartWith('ok ')
    expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
    const response = await fetch(`${server.url}/api/v1/flows`)
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('{"error":"Unauthorized"}')
    expect(readdirSync(place.folder).sort()).toEqual(['.env', 'cairn-data'])
    const second = await place.run(['serve', '--port', '0', '--management-port', '0'])
    expect(second.status).toBe(1)
    expect(second.stderr).toContain(`process ${server.child.pid}`)
  })

  test('a taken port is one clear line that says how to choose another', async () => {
    const taken = Bun.serve({ port: 0, hostname: '0.0.0.0', fetch: () => new Response() })
    const { status, stderr } = await place.run(['serve', '--port', `${taken.port}`])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^cairn: Port \d+ on 0\.0\.0\.0 is taken: .*--port\n$/)
    taken.stop(true)
  })

  test('no other program can share the port of a server', async () => {
    const { url } = await place.serve()
    const port = Number(new URL(url).port)
    const fetch = () => new Response()
    const share = () => Bun.serve({ port, hostname: '0.0.0.0', reusePort: true, fetch })
    expect(share).toThrow('in use')
  })

  test('data without an organisation is served, with a warning that names the command to make one', async () => {
    const server = await place.serve(['--data', 'else where'])
    const advice = `there is no organisation in this data directory yet: cairn org create NAME --data '${join(realpathSync(place.folder), 'else where')}'`
    expect(server.stderr).toContain(`cairn: warning: ${advice}\n`)
    await server.until(() => server.stdout.includes('no organisation'))
    expect(server.stdout.split('\n').find(line => line.includes('no organisation'))).toContain(
      JSON.stringify(advice),
    )
    await server.end()
    await place.json(['org', 'create', 'Acme', '--data', 'else where'])
    expect((await place.serve(['--data', 'else where'])).stderr).not.toContain('no organisation')
  })
})

describe('stopping', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} ends with status 0, and leaves one checkpointed file`, async () => {
      const { snippetKey } = await withData(place)
      const server = await place.serve()
      const events = [{ id: 'a', kind: 'custom', name: 'x', userId: 'u' }]
      const response = await apiOf(server, snippetKey)('POST', '/events', { events })
      expect(response.status).toBe(202)
      expect(await server.end(signal)).toBe(0)
      expect(readdirSync(join(place.folder, 'cairn-data')).sort()).toEqual([
        'cairn.db',
        'server.lock',
        'session.key',
        'snippet',
      ])
    })
  }

  /** Requests are read in turn, so by this answer it has read everything written before. */
  const hasReadAll = (server: Server) => fetch(`${server.url}/api/v1/flows`)

  test('requests in flight are answered first, and nothing new is accepted', async () => {
    const { snippetKey } = await withData(place)
    const server = await place.serve()
    const body = JSON.stringify({ events: [{ kind: 'custom', name: 'x', userId: 'u' }] })
    const connection = await rawConnection(server)
    connection.write(
      `${eventsHead(snippetKey)}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    )
    await hasReadAll(server)
    server.child.kill('SIGTERM')
    await server.until(() =>
      fetch(server.url).then(
        () => false,
        () => true,
      ),
    )
    connection.write(body.slice(10))
    await server.until(() => connection.received.includes('"accepted":1'))
    connection.end()
    expect(await server.ended).toBe(0)
  })

  test('a second signal ends it at once', async () => {
    const { snippetKey } = await withData(place)
    const server = await place.serve()
    const connection = await rawConnection(server)
    // A request that never ends, so that the first signal has something to wait for.
    connection.write(`${eventsHead(snippetKey)}Content-Length: 100\r\n\r\n{`)
    await hasReadAll(server)
    server.child.kill('SIGTERM')
    await server.until(() =>
      fetch(server.url).then(
        () => false,
        () => true,
      ),
    )
    const status = await fetch(`${server.managementUrl}/readyz`).then(r => r.status)
    expect(status).toBe(503)
    // This exit status shows that the server waited for nothing.
    expect(await server.end('SIGTERM')).toBe(130)
    connection.end()
  })
})

describe('a process that dies', () => {
  test('while it takes a request does not answer it, and serves again after a restart', async () => {
    const { snippetKey } = await withData(place)
    const dying = await place.serve([], { CAIRN_FAILPOINTS: 'http_request=exit' })
    const events = [{ id: 'a', kind: 'custom', name: 'x', userId: 'u' }]
    const response = await apiOf(dying, snippetKey)('POST', '/events', { events }).catch(() => null)
    // A 503 would say that nothing was stored, and nobody knows that.
    expect(response).toBeNull()
    expect(await dying.ended).toBe(70)
    const next = await place.serve()
    expect((await apiOf(next, snippetKey)('POST', '/events', { events })).status).toBe(202)
  })

  test.each([
    ['thrown', `throw new TypeError('"ann" is not a function')`],
    ['rejected', `Promise.reject(new TypeError('"ann" is not a function'))`],
  ])('by an unexpected error (%s) says where, and no value', async (_, fail) => {
    const file = place.path('failing.js')
    await Bun.write(file, `process.on('SIGUSR2', () => { ${fail} })`)
    const server = await place.serve([], { BUN_OPTIONS: `--preload ${file}` })
    expect(await server.end('SIGUSR2')).toBe(1)
    expect(server.stdout).toMatch(/"level":"fatal".*"reason":"TypeError\\n.*failing\.js/)
    expect(server.stdout + server.stderr).not.toContain('ann')
    expect((await place.run(['doctor'])).stdout).toContain('No server is running')
  })

  test('a sync that fails ends the process, non-zero, with a clear line, and acknowledges nothing', async () => {
    const { snippetKey } = await withData(place)
    const server = await place.serve([], { CAIRN_FAILPOINTS: 'before_sync=error' })
    const events = [{ id: 'a', kind: 'custom', name: 'x', userId: 'u' }]
    const answer = await apiOf(server, snippetKey)('POST', '/events', { events }).catch(() => null)
    expect(answer).toBeNull()
    expect(await server.ended).toBe(1)
    expect(server.stdout).toContain('what was written could not be synced')
    const next = await place.serve()
    expect((await apiOf(next, snippetKey)('POST', '/events', { events })).status).toBe(202)
  })
})
