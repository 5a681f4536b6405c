import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { storedEvents } from '../../scripts/support/stored.ts'
import { cutAtCommitOf, TcpProxy } from '../../scripts/support/tcp-proxy.ts'
import { until } from '../../scripts/support/until.ts'
import { apiOf, builtBinary, type Server, Workplace, withUnlimitedTour } from '../support/binary.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

/** The person of every event in a batch, as a statement has it: in hex. */
const batch = Buffer.from('"ann"').toString('hex')

describe('a node whose database', () => {
  let postgres: PostgresServer
  let proxy: TcpProxy
  let place: Workplace
  let url: string
  let node: Server
  let ask: ReturnType<typeof apiOf>
  let flowId: string
  beforeAll(async () => {
    postgres = await PostgresServer.open()
    proxy = await TcpProxy.open(postgres.port)
    url = await postgres.emptyDatabase()
    place = new Workplace(builtBinary, undefined, { CAIRN_DATABASE_URL: url })
    const { snippetKey } = await withUnlimitedTour(place)
    const env = { CAIRN_DATABASE_URL: proxy.through(url), CAIRN_LOG_LEVEL: 'info' }
    node = await place.serve(['--data', place.path('node'), '--log-format', 'json'], env)
    ask = apiOf(node, snippetKey)
    const { flows } = (await (await ask('GET', '/flows')).json()) as { flows: { id: string }[] }
    flowId = flows[0]!.id
  })
  afterEach(async () => {
    proxy.cutAt = () => null
    postgres.signal('SIGCONT')
    proxy.thaw()
    await until(async () => (await send(`after ${crypto.randomUUID()}`)).status === 202)
  })
  afterAll(async () => {
    await place?.close()
    await proxy?.close()
    await postgres?.close()
  })

  const send = (id: string) =>
    ask('POST', '/events', {
      events: [{ id, kind: 'custom', name: 'x', userId: 'ann', occurredAt: Date.now() }],
    })

  /** The ids of the events that the node has, which are those of the log up to its last write. */
  const stored = () => {
    using database = new Database(place.path('node/cairn.db'), { readonly: true })
    return storedEvents(database).map(({ id }) => id)
  }
  const countOf = (id: string) => stored().filter(one => one === id).length

  /** The status and Retry-After of a response, or 'cut' if there was none. */
  const outcomeOf = (request: Promise<Response>) =>
    request.then(
      ({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') }),
      () => 'cut',
    )

  const refused = { status: 503, retryAfter: '2' }
  const remarks = () =>
    node.stdout.split('\n').filter(line => /"(a commit failed|the log does not answer)"/.test(line))
  const recoveries = () => node.stdout.split('storage accepts writes again').length - 1

  const ways = {
    'stands still': [() => postgres.signal('SIGSTOP'), () => postgres.signal('SIGCONT')],
    'is unplugged': [() => proxy.freeze(), () => proxy.thaw()],
  } as const
  test.each(Object.entries(ways))(
    '%s refuses in bounded time, stays ready, and heals',
    async (way, [silence, speak]) => {
      const [before, healed] = [remarks().length, recoveries()]
      silence()
      const ids = [1, 2, 3, 4].map(number => `${way} ${number}`)
      const outcomes = await Promise.all<unknown>([
        ...ids.map(id => outcomeOf(send(id))),
        outcomeOf(ask('POST', `/flows/${flowId}/complete`, { userId: 'bea' })),
      ])
      expect(outcomes).toEqual(outcomes.map(() => refused))
      // What the node has by then is answered from there.
      const read = () => ask('GET', `/flows/${flowId}/checklist-progress?userId=ann`)
      expect((await read()).status).toBe(200)
      expect((await ask('GET', '/flows')).status).toBe(200)
      expect(await (await fetch(`${node.managementUrl}/readyz`)).text()).toStartWith('ready\n')
      speak()
      await until(async () => (await send(`${way} 5`)).status === 202)
      // A 503 promises that nothing was stored.
      for (const id of ids) expect(countOf(id)).toBe(0)
      expect(countOf(`${way} 5`)).toBe(1)
      // The log may come later than the answers.
      const counts = () => [remarks().length - before, recoveries() - healed]
      await until(() => counts().every(count => count > 0))
      // Once each. A slow machine may take the database for away once more.
      expect(Math.max(...counts())).toBeLessThanOrEqual(2)
    },
  )

  test('falls silent at a commit cuts the connections that wait for it, and rejects the others', async () => {
    proxy.cutAt = cutAtCommitOf(batch, 'silent')
    const doubted = outcomeOf(send('in doubt'))
    await until(() => proxy.cuts.silent === 1)
    const outcomes = await Promise.all([doubted, outcomeOf(send('behind it'))])
    expect(outcomes).toEqual(['cut', refused])
    proxy.thaw()
    await until(async () => (await send('in doubt')).status === 202)
    expect([countOf('in doubt'), countOf('behind it')]).toEqual([1, 0])
  })

  test.each(['before', 'after'] as const)(
    'cuts the connection %s a commit still commits once, and callers notice nothing',
    async how => {
      proxy.cutAt = cutAtCommitOf(batch, how)
      expect((await send(`cut ${how}`)).status).toBe(202)
      expect(proxy.cuts[how]).toBe(1)
      expect(countOf(`cut ${how}`)).toBe(1)
    },
  )

  test('dies under load and comes back loses nothing', async () => {
    const acknowledged: string[] = []
    let isOver = false
    const sending = (async () => {
      for (let i = 0; !isOver; i++) {
        const answer = await send(`through death ${i}`).catch(() => null)
        if (answer?.status === 202) acknowledged.push(`through death ${i}`)
      }
    })()
    await until(() => acknowledged.length >= 20)
    await postgres.kill()
    await until(async () => (await send('none')).status === 503)
    expect((await fetch(`${node.managementUrl}/readyz`)).status).toBe(200)
    await postgres.start()
    const soFar = acknowledged.length
    await until(() => acknowledged.length >= soFar + 20)
    isOver = true
    await sending
    const ids = stored().filter(id => id.startsWith('through death'))
    expect(ids).toHaveLength(new Set(ids).size)
    expect(acknowledged.filter(id => !ids.includes(id))).toEqual([])
  })
})
