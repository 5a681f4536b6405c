import { connect, type Socket } from 'node:net'
import { apiOf, sessionToken, withUnlimitedTour } from '../../support/binary.ts'
import { openFilesOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { tourOf } from '../load.ts'
import type { Site } from '../site.ts'
import { type Check, none, noProblem } from '../verdict.ts'

/** A text in everything that hostile clients send, which must not appear in the log. */
const marker = 'hostile7f3a'

/** What hostile clients know. */
interface Target {
  snippetKey: string
  token: string
  flowId: string
}

/** What a client sends at once, then once a second, or does otherwise. */
interface Attack {
  what: string
  /** The status of the first response that each client must get, or `none`. */
  expected: string
  first: string
  drip?: string
  next?(socket: Socket): void
}

function attacksOn({ snippetKey, token, flowId }: Target): Attack[] {
  const head = (what: string, credential: string) =>
    `${what} HTTP/1.1\r\nHost: ${marker}\r\nAuthorization: Bearer ${credential}\r\n`
  const get = `${head('GET /api/v1/flows', snippetKey)}X-${marker}: `
  const post = head('POST /api/v1/events', snippetKey)
  const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`
  const body = `${post}Content-Length: 1000\r\n\r\n{`
  const export_ = `/api/v1/flows/${flowId}/analytics/export.csv?rows=events`
  const download = `${head(`GET ${export_}`, token)}Connection: close\r\n\r\n`
  const guess = `${head('GET /api/v1/flows', Bun.randomUUIDv7())}Connection: close\r\n\r\n`
  const long = get + 'x'.repeat(60_000)
  return [
    { what: 'idle connections', expected: 'none', first: '' },
    { what: 'headers, a byte a second', expected: 'none', first: get, drip: 'x' },
    { what: 'headers of 60 KB without their end', expected: 'none', first: long, drip: 'x' },
    { what: 'bodies, a byte a second', expected: 'none', first: body, drip: ' ' },
    { what: 'chunks, a byte a second', expected: 'none', first: chunked, drip: '1\r\n \r\n' },
    {
      what: 'half-closed within a request',
      expected: 'none',
      first: body,
      next: socket => socket.end(),
    },
    { what: 'made-up keys', expected: '401', first: guess },
    {
      what: 'downloads left after the first bytes',
      expected: '200',
      first: download,
      next: socket => socket.once('data', () => socket.destroy()),
    },
    {
      what: 'downloads not read for some seconds',
      expected: '200',
      first: download,
      next(socket) {
        socket.pause()
        setTimeout(() => socket.resume(), 3_000)
      },
    },
  ]
}

/** Attacks over `count` connections until the server has closed all of them; returns each client's outcome. */
const attack = ({ first, drip, next }: Attack, port: number, count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const closed = Promise.withResolvers<void>()
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      let received = ''
      socket.on('data', bytes => {
        if (received.length < 100) received += bytes
      })
      // A connection that breaks is one of the things that are expected.
      for (const end of ['error', 'close'] as const) socket.on(end, () => closed.resolve())
      socket.on('end', () => socket.destroy())
      socket.write(first)
      next?.(socket)
      const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), 1_000)
      await closed.promise
      clearInterval(timer)
      socket.destroy()
      return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 'none'
    }),
  )

export async function hostile(site: Site, isLong: boolean): Promise<Check[]> {
  const { slug, snippetKey } = await withUnlimitedTour(site.place, 'Target')
  const server = await site.start()
  const { pid } = server.child
  const ask = apiOf(server, snippetKey)
  const { flowId } = await tourOf(ask)
  const url = `https://app.example.com/${'x'.repeat(220)}`
  for (let batch = 0; batch < 80; batch++) {
    const event = { kind: 'flow_started', flowId, userId: `user-${batch}`, url }
    await ask('POST', '/events', { events: Array(50).fill(event) })
  }
  const token = await sessionToken(site.place, slug)
  const target = { snippetKey, token, flowId }
  const port = Number(new URL(server.url).port)
  const filesBefore = openFilesOf(pid)
  const load = site.load(server, { clients: 1, restMs: 10 })
  const checks = await Promise.all(
    attacksOn(target).map(async (one): Promise<Check> => {
      const found = Object.entries(
        Object.groupBy(await attack(one, port, isLong ? 500 : 30), String),
      )
      return {
        what: one.what,
        value: found.map(([outcome, all]) => `${all?.length} × ${outcome}`).join(', '),
        isOk: found.every(([outcome]) => one.expected === outcome),
      }
    }),
  )
  await load.stop()
  const statuses = site.takeResponses().others(200, 202)
  const filesLeft = () => Math.max(0, openFilesOf(pid) - filesBefore)
  const left = await until(filesLeft, count => count === 0).catch(filesLeft)
  await server.end()
  const lines = server.stdout.split('\n')
  const secrets = [marker, snippetKey, token.split('.')[2]!]
  const isLoud = (line: string) => line !== '' && !/"level":"(trace|debug|info)"/.test(line)
  const isTalkative = (line: string) => secrets.some(text => line.includes(text))
  return [
    ...checks,
    noProblem('other clients: responses that are errors', statuses),
    none('open files left', left),
    noProblem('lines of the log at warn or above', lines.filter(isLoud)),
    noProblem('lines of the log with what was sent', lines.filter(isTalkative)),
    ...(await site.finish()),
  ]
}
