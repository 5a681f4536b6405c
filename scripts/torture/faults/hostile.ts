import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { apiOf, metricOf, sessionToken, withUnlimitedTour } from '../../support/binary.ts'
import { openFilesOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { tourOf } from '../load/clients.ts'
import { type Check, none, noProblem } from '../result.ts'
import { Wire } from '../tools/wire.ts'
import type { Fault } from './fault.ts'

/** A text in everything that hostile clients send, which must not appear in the log. */
const marker = 'hostile7f3a'

/** What hostile clients know, and how many of them there are. */
interface Target {
  port: number
  snippetKey: string
  token: string
  flowId: string
  count: number
}

/** A request's head without its empty line, for a path below `/api/v1`. */
const headOf = (what: string, credential = '', more = '') => {
  const [method, path] = what.split(' ')
  const authorization = credential === '' ? '' : `Authorization: Bearer ${credential}\r\n`
  return `${method} /api/v1${path} HTTP/1.1\r\nHost: ${marker}\r\n${authorization}${more}`
}

const postOf = ({ snippetKey }: Target, framing: string, body = '') =>
  `${headOf('POST /events', snippetKey, framing)}\r\n${body}`

const withLength = (target: Target, body: string) =>
  postOf(target, `Content-Length: ${Buffer.byteLength(body)}\r\n`, body)

const downloadOf = ({ flowId, token }: Target) =>
  `${headOf(`GET /flows/${flowId}/analytics/export.csv?rows=events`, token)}Connection: close\r\n\r\n`

/** A key or token that nobody has. */
const guess = () => `${Bun.randomUUIDv7()}${Math.random()}`.replaceAll(/[-.]/g, '').slice(0, 32)

/** Sends each request over a connection of its own; returns the status of each. */
async function statusesOf({ port }: Target, requests: Iterable<string | Uint8Array>) {
  const outcomes: string[] = []
  for (const request of requests) {
    using wire = await Wire.open(port)
    wire.write(request)
    outcomes.push(await wire.outcome())
  }
  return outcomes
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Many connections at once, each of which does the same. */
const each = (count: number, { port }: Target, run: (wire: Wire, i: number) => Promise<string>) =>
  Promise.all(
    times(count, async i => {
      using wire = await Wire.open(port)
      return await run(wire, i)
    }),
  )

/** Connections that begin in some way and then send a byte a second until the server closes them. */
const hold = (beginning: (target: Target) => string, drip: string) => (target: Target) =>
  each(target.count, target, async wire => {
    wire.write(beginning(target))
    const timer = setInterval(() => wire.write(drip), 1_000)
    const ending = await wire.end()
    clearInterval(timer)
    return ending
  })

const headerOf = (target: Target) => headOf('GET /flows', target.snippetKey, `X-${marker}: `)
const readOf = (target: Target) => `${headOf('GET /flows', target.snippetKey)}\r\n`

interface Attack {
  what: string
  /** What may become of a client. */
  expected: readonly string[]
  /** Returns what became of each client. */
  run(target: Target): Promise<string[]>
}

const unanswered = ['closed after no response']

/** Held for as long as the server allows, all at once, while the others come one after another. */
const held: readonly Attack[] = [
  { what: 'idle connections', expected: unanswered, run: hold(() => '', '') },
  { what: 'headers, a byte a second', expected: unanswered, run: hold(headerOf, 'x') },
  {
    what: 'headers of 60 KB without their end',
    expected: unanswered,
    run: hold(target => headerOf(target) + 'x'.repeat(60_000), 'x'),
  },
  {
    what: 'bodies, a byte a second',
    expected: unanswered,
    run: hold(target => postOf(target, 'Content-Length: 1000\r\n', '{'), ' '),
  },
  {
    what: 'chunks, a byte a second',
    expected: unanswered,
    run: hold(target => postOf(target, 'Transfer-Encoding: chunked\r\n'), '1\r\n \r\n'),
  },
]

const attacks: readonly Attack[] = [
  {
    what: '500 reads in one write',
    // One behind a response that the system does not take for a moment ends the connection.
    expected: ['answered', 'closed midway'],
    run: target =>
      each(target.count / 10, target, async wire => {
        wire.write(readOf(target).repeat(500))
        await wire.until(() => wire.statuses.length === 500)
        if (wire.statuses.some(status => status !== 200)) return 'a wrong status'
        return wire.statuses.length === 500 ? 'answered' : 'closed midway'
      }),
  },
  {
    what: '500 events in one write',
    // A request behind a POST, whose response is never under way at once, ends the connection.
    expected: unanswered,
    run: target =>
      each(target.count / 10, target, wire => {
        const event = { kind: 'custom', name: marker, userId: marker }
        wire.write(withLength(target, JSON.stringify({ events: [event] })).repeat(500))
        return wire.end()
      }),
  },
  {
    what: '10,000 requests in one write, of whose 1 GB nothing is read',
    expected: ['held'],
    run: target =>
      each(5, target, async wire => {
        wire.socket.pause()
        wire.write(`${headOf('GET /openapi.json')}\r\n`.repeat(10_000))
        await Bun.sleep(500)
        return 'held'
      }),
  },
  {
    what: 'half-closed after whole and half requests',
    expected: [...unanswered, 'closed after 200'],
    run: target =>
      each(target.count, target, (wire, i) => {
        const body = postOf(target, 'Content-Length: 100\r\n', '{')
        wire.write([readOf(target), readOf(target).slice(0, 20), body][i % 3]!)
        wire.socket.end()
        return wire.end()
      }),
  },
  {
    what: 'bodies announced as 100 and 200 MB',
    expected: ['413', '401'],
    run: target =>
      statusesOf(target, [
        postOf(target, 'Content-Length: 209715200\r\n', marker.repeat(10_000)),
        `${headOf('POST /events', '', 'Content-Length: 104857600\r\n')}\r\n${marker.repeat(100_000)}`,
      ]),
  },
  {
    what: 'chunks without end',
    expected: ['413'],
    run: target =>
      each(2, target, async wire => {
        wire.write(postOf(target, 'Transfer-Encoding: chunked\r\n'))
        for (let sent = 0; sent < 64 && wire.statuses.length === 0 && !wire.isClosed; sent++) {
          wire.write(`10000\r\n${marker.padEnd(65_536, 'x')}\r\n`)
          await Bun.sleep(1)
        }
        return wire.outcome()
      }),
  },
  {
    what: '100 MiB of zeros, compressed',
    expected: ['400'],
    run(target) {
      const zeros = Buffer.alloc(100 * 1_024 * 1_024)
      const quickly = { [constants.BROTLI_PARAM_QUALITY]: 1 }
      const bombs: [string, Buffer][] = [
        ['gzip', gzipSync(zeros, { level: 1 })],
        ['deflate', deflateSync(zeros, { level: 1 })],
        ['br', brotliCompressSync(zeros, { params: quickly })],
      ]
      const headerOf = (name: string, { length }: Buffer) =>
        postOf(target, `Content-Encoding: ${name}\r\nContent-Length: ${length}\r\n`)
      const requests = bombs.map(([name, bomb]) =>
        Buffer.concat([Buffer.from(headerOf(name, bomb)), bomb]),
      )
      return statusesOf(target, requests)
    },
  },
  {
    what: 'made-up keys, hundreds in one write',
    expected: ['401'],
    run: target =>
      each(4, target, async wire => {
        const keys = target.count * 10
        wire.write(times(keys, () => `${headOf('GET /flows', guess())}\r\n`).join(''))
        await wire.until(() => wire.statuses.length === keys)
        return [...new Set(wire.statuses)].join(', ')
      }),
  },
  {
    what: 'made-up tokens',
    expected: ['401'],
    run(target) {
      const token = () => times(3, () => Buffer.from(guess()).toString('base64url')).join('.')
      const path = `GET /flows/${target.flowId}/analytics`
      const requests = times(target.count / 2, () => `${headOf(path, token())}\r\n`)
      return statusesOf(target, requests)
    },
  },
  {
    what: 'an address for each request',
    expected: ['401'],
    async run({ port, count }) {
      const outcomes: string[] = []
      for (let i = 0; i < count * 5; i++) {
        using wire = await Wire.open(port, `127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`)
        wire.write(`${headOf('GET /flows', guess())}Connection: close\r\n\r\n`)
        outcomes.push(await wire.outcome())
      }
      return outcomes
    },
  },
  {
    what: 'downloads left after the first bytes',
    expected: ['left after 200'],
    run: target =>
      each(target.count / 5, target, async wire => {
        wire.write(downloadOf(target))
        await wire.until(() => wire.receivedBytes > 10_000)
        return `left after ${wire.statuses[0]}`
      }),
  },
  {
    what: 'downloads read slowly, and not at all for a while',
    expected: ['200'],
    run: target =>
      each(target.count / 5, target, async (wire, i) => {
        wire.write(downloadOf(target))
        for (let pauses = 0; pauses < 10; pauses++) {
          wire.socket.pause()
          await Bun.sleep(i % 2 === 0 ? 100 : 500)
          wire.socket.resume()
          await Bun.sleep(5)
        }
        await wire.until(() => false)
        return wire.outcome()
      }),
  },
]

/** Stores events to download, about 400 bytes of CSV each. */
async function fill(ask: ReturnType<typeof apiOf>, flowId: string): Promise<void> {
  const url = `https://app.example.com/${'x'.repeat(220)}`
  const kind = 'flow_started'
  for (let batch = 0; batch < 80; batch++) {
    const events = times(50, i => ({ kind, flowId, userId: `u${batch}-${i}`, url }))
    const { status } = await ask('POST', '/events', { events })
    if (status !== 202) throw new Error(`events were answered by ${status}`)
  }
}

async function checkOf({ what, expected, run }: Attack, target: Target): Promise<Check> {
  const outcomes = Object.entries(Object.groupBy(await run(target), outcome => outcome))
  return {
    what,
    value: outcomes.map(([outcome, all]) => `${all?.length} × ${outcome}`).join(', '),
    isOk: outcomes.every(([outcome]) => expected.includes(outcome)),
  }
}

export const hostile: Fault = {
  what: 'slow, huge, half-closed and made-up requests, while others are served',
  longRounds: 1,
  async run(site, isLong) {
    const { slug, snippetKey } = await withUnlimitedTour(site.place, 'Target')
    const server = await site.start()
    const { pid } = server.child
    const ask = apiOf(server, snippetKey)
    const { flowId } = await tourOf(ask)
    await fill(ask, flowId)
    const token = await sessionToken(site.place, slug)
    const port = Number(new URL(server.url).port)
    const target = { port, snippetKey, token, flowId, count: isLong ? 1_000 : 50 }
    const filesBefore = openFilesOf(pid)
    const load = site.load(server, { clients: 1, restMs: 10 })
    const holding = held.map(attack => checkOf(attack, target))
    const checks: Check[] = []
    for (const attack of attacks) checks.push(await checkOf(attack, target))
    checks.push(...(await Promise.all(holding)))
    await load.stop()
    const statuses = [...site.takeResponses().counts.keys()].filter(one => !one || one >= 400)
    const left = await until(
      () => openFilesOf(pid) - filesBefore,
      count => count <= 0,
    ).catch(() => openFilesOf(pid) - filesBefore)
    const restarts = await metricOf(server, 'cairn_http_thread_restarts_total')
    await server.end()
    const lines = server.stdout.split('\n')
    const secrets = [marker, snippetKey, token.split('.')[2]!]
    const isLoud = (line: string) => line !== '' && !/"level":"(trace|debug|info)"/.test(line)
    return [
      ...checks,
      noProblem('other clients: responses that are errors', statuses.map(String)),
      none('open files left', Math.max(0, left)),
      none('HTTP threads that died', restarts),
      noProblem('lines of the log at warn or above', lines.filter(isLoud)),
      noProblem(
        'lines of the log with a key, a token or anything else that was sent',
        lines.filter(line => secrets.some(text => line.includes(text))),
      ),
      ...(await site.finish()),
    ]
  },
}
