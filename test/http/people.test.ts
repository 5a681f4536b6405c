import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopes } from '../../src/core/organisation/management-token.ts'
import { beginRewriting } from '../../src/storage/sqlite/database/rewriting.ts'
import { Description, type Document } from '../support/described.ts'
import { tour } from '../support/flows.ts'
import { poison } from '../support/ledger.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** People's data in the management API, and what only the operator does with the API. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let description: Description
let token: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.publish(tour({ key: 'welcome' }))
  const { body } = await tenant.answer('GET /openapi.json', { credential: null })
  description = new Description(body as unknown as Document)
  token = await tenant.managementToken(...scopes)
})

/** Asks, and checks the answer against the description. */
async function ask(what: string, asked: Asked & { by?: Tenant } = {}) {
  const { by = tenant, ...rest } = asked
  const response = await by.ask(what, { credential: token, ...rest })
  const [method = '', target = ''] = what.split(' ')
  const copy = response.clone()
  await description.check(method, target.split('?')[0]!, response)
  const text = await copy.text()
  return { status: copy.status, body: text === '' ? null : JSON.parse(text) }
}

const report = (userId: string, by = tenant) =>
  by.send([{ id: `of-${userId}`, kind: 'custom', name: 'seen', userId }])

const named = (userId: string) => `/manage/people?${new URLSearchParams({ userId })}`

test('an export is all that is stored of a person, whatever their id, and nothing of others', async () => {
  const slashed = 'a/b ?&=/../ü'
  await report(slashed)
  await report('someone-else')
  const { status, body } = await ask(`GET ${named(slashed)}`)
  expect(status).toBe(200)
  expect(body.person).toEqual({ userId: slashed })
  expect(body.events).toMatchObject([{ id: `of-${slashed}`, userId: slashed, name: 'seen' }])
  expect(JSON.stringify(body)).not.toContain('someone-else')
  const head = await tenant.ask(`HEAD ${named(slashed)}`, { credential: token })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a history has the flows a person met and their events, latest arrival first, page by page', async () => {
  const one = await Tenant.of(world)
  const credential = await one.managementToken('people:read')
  const flow = one.publish(tour({ key: 'welcome' }))
  const of = (kind: string, i: number, more: object = {}) => ({
    ...{ id: `${kind}-${i}`, kind, userId: 'a/b', occurredAt: world.clock.now() - 60_000 + i },
    ...more,
  })
  const inRun = { flowId: flow.id, runId: 'run' }
  await one.send([of('flow_started', 0, inRun), of('flow_completed', 1, inRun)])
  for (let batch = 0; batch < 3; batch++) {
    await one.send([
      ...Array.from({ length: 20 }, (_, i) => of('custom', batch * 20 + i, { name: 'seen' })),
      { id: `other-${batch}`, kind: 'custom', name: 'seen', userId: 'other' },
    ])
  }
  await one.send([of('custom', 99, { name: 'beside', userId: 'other', anonymousId: 'a/b' })])
  const asked = (more: object) =>
    `GET /manage/people/history?${new URLSearchParams({ userId: 'a/b', ...more })}`
  const told: string[] = []
  let next: string | null = null
  let flows: unknown
  do {
    const { body } = await ask(asked({ limit: '30', ...(next && { before: next }) }), {
      ...{ by: one, credential },
    })
    told.push(...body.events.map(({ id }: { id: string }) => id))
    ;({ next, flows } = body)
  } while (next !== null)
  const sent = Array.from({ length: 60 }, (_, i) => `custom-${i}`)
  expect(told).toEqual(['flow_started-0', 'flow_completed-1', ...sent].reverse())
  expect(flows).toMatchObject([
    { flowKey: 'welcome', runs: 1, completedAt: expect.any(String), inProgress: false, items: [] },
  ])
  const { body } = await ask('GET /manage/people/history?anonymousId=a/b', { by: one, credential })
  expect(body.events).toMatchObject([{ id: 'custom-99' }])
  expect(body.flows).toEqual([])
  const unseen = await ask('GET /manage/people/history?userId=nobody', { by: one, credential })
  expect(unseen.body).toMatchObject({ flows: [], events: [], next: null })
})

test('a caller who accepts lines is sent the progress of an erasure and its result', async () => {
  await report('told-of')
  const headers = { accept: 'application/x-ndjson' }
  const response = await tenant.ask(`DELETE ${named('told-of')}`, { credential: token, headers })
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.at(-1).result).toMatchObject({ erased: { events: 1 }, unfinished: null })
  expect(lines.slice(0, -1).every(line => typeof line.progress.at === 'string')).toBe(true)
  expect(lines.length).toBeGreaterThan(1)
})

test('an erasure or rebuild during another one is 409, and nothing has begun', async () => {
  const release = beginRewriting(world.dataDir)
  for (const [what, asOperator] of [
    [`DELETE ${named('waiting')}`, false],
    ['POST /manage/rebuild', true],
  ] as const) {
    for (const accept of ['*/*', 'application/x-ndjson']) {
      const { status, body } = await ask(what, { asOperator, headers: { accept } })
      expect([what, status, body]).toMatchObject([what, 409, { code: 'rewriting_under_way' }])
    }
  }
  release()
  const { body } = await ask('GET /manage/audit')
  const asked = body.lines.filter(({ action }: { action: string }) => action === 'person.erase')
  expect((await ask(`DELETE ${named('waiting')}`)).status).toBe(200)
  const { body: after } = await ask('GET /manage/audit')
  const later = after.lines.filter(({ action }: { action: string }) => action === 'person.erase')
  expect(later).toHaveLength(asked.length + 1)
})

test('only the operator may hold up everybody’s writes for an erasure', async () => {
  const what = `DELETE ${named('large')}&compact=true`
  const { status, body } = await ask(what)
  expect([status, body]).toMatchObject([403, { code: 'forbidden' }])
  expect((await ask(what, { asOperator: true })).status).toBe(200)
})

test('dead letters of one organisation, or all, are retried or dropped, with a line in the log', async () => {
  const [one, other] = [await Tenant.of(world), await Tenant.of(world)]
  poison(world.database, 'bad')
  const bad = (id: string) => [{ id, kind: 'custom', name: 'seen', userId: id }]
  await one.send([...bad('bad-1'), ...bad('bad-2')])
  await other.send(bad('bad-3'))
  world.database.run('drop trigger poison')
  const operator = { asOperator: true }
  const letters = async (by: Tenant) =>
    (await ask('GET /manage/dead-letters', { ...operator, by })).body.letters.map(
      ({ id, eventId }: { id: number; eventId: string }) => ({ id, eventId }),
    )
  const [first, second] = await letters(one)
  expect([first.eventId, second.eventId]).toEqual(['bad-1', 'bad-2'])
  const everywhere = await world.operatorsDoor.handle(
    new Request('http://cairn.test/api/v1/manage/dead-letters'),
  )
  expect(((await everywhere.json()) as { count: number }).count).toBe(3)

  const retry = (ids: number[]) =>
    ask('POST /manage/dead-letters/retry', { ...operator, by: one, body: { ids } })
  const [theirs] = await letters(other)
  const foreign = await retry([first.id, theirs.id])
  expect([foreign.status, foreign.body]).toMatchObject([404, { code: 'dead_letter_not_found' }])
  expect((await retry([first.id])).body).toEqual({ letters: [{ id: first.id, verdict: 'stored' }] })
  const drop = { ...operator, by: one, body: { all: true } }
  expect((await ask('POST /manage/dead-letters/drop', drop)).body).toEqual({ dropped: 1 })
  expect([await letters(one), await letters(other)]).toEqual([[], [theirs]])
  for (const body of [{}, { ids: [1], all: true }, { ids: [] }, { ids: ['1'] }, { all: false }]) {
    expect((await ask('POST /manage/dead-letters/drop', { ...drop, body })).status).toBe(422)
  }
  const { lines } = (await ask('GET /manage/audit', { ...operator, by: one })).body
  expect(lines.slice(0, 2)).toMatchObject([
    { action: 'dead_letters.drop', before: { letters: [second.id] } },
    { action: 'dead_letters.retry', after: { [first.id]: 'stored' } },
  ])
})

test('a rebuild reports what it did; a compaction is refused while a server runs', async () => {
  const other = await Tenant.of(world)
  other.publish(tour({ key: 'one' }))
  other.publish(tour({ key: 'two' }))
  const { body } = await ask('POST /manage/rebuild', { asOperator: true })
  expect(body).toMatchObject({ changed: 0 })
  // Each organisation that has flows gets a line, about its own flows only.
  for (const [by, flows] of [
    [tenant, 1],
    [other, 2],
  ] as const) {
    const { lines } = (await ask('GET /manage/audit', { asOperator: true, by })).body
    expect(lines[0]).toMatchObject({
      ...{ action: 'analytics.rebuild', subject: 'all flows', via: 'command line', before: null },
      after: { flows, changed: 0 },
    })
  }
  const compacted = await ask('POST /manage/compact', { asOperator: true })
  expect([compacted.status, compacted.body]).toMatchObject([409, { code: 'server_running' }])
})
