import { Outcomes } from './outcomes.ts'
import { SlowSocket } from './slow-socket.ts'
import { downloadOf, headOf, marker, postOf, type Target } from './target.ts'
import { Wire } from './wire.ts'

/** Something that hostile clients hold for as long as they can, all at once, while others rush. */
export interface Siege {
  what: string
  /** Resolves once nothing of it is left. */
  run(): Promise<Outcomes>
}

/**
 * When thousands connect at once, the system may tell some that they are connected and then forget them. Those
 * hold nothing, and find out when they send something.
 */
const unanswered = ['closed unanswered', 'closed unanswered, once it spoke']

/** How many connections are opened at a time, for that reason. */
const together = 100

/** How often a byte is sent. */
const dripMs = 1_000
/** How much of a download is read at a time, and how often. */
const sipBytes = 1_024
const sipMs = 100

/** Connections that begin in some way and then drip until the server closes them. */
async function hold(
  { port }: Target,
  connections: number,
  beginning: string,
  drip: string,
): Promise<Outcomes> {
  const outcomes = new Outcomes(unanswered)
  const holdOne = async (wire: Wire) => {
    using _ = wire
    if (beginning !== '') wire.write(beginning)
    const dripping = drip === '' ? null : setInterval(() => wire.write(drip), dripMs)
    const ending = await wire.end()
    if (dripping) clearInterval(dripping)
    if (wire.isClosed) return outcomes.add(ending)
    wire.write('x')
    outcomes.add(`${await wire.end()}, once it spoke`)
  }
  const held: Promise<void>[] = []
  while (held.length < connections) {
    const count = Math.min(together, connections - held.length)
    const wires = await Promise.all(Array.from({ length: count }, () => Wire.open(port)))
    held.push(...wires.map(holdOne))
  }
  await Promise.all(held)
  return outcomes
}

/** Downloads that are read at 10 KB per second until they end. */
async function sip(target: Target, connections: number): Promise<Outcomes> {
  const outcomes = new Outcomes(['whole'])
  const downloads = Array.from({ length: connections }, async () => {
    using socket = new SlowSocket(target.port)
    socket.write(downloadOf(target))
    while (!socket.isEnded) {
      await Bun.sleep(sipMs)
      socket.take(sipBytes)
    }
    outcomes.add(socket.ending.endsWith('\r\n0\r\n\r\n') ? 'whole' : 'broken off')
  })
  await Promise.all(downloads)
  return outcomes
}

/** Downloads of which nothing is read for a while. */
async function readNothing(target: Target, connections: number, ms: number): Promise<Outcomes> {
  const outcomes = new Outcomes(['held'])
  const sockets = Array.from({ length: connections }, () => {
    const socket = new SlowSocket(target.port)
    socket.write(downloadOf(target))
    return socket
  })
  await Bun.sleep(ms)
  for (const socket of sockets) {
    outcomes.add('held')
    socket[Symbol.dispose]()
  }
  return outcomes
}

/**
 * @param small has a download that takes a while to read at 10 KB per second
 * @param large has a download of more than the system holds in its buffers
 */
export function siegesOf(small: Target, large: Target, isLong: boolean): Siege[] {
  const many = isLong ? 2_000 : 100
  const header = headOf('GET /flows', large.snippetKey, `X-${marker}: `)
  const body = postOf(large, 'Content-Length: 1000\r\n', '{')
  const chunks = postOf(large, 'Transfer-Encoding: chunked\r\n')
  const short: Siege[] = [
    {
      what: 'idle connections',
      run: () => hold(large, isLong ? 5_000 : 500, '', ''),
    },
    {
      what: 'headers, a byte a second',
      run: () => hold(large, many, header, 'x'),
    },
    {
      what: 'headers of 60 KB, the end kept back',
      run: () => hold(large, isLong ? 2_000 : 100, header + 'x'.repeat(60_000), 'x'),
    },
    {
      what: 'downloads at 10 KB a second',
      run: () => sip(small, isLong ? 50 : 5),
    },
    {
      what: 'downloads of which nothing is read',
      run: () => readNothing(large, isLong ? 200 : 20, isLong ? 200_000 : 10_000),
    },
  ]
  if (!isLong) return short
  return [
    ...short,
    { what: 'bodies, a byte a second', run: () => hold(large, 200, body, ' ') },
    {
      what: 'chunks, a byte a second',
      run: () => hold(large, 200, chunks, '1\r\n \r\n'),
    },
  ]
}
