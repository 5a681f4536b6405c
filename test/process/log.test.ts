import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  apiOf,
  builtBinary,
  rawConnection,
  type Server,
  Workplace,
  withTour,
} from '../support/binary.ts'
import { poison } from '../support/ledger.ts'
import { prepared } from '../support/prepared.ts'

/** A data directory with an organisation and a published flow. */
// A short slug could occur in a random id.
const withData = prepared(place => withTour(place, 'Unmistakable Organisation'))

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.close())

interface Line {
  level: string
  time: string
  requestId?: string
  method?: string
  route?: string | null
  organisation?: string | null
  status?: number
  durationMs?: number
  code?: string
  cause?: string
  reason?: string
  msg: string
}

/** Every line of the log, whole. */
const linesOf = (server: Server): Line[] =>
  server.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

const requestsIn = (lines: Line[]) => lines.filter(({ requestId }) => requestId !== undefined)

const custom = (id: string, userId = 'u') => ({ id, kind: 'custom', name: 'x', userId })

describe('a request’s line', () => {
  test('has the organisation, the route and the outcome, and for a 401 its cause', async () => {
    const { id, snippetKey } = await withData(place)
    const server = await place.serve()
    const answer = await apiOf(server, snippetKey)('GET', '/flows')
    await apiOf(server, 'x'.repeat(32))('GET', '/flows')
    await apiOf(server, snippetKey)('GET', '/nowhere')
    await server.end()
    const [good, unauthorized, nowhere] = requestsIn(linesOf(server))
    expect(good).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId: answer.headers.get('x-request-id') as string,
      method: 'GET',
      route: '/flows',
      organisation: id,
      status: 200,
      durationMs: expect.any(Number),
      msg: 'GET /flows',
    })
    expect(unauthorized).toMatchObject({ status: 401, cause: 'unknown_key', organisation: null })
    expect(nowhere).toMatchObject({ status: 404, route: null, code: 'not_found' })
    const others = linesOf(server).filter(({ requestId }) => requestId === undefined)
    expect(others.map(({ msg }) => msg)).toEqual(['ready', 'stopping', 'stopped'])
  })
})

describe('what callers send', () => {
  const marked = 'mArKeD0sEcReT'

  /** Traffic that has the mark in every place that a caller fills. */
  async function markedTraffic(server: Server, snippetKey: string, token: string): Promise<number> {
    const api = `${server.url}/api/v1`
    const answer = await apiOf(server, snippetKey)('GET', '/flows')
    const { flows } = (await answer.json()) as { flows: { id: string }[] }
    const flowId = flows[0]?.id
    const send = (path: string, init: RequestInit = {}) => fetch(`${api}${path}`, init)
    const key = { authorization: `Bearer ${snippetKey}` }
    const session = { authorization: `Bearer ${token}` }
    const post = (path: string, body: unknown, headers: Record<string, string> = key) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    const event = {
      ...custom(`${marked}-id`, `${marked}-user`),
      anonymousId: marked,
      sessionId: marked,
      runId: marked,
      url: `https://${marked}.test/${marked}?q=${marked}`,
      reason: marked,
      properties: { [marked]: { [marked]: [marked] } },
    }
    const answers = await Promise.all([
      send('/flows', { headers: { authorization: `Bearer ${marked}` } }),
      send('/flows', { headers: { authorization: marked } }),
      send('/flows', {
        headers: { authorization: `Bearer ${`${marked}A`.repeat(3).slice(0, 32)}` },
      }),
      send(`/heartbeat?key=${marked}&v=${marked}&url=https://${marked}&sid=${marked}`),
      send(`/heartbeat?v=${marked}&url=https://${marked}`, { headers: key }),
      send('/flows', {
        headers: {
          ...key,
          origin: `https://${marked}.test`,
          'user-agent': marked,
          referer: `https://${marked}.test`,
          cookie: marked,
          'x-request-id': marked,
          'x-forwarded-for': marked,
          'if-none-match': `"${marked}"`,
          'accept-encoding': marked,
        },
      }),
      send(`/flows/${marked}`, { headers: key }),
      send(`/flows/${marked}?${marked}=${marked}`, { headers: key }),
      send(`/${marked}/${marked}?x=${marked}`),
      send(`/flows/${flowId}/analytics?from=${marked}&timezone=${marked}`, { headers: session }),
      send(`/flows/${flowId}/analytics`, { headers: { authorization: `Bearer ${marked}.b.c` } }),
      send(`/flows/${flowId}/checklist-progress?userId=${marked}`, { headers: key }),
      post(`/flows/${flowId}/complete`, { userId: marked, runId: marked }),
      post(`/flows/${flowId}/complete`, { userId: { [marked]: marked } }),
      post(`/flows/${flowId}/complete?key=${marked}`, { userId: marked }, {}),
      post(`/flows/${flowId}/checklist-progress`, { userId: marked, items: [{ key: marked }] }),
      post(`/steps/${marked}/health`, { outcome: marked, message: marked }),
      post('/events', {
        events: [event, { ...event, kind: marked }, { ...event, flowId: marked }],
      }),
      post('/events', { events: [{ ...event, id: 'poison', name: 'poison' }] }),
      post('/events', `{"events": ${marked}}`),
      post('/events', `${marked}`, { ...key, 'content-type': `text/${marked}` }),
    ])
    const connection = await rawConnection(server)
    connection.write(
      `${marked} /${marked} HTTP/1.1\r\nHost: ${marked}\r\nConnection: close\r\n\r\n`,
    )
    await server.until(() => connection.isClosed || connection.received.includes('\r\n\r\n'))
    connection.end()
    return answers.length
  }

  test.each([
    ['without failures', 'text', {}],
    ['with failing writes', 'json', { CAIRN_FAILPOINTS: 'http_request=error' }],
    ['with a failing storage', 'text', { CAIRN_FAILPOINTS: 'before_commit=error' }],
    ['with a full disk', 'json', { CAIRN_FAILPOINTS: 'before_commit=full' }],
  ] as [string, string, Record<string, string>][])(
    'is in no line of the log %s, in the format %s',
    async (name, format, env) => {
      const { slug, snippetKey } = await withData(place)
      const { token } = await place.json<{ token: string }>(['token', 'issue'])
      const poisoned = new Database(join(place.folder, 'cairn-data/cairn.db'))
      poison(poisoned, 'poison')
      poisoned.close()
      const server = await place.serve(['--log-level', 'trace', '--log-format', format], env)
      const sent = await markedTraffic(server, snippetKey, token)
      await server.end()
      const all = server.stdout + server.stderr
      for (const secret of [marked, snippetKey, token, token.split('.')[1] as string, slug]) {
        expect(all.toLowerCase()).not.toContain(secret.toLowerCase())
      }
      if (format === 'text') return
      expect(requestsIn(linesOf(server)).length).toBeGreaterThan(sent)
      if (name !== 'with a full disk') return
      expect(linesOf(server)).toContainEqual(
        expect.objectContaining({
          ...{ level: 'warn', status: 503, code: 'overloaded' },
          reason: 'Storage cannot write at the moment',
        }),
      )
    },
    60_000,
  )
})

test('a server whose log nobody reads any more goes on serving', async () => {
  const { snippetKey } = await withData(place)
  const child = Bun.spawn([await builtBinary(), 'serve', '--port', '0', '--management-port', '0'], {
    cwd: place.folder,
    env: {},
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let said = ''
  for await (const chunk of child.stderr) {
    said += Buffer.from(chunk).toString()
    if (said.includes('\n')) break
  }
  const url = /serving (\S+),/.exec(said)?.[1]
  try {
    await child.stdout.cancel()
    for (let i = 0; i < 40; i++) {
      const response = await fetch(`${url}/api/v1/flows`, {
        headers: { authorization: `Bearer ${snippetKey}`, connection: 'close' },
        signal: AbortSignal.timeout(3_000),
      })
      expect(response.status).toBe(200)
      // Longer than lines are gathered for, so that the server meets the closed pipe on the way.
      await Bun.sleep(20)
    }
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})
