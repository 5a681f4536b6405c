import { afterAll, expect, test } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { createCairnClient, type Rejection } from '../../src/sdk/node/index.ts'

/** @cairn/node with a server that is busy, unreachable, or refuses events. */

interface Event {
  id: string
  name: string
  userId: string
  userHash?: string
}
type Answer = (events: Event[], path: string) => Response

const servers: ReturnType<typeof Bun.serve>[] = []
afterAll(() => {
  for (const server of servers) server.stop(true)
})

const stored = () => Response.json({ accepted: 1, results: [] }, { status: 202 })

/** A client, and what its server received. The server gives `answers` in turn, then accepts everything. */
function client(answers: Answer[], options: Partial<Parameters<typeof createCairnClient>[0]> = {}) {
  const batches: Event[][] = []
  const rejections: Rejection[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = request.method === 'POST' ? await request.json() : {}
      const { events = [] } = body as { events?: Event[] }
      if (pathname.endsWith('/events')) batches.push(events)
      return (answers.shift() ?? stored)(events, pathname)
    },
  })
  servers.push(server)
  const cairn = createCairnClient({
    url: `http://localhost:${server.port}/`,
    key: 'k',
    onRejected: rejection => rejections.push(rejection),
    ...options,
  })
  return { cairn, batches, rejections }
}

const names = (events: Event[]) => events.map(({ name }) => name)

test('events are sent in order, in batches of at most fifty', async () => {
  const { cairn, batches } = client([])
  const all = Array.from({ length: 120 }, (_, i) => `e${i}`)
  for (const name of all) cairn.track('ann', name)
  expect(await cairn.flush()).toBe(true)
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 20])
  expect(names(batches.flat())).toEqual(all)
})

test('without a flush events are sent after a while', async () => {
  const { cairn, batches } = client([], { flushAfterMs: 5 })
  cairn.track('ann', 'one')
  await until(() => batches.length === 1)
})

test('a busy server is asked again no sooner than it says, with the same event ids', async () => {
  const busy = () => new Response('{}', { status: 503, headers: { 'Retry-After': '1' } })
  const { cairn, batches, rejections } = client([busy])
  cairn.track('ann', 'one')
  const began = performance.now()
  expect(await cairn.flush()).toBe(true)
  expect(performance.now() - began).toBeGreaterThan(950)
  expect(batches).toHaveLength(2)
  expect(batches[0]).toEqual(batches[1]!)
  expect(batches[0]?.[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  expect(rejections).toEqual([])
})

test('a batch that is too large is sent in halves, and refused events are reported', async () => {
  const tooLarge = () => new Response('{}', { status: 413 })
  const refused = () => Response.json({ error: 'Unauthorized' }, { status: 401 })
  const one: Answer = events =>
    Response.json(
      {
        results: [{ index: 1, id: events[1]?.id, status: 'rejected', code: 'x', message: 'Wrong' }],
      },
      { status: 202 },
    )
  const { cairn, batches, rejections } = client([tooLarge, one, refused])
  for (const name of ['a', 'b', 'c', 'd']) cairn.track('ann', name)
  expect(await cairn.flush()).toBe(true)
  expect(batches.map(names)).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a', 'b'],
    ['c', 'd'],
  ])
  expect(rejections.map(({ reason, code, events }) => [reason, code, events.length])).toEqual([
    ['rejected', 'x', 1],
    ['refused', null, 2],
  ])
})

test('the queue is bounded, and events that overflow it or are unsent at the end are reported', async () => {
  const { cairn, rejections } = client([], {
    maxWaiting: 2,
    patienceMs: 50,
    url: 'http://localhost:1',
  })
  for (const name of ['a', 'b', 'c']) cairn.track('ann', name)
  expect(await cairn.close()).toBe(false)
  expect(rejections.map(({ reason, events }) => [reason, events.map(({ name }) => name)])).toEqual([
    ['overflow', ['c']],
    ['exit', ['a', 'b']],
  ])
})

test('with an identity secret, each event carries the hash of its user', async () => {
  const { cairn, batches } = client([], { identitySecret: 'secret' })
  cairn.track('ann', 'one')
  expect(await cairn.flush()).toBe(true)
  const expected = new Bun.CryptoHasher('sha256', 'secret').update('ann').digest('hex')
  expect(batches[0]?.[0]).toMatchObject({ userId: 'ann', userHash: expected })
})

test('calls with an answer are retried, and fail with an error that says what was refused', async () => {
  const flows = () => Response.json({ flows: [{ id: 'flow_a', key: 'list' }] })
  const busy = () => new Response('{}', { status: 500 })
  const done: Answer = (_, path) => Response.json({ path })
  const { cairn } = client([busy, flows, done])
  expect((await cairn.complete('ann', 'list')) as unknown).toEqual({
    path: '/api/v1/flows/flow_a/complete',
  })
  await expect(cairn.completeItem('ann', 'other', 'x')).rejects.toMatchObject({
    name: 'CairnError',
    status: 404,
    code: 'flow_not_found',
  })
})

test('a process sends everything before it ends, and no timer keeps it alive', async () => {
  const heard: string[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { events } = (await request.json()) as { events: Event[] }
      heard.push(...names(events))
      return stored()
    },
  })
  servers.push(server)
  const code = `import { createCairnClient } from '${import.meta.dir}/../../src/sdk/node/index.ts'
    createCairnClient({ url: 'http://localhost:${server.port}', key: 'k', flushAfterMs: 600_000 }).track('ann', 'last')`
  const child = Bun.spawn([process.execPath, '-e', code])
  expect(await child.exited).toBe(0)
  expect(heard).toEqual(['last'])
})
