import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bucket, buckets, defaultLimits } from '../../src/core/organisation/buckets.ts'
import {
  apiOf,
  asForUsers,
  eventsHead,
  rawConnection,
  type Server,
  withTour,
} from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

const place = new CommandLine()
let server: Server
let organisation: Awaited<ReturnType<typeof withTour>>

beforeAll(async () => {
  organisation = await withTour(place)
  server = await place.serve(['--threads', '3'], asForUsers)
})
afterAll(() => place.close())

/** A raw exchange, for what fetch would not send. */
async function exchange(...chunks: string[]): Promise<string> {
  const connection = await rawConnection(server)
  for (const chunk of chunks) {
    connection.write(chunk)
    await Bun.sleep(1)
  }
  await server.until(() => connection.isClosed || /\r\n\r\n/.test(connection.received))
  connection.end()
  return connection.received
}

interface FlowSeen {
  id: string
  key: string
  steps: { id: string }[]
}

async function flowsOf(api: ReturnType<typeof apiOf>): Promise<FlowSeen[]> {
  const body = await (await api('GET', '/flows')).json()
  return (body as { flows: FlowSeen[] }).flows
}

const firstFlow = async (api: ReturnType<typeof apiOf>) => (await flowsOf(api))[0] as FlowSeen

describe('limits over all threads', () => {
  const clients = 8
  const perBucket: Partial<Record<Bucket, number>> = { analytics: 40, export: 37, manage: 43 }

  test('8 clients, 3 threads, 10 organisations, every bucket: exactly the limit is admitted', async () => {
    const organisations = await Promise.all(
      Array.from({ length: 10 }, (_, i) => withTour(place, `Limited ${i}`)),
    )
    const flags = Object.entries(perBucket).flatMap(([bucket, n]) => [`--${bucket}`, `${n}`])
    await Promise.all(organisations.map(({ slug }) => place.run(['org', 'limits', slug, ...flags])))
    const admitted = await Promise.all(
      organisations.map(async ({ slug, snippetKey }) => {
        const { token } = await place.json<{ token: string }>(['token', 'issue', '--org', slug])
        const bySnippet = apiOf(server, snippetKey)
        const bySession = apiOf(server, token)
        const made = ['token', 'create', 'CI', '--scope', 'flows:read', '--org', slug]
        const { token: manager } = await place.json<{ token: string }>(made)
        const byManager = apiOf(server, manager)
        const tour = await firstFlow(bySnippet)
        const flow = tour.id
        const step = tour.steps[0]?.id
        const requests: Record<Bucket, () => Promise<Response>> = {
          events: () => bySnippet('POST', '/events', {}),
          flows: () => bySnippet('GET', `/flows/${flow}`),
          fingerprint: () => bySnippet('POST', `/steps/${step}/fingerprint`, {}),
          health: () => bySnippet('POST', `/steps/${step}/health`, {}),
          heartbeat: () => bySnippet('GET', '/heartbeat'),
          status: () => bySnippet('GET', '/snippet-status'),
          analytics: () => bySession('GET', `/flows/${flow}/analytics?from=x`),
          export: () => bySession('GET', `/flows/${flow}/analytics/export.csv?from=x`),
          manage: () => byManager('GET', '/manage/me'),
        }
        const counts = { flows: 1 } as Record<Bucket, number>
        for (const bucket of buckets) {
          const limit = limitOf(bucket)
          const surplus = Math.ceil((limit + 2 * clients) / clients)
          const each = Array.from({ length: clients }, async () => {
            for (let i = 0; i < surplus; i++) {
              const response = await requests[bucket]()
              await response.arrayBuffer()
              if (response.status !== 429) counts[bucket] = (counts[bucket] ?? 0) + 1
            }
          })
          await Promise.all(each)
        }
        return counts
      }),
    )
    const expected = Object.fromEntries(buckets.map(bucket => [bucket, limitOf(bucket)]))
    for (const counts of admitted) expect(counts).toEqual(expected as never)
  }, 300_000)

  const limitOf = (bucket: Bucket) => perBucket[bucket] ?? defaultLimits[bucket]
})

describe('changes by the command line', () => {
  test('a rebuild beside the running server changes nothing', async () => {
    const { slug, snippetKey } = await withTour(place, 'Rebuilt')
    const api = apiOf(server, snippetKey)
    const flow = await firstFlow(api)
    const events = Array.from({ length: 50 }, (_, i) => ({
      kind: i % 2 ? 'flow_completed' : 'flow_started',
      userId: `u${i % 7}`,
      flowId: flow.id,
      ...(i % 3 ? { sessionId: `s${i}` } : {}),
    }))
    expect((await api('POST', '/events', { events })).status).toBe(202)
    const rebuilt = await place.json<{ changed: number; events: number }>(['rebuild'])
    expect(rebuilt.events).toBeGreaterThanOrEqual(50)
    expect(rebuilt.changed).toBe(0)
    expect(slug).toBe('rebuilt')
  })
})

describe('oversized and malformed requests over a socket', () => {
  test('200 MiB announced is 413 before it is sent', async () => {
    const received = await exchange(
      `${eventsHead(organisation.snippetKey)}Content-Length: 209715200\r\n\r\n`,
      'x'.repeat(1_000),
    )
    expect(received).toStartWith('HTTP/1.1 413')
    expect(received).toContain('"code":"payload_too_large"')
    expect(received).toContain('X-RateLimit-Remaining')
  })

  test('200 MiB sent whole is 413 or a closed connection, and memory stays', async () => {
    const body = new Blob([new Uint8Array(200 * 1024 * 1024)])
    const sent = fetch(`${server.url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organisation.snippetKey}` },
      body,
    }).then(response => response.status)
    expect([413, 'closed']).toContain(await sent.catch(() => 'closed'))
    const metrics = await (await fetch(`${server.managementUrl}/metrics`)).text()
    const resident = Number(/process_resident_memory_bytes (\d+)/.exec(metrics)?.[1])
    expect(resident).toBeLessThan(400 * 1024 * 1024)
  })
})
