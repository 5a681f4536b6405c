import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { Outcomes } from './outcomes.ts'
import { SlowSocket } from './slow-socket.ts'
import { downloadOf, event, headOf, marker, postOf, type Target, withLength } from './target.ts'
import { Wire } from './wire.ts'

/** How many of each there are. */
export interface Size {
  connections: number
  keys: number
  addresses: number
}

/** Something that hostile clients do and soon finish; tells what became of them. */
export interface Rush {
  what: string
  run(target: Target, size: Size): Promise<Outcomes>
}

/** Sends each request over a connection of its own, and adds what became of it. */
async function outcomesOf(
  target: Target,
  requests: Iterable<string | Uint8Array>,
  outcomes: Outcomes,
): Promise<Outcomes> {
  for (const request of requests) {
    using wire = await Wire.open(target.port)
    wire.write(request)
    outcomes.add(await wire.outcome())
  }
  return outcomes
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/**
 * Many requests in one write, whose answers are read. A request behind one whose answer is not yet under
 * way ends the connection. Behind a POST that is always so, behind a GET only if the system takes no more
 * of the answers for a moment.
 */
async function pipeline(target: Target, { connections }: Size): Promise<Outcomes> {
  const depth = 500
  const outcomes = new Outcomes(['all answered', 'closed midway', 'closed unanswered'])
  const read = `${headOf('GET /flows', target.snippetKey)}\r\n`
  const write = withLength(target, event)
  for (let i = 0; i < connections / 10; i++) {
    using writing = await Wire.open(target.port)
    writing.write(write.repeat(depth))
    outcomes.add(await writing.end())
    using wire = await Wire.open(target.port)
    wire.write(read.repeat(depth))
    await wire.until(() => wire.statuses.length === depth)
    const isRight = wire.statuses.every(status => status === 200)
    const ending = wire.statuses.length === depth ? 'all answered' : 'closed midway'
    outcomes.add(isRight ? ending : 'answered wrongly')
  }
  return outcomes
}

/** Ten thousand requests in one write, with answers of 100 KB each that are not read. */
async function pipelineUnread({ port }: Target): Promise<Outcomes> {
  const outcomes = new Outcomes(['held'])
  for (let i = 0; i < 5; i++) {
    using wire = await Wire.open(port)
    wire.stopReading()
    wire.write(`${headOf('GET /openapi.json')}\r\n`.repeat(10_000))
    await Bun.sleep(200)
    outcomes.add('held')
  }
  return outcomes
}

/** Clients that close their sending side, after whole requests and in the middle of one. */
async function closeHalf(target: Target, { connections }: Size): Promise<Outcomes> {
  const outcomes = new Outcomes(['closed after 200', 'closed unanswered'])
  const whole = `${headOf('GET /flows', target.snippetKey)}\r\n`
  const body = postOf(target, 'Content-Length: 100\r\n', '{')
  const closing = times(connections, async i => {
    using wire = await Wire.open(target.port)
    wire.write([whole, whole.slice(0, 20), body][i % 3]!)
    wire.endWriting()
    outcomes.add(await wire.end())
  })
  await Promise.all(closing)
  return outcomes
}

/** Sends a chunked body that does not end until the server has answered. */
async function* endlessly(target: Target, connections: number): AsyncGenerator<string> {
  const chunk = `10000\r\n${marker.padEnd(65_536, 'x')}\r\n`
  for (let i = 0; i < connections; i++) {
    using wire = await Wire.open(target.port)
    wire.write(postOf(target, 'Transfer-Encoding: chunked\r\n'))
    for (let sent = 0; sent < 64 && wire.statuses.length === 0 && !wire.isClosed; sent++) {
      wire.write(chunk)
      await Bun.sleep(1)
    }
    yield await wire.outcome()
  }
}

async function sendTooMuch(target: Target, { connections }: Size): Promise<Outcomes> {
  const outcomes = new Outcomes(['413', '401'])
  const announced = (framing: string) => postOf(target, framing, marker.repeat(10_000))
  const count = Math.ceil(connections / 50)
  const stranger = `${headOf('POST /events', undefined, 'Content-Length: 104857600\r\n')}\r\n${marker.repeat(100_000)}`
  await outcomesOf(
    target,
    times(count, () => announced('Content-Length: 209715200\r\n')),
    outcomes,
  )
  await outcomesOf(
    target,
    times(count, () => stranger),
    outcomes,
  )
  for await (const outcome of endlessly(target, count)) outcomes.add(outcome)
  return outcomes
}

/** 100 MiB of zeros, which are small as long as nobody decompresses them. */
function* bombs(target: Target): Generator<Buffer> {
  const nothing = Buffer.alloc(100 * 1_024 * 1_024)
  const quickly = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  for (const [name, bomb] of [
    ['gzip', gzipSync(nothing, { level: 1 })],
    ['deflate', deflateSync(nothing, { level: 1 })],
    ['br', brotliCompressSync(nothing, { params: quickly })],
  ] as const) {
    const head = postOf(target, `Content-Encoding: ${name}\r\nContent-Length: ${bomb.length}\r\n`)
    yield Buffer.concat([Buffer.from(head), bomb])
  }
}

/** JSON of up to a million levels, complete and broken off, on its own and within an event. */
const deep = (target: Target) =>
  [
    `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
    '['.repeat(1_000_000),
    `{"events":[{"kind":"custom","name":"x","userId":"u","properties":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}]}`,
  ].map(body => withLength(target, body))

const keyCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const randomText = (length: number) =>
  times(length, () => keyCharacters[Math.floor(Math.random() * keyCharacters.length)]).join('')

/** Keys and tokens that nobody has, hundreds in one write. */
async function guessKeys({ port, flowId }: Target, { keys }: Size): Promise<Outcomes> {
  const together = 250
  const outcomes = new Outcomes(['401'])
  const guess = (i: number) =>
    [
      () => headOf('GET /flows', randomText(32)),
      () => headOf(`GET /heartbeat?key=${randomText(32)}`),
      () => headOf('GET /flows', marker + randomText(40)),
      () => headOf(`GET /flows/${randomText(20)}`, randomText(32), `Origin: https://${marker}\r\n`),
    ][i % 4]!()
  using wire = await Wire.open(port)
  for (let sent = 0; sent < keys && !wire.isClosed; ) {
    wire.write(times(together, i => `${guess(i)}\r\n`).join(''))
    sent += together
    await wire.until(() => wire.statuses.length === sent)
  }
  for (const status of wire.statuses) outcomes.add(`${status}`)
  // Checking a token is asynchronous, so requests with tokens cannot be pipelined.
  const token = () => times(3, () => Buffer.from(randomText(30)).toString('base64url')).join('.')
  const requests = times(
    Math.ceil(keys / 100),
    () => `${headOf(`GET /flows/${flowId}/analytics`, token())}\r\n`,
  )
  return outcomesOf({ port } as Target, requests, outcomes)
}

/** One request from each of many addresses all over the loopback network. */
async function comeFromEverywhere({ port }: Target, { addresses }: Size): Promise<Outcomes> {
  const outcomes = new Outcomes(['401'])
  const request = `${headOf('GET /flows', randomText(32))}Connection: close\r\n\r\n`
  for (let i = 0; i < addresses; i++) {
    using socket = new SlowSocket(port, [127, 1 + (i >> 16), (i >> 8) & 255, i & 255])
    socket.write(request)
    outcomes.add(`${socket.waitForStatus() ?? 'unanswered'}`)
    if (i % 20 === 0) await Bun.sleep(0)
  }
  return outcomes
}

/** Downloads that are abandoned as soon as they have begun. */
async function leave(target: Target, { connections }: Size): Promise<Outcomes> {
  const outcomes = new Outcomes(['left after 200'])
  const leaving = times(connections / 5, async () => {
    using wire = await Wire.open(target.port)
    wire.write(downloadOf(target))
    await wire.until(() => wire.receivedBytes > 10_000)
    outcomes.add(`left after ${wire.statuses[0]}`)
  })
  await Promise.all(leaving)
  return outcomes
}

export const rushes: readonly Rush[] = [
  { what: '500 requests in one writing', run: pipeline },
  { what: '10,000 requests in one writing, nothing read', run: pipelineUnread },
  { what: 'half-closed', run: closeHalf },
  { what: 'bodies announced as 100 and 200 MB, and in chunks without end', run: sendTooMuch },
  {
    what: 'compressed bombs',
    run: target => outcomesOf(target, bombs(target), new Outcomes(['400'])),
  },
  {
    what: 'JSON of half a million levels',
    run: target => outcomesOf(target, deep(target), new Outcomes(['400', '422'])),
  },
  { what: 'made-up keys and tokens', run: guessKeys },
  { what: 'an address each', run: comeFromEverywhere },
  { what: 'downloads left after the first bytes', run: leave },
]
