import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 100_000, events: 100_000 })
  flow = tenant.publish(checklist())
})

const at = (ms = 0) => new Date(world.clock.now() + ms).toISOString()

const progress = async (person = 'userId=u', of = flow) => {
  const { status, body } = await tenant.answer(`GET /flows/${of.id}/checklist-progress?${person}`)
  expect(status).toBe(200)
  return body
}

const write = (items: unknown[], person: object = { userId: 'u' }, of = flow) =>
  tenant.answer(`POST /flows/${of.id}/checklist-progress`, { body: { ...person, items } })

const tick = (key: string, completed = true) => write([{ key, completed }])

const ticked = (body: { items: { key: string; completed: boolean }[] }) =>
  body.items.filter(({ completed }) => completed).map(({ key }) => key)

test('before anything is ticked, all items are there, in order', async () => {
  expect(await progress()).toEqual({
    flowId: flow.id,
    userId: 'u',
    items: flow.checklist!.items.map(({ id, key }, i) => ({
      id,
      key,
      title: ['Invite somebody', 'Add a photo', 'Add a card'][i],
      completed: false,
      completedAt: null,
    })),
    completed: 0,
    total: 3,
    percent: 0,
    completedAt: null,
  })
})

test('a tick by key or by id shows at once, in the answer and to the next GET', async () => {
  const { status, body } = await tick('photo')
  expect(status).toBe(200)
  expect(body).toMatchObject({ completed: 1, total: 3, percent: 33, completedAt: null })
  expect(body.items[1]).toMatchObject({ key: 'photo', completed: true, completedAt: at() })
  expect(await progress()).toEqual(body)
  const byId = await write([{ id: flow.checklist!.items[0]!.id, completed: true }])
  expect(ticked(byId.body)).toEqual(['invite', 'photo'])
  expect(byId.body.percent).toBe(67)
})

test('two tabs cannot undo each other: a POST touches only the items that it names', async () => {
  const [one, two] = await Promise.all([tick('invite'), tick('photo')])
  expect([one.status, two.status]).toEqual([200, 200])
  expect(ticked(await progress())).toEqual(['invite', 'photo'])
  await tick('pay', false)
  expect(ticked(await progress())).toEqual(['invite', 'photo'])
})

describe('an item', () => {
  test('ticked again keeps the time of its first tick', async () => {
    const first = at()
    await tick('photo')
    world.clock.advance(60_000)
    const { body } = await tick('photo')
    expect(body.items[1].completedAt).toBe(first)
  })

  test('unticked is open, and ticked anew has the new time', async () => {
    await tick('photo')
    world.clock.advance(60_000)
    expect((await tick('photo', false)).body.items[1]).toMatchObject({
      completed: false,
      completedAt: null,
    })
    world.clock.advance(60_000)
    expect((await tick('photo')).body.items[1].completedAt).toBe(at())
  })

  test('written back and forth within a millisecond is as the last write says', async () => {
    for (let i = 0; i < 5; i++) {
      expect(ticked((await tick('photo')).body)).toEqual(['photo'])
      expect(ticked((await tick('photo', false)).body)).toEqual([])
    }
  })

  test.each([
    [[true, false], []],
    [[false, true], ['photo']],
    [[true, false, true], ['photo']],
  ])('named several times in one POST (%j) is as the last says', async (writes, expected) => {
    for (const start of [false, true]) {
      await tick('photo', start)
      const { body } = await write(writes.map(completed => ({ key: 'photo', completed })))
      expect(ticked(body)).toEqual(expected)
    }
  })
})

describe('422, and nothing is changed', () => {
  const wrong: [string, unknown[], string][] = [
    [
      'an unknown key',
      [
        { key: 'photo', completed: true },
        { key: 'x', completed: true },
      ],
      '/items/1',
    ],
    ['an unknown id', [{ id: 'item_x', completed: true }], '/items/0'],
    ['an item without a name', [{ completed: true }], '/items/0'],
    [
      'a tick that is neither true nor false',
      [{ key: 'photo', completed: 1 }],
      '/items/0/completed',
    ],
    ['no items', [], '/items'],
  ]
  test.each(wrong)('for %s', async (_, items, path) => {
    const { status, body } = await write(items)
    expect(status).toBe(422)
    expect(body.details.map((problem: { path: string }) => problem.path)).toEqual([path])
    expect(ticked(await progress())).toEqual([])
  })

  test('for another flow’s item, though it is ours', async () => {
    const second = tenant.publish(checklist({ key: 'second' }))
    const { status } = await write([{ id: second.checklist!.items[0]!.id, completed: true }])
    expect(status).toBe(422)
  })

  test('for an item that was never published, though it has an id already', async () => {
    tenant.push(checklist({ checklist: { items: [{ key: 'later', title: 'Later' }] } }))
    const { public_id: id } = world.database
      .query("select public_id from items where key = 'later' order by id desc")
      .get() as { public_id: string }
    expect((await write([{ id, completed: true }])).status).toBe(422)
    tenant.publishAgain('start')
    expect((await write([{ id, completed: true }])).status).toBe(200)
  })

  test('for nobody', async () => {
    expect((await write([{ key: 'photo', completed: true }], {})).status).toBe(422)
    expect((await tenant.ask(`GET /flows/${flow.id}/checklist-progress`)).status).toBe(422)
    const twice = `GET /flows/${flow.id}/checklist-progress?userId=a&userId=b`
    expect(await tenant.answer(twice)).toMatchObject({
      status: 422,
      body: { details: [{ path: '/userId', message: 'Must be given once' }] },
    })
  })
})

describe('the last tick', () => {
  test('completes the flow, at its time; unticking does not take that back', async () => {
    await write([
      { key: 'invite', completed: true },
      { key: 'photo', completed: true },
    ])
    world.clock.advance(1_000)
    const done = at()
    const { body } = await tick('pay')
    expect(body).toMatchObject({ completed: 3, percent: 100, completedAt: done })
    world.clock.advance(1_000)
    expect((await tick('pay', false)).body).toMatchObject({
      completed: 2,
      percent: 67,
      completedAt: done,
    })
    const again = await tenant.answer(`POST /flows/${flow.id}/complete`, { body: { userId: 'u' } })
    expect(again.body).toMatchObject({ completedAt: done, alreadyCompleted: true })
  })

  test('counts in analytics as one completion', async () => {
    await write(['invite', 'photo', 'pay'].map(key => ({ key, completed: true })))
    const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
    expect(body.totals).toMatchObject({ starts: 1, completions: 1 })
    expect(body.checklist.completedAll).toBe(1)
    expect(body.checklist.items.map((i: { completions: number }) => i.completions)).toEqual([
      1, 1, 1,
    ])
  })
})

describe('a custom event', () => {
  const custom = (more: object) => tenant.send([{ kind: 'custom', userId: 'u', ...more }])

  test('ticks the item that waits for it, in every published flow that has one', async () => {
    const second = tenant.publish(checklist({ key: 'second' }))
    const archived = tenant.publish(checklist({ key: 'archived' }))
    tenant.withdraw('archived', 'archived')
    await custom({ name: 'invited' })
    expect(ticked(await progress())).toEqual(['invite'])
    expect(ticked(await progress('userId=u', second))).toEqual(['invite'])
    tenant.publishAgain('archived')
    expect(ticked(await progress('userId=u', archived))).toEqual([])
  })

  test('of another name, person or organisation ticks nothing', async () => {
    const other = await Tenant.of(world)
    await other.send([{ kind: 'custom', userId: 'u', name: 'invited' }])
    await custom({ name: 'Invited' })
    await custom({ name: 'invited', userId: 'v' })
    await custom({ name: 'invited', userId: undefined, anonymousId: 'u' })
    expect(ticked(await progress())).toEqual([])
    expect(ticked(await progress('anonymousId=u'))).toEqual(['invite'])
  })

  test('ticks at the time at which it occurred; sent again it changes nothing', async () => {
    const occurredAt = at(-60_000)
    const event = { id: 'e', name: 'invited', occurredAt }
    await custom(event)
    await custom(event)
    expect((await progress()).items[0].completedAt).toBe(occurredAt)
    const ticks = world.database.query('select 1 from ticks where org_id = ?').all(tenant.row)
    expect(ticks).toHaveLength(1)
  })

  test('that is the last tick completes the flow', async () => {
    await write(['photo', 'pay'].map(key => ({ key, completed: true })))
    await custom({ name: 'invited' })
    expect(await progress()).toMatchObject({ percent: 100, completedAt: at() })
  })
})

test('an item_completed event ticks as a POST does', async () => {
  const itemId = flow.checklist!.items[2]!.id
  await tenant.send([{ kind: 'item_completed', userId: 'u', flowId: flow.id, itemId }])
  expect(ticked(await progress())).toEqual(['pay'])
})

test('an anonymous person and a user of the same name are two people', async () => {
  await write([{ key: 'photo', completed: true }], { anonymousId: 'u' })
  expect(ticked(await progress())).toEqual([])
  const anonymous = await progress('anonymousId=u')
  expect(ticked(anonymous)).toEqual(['photo'])
  expect(anonymous).toMatchObject({ anonymousId: 'u' })
  expect(anonymous.userId).toBeUndefined()
})

test('a flow without a checklist has none: no items, 0 of 0, 0 %', async () => {
  const plain = tenant.publish(tour())
  expect(await progress('userId=u', plain)).toEqual({
    flowId: plain.id,
    userId: 'u',
    items: [],
    completed: 0,
    total: 0,
    percent: 0,
    completedAt: null,
  })
  expect((await write([{ key: 'x', completed: true }], { userId: 'u' }, plain)).status).toBe(422)
})

test('progress outlives a new version: ticks hang from items, and new items are open', async () => {
  await tick('photo')
  const items = [
    { key: 'new', title: 'New' },
    { key: 'photo', title: 'Your photo' },
  ]
  flow = tenant.publish(checklist({ checklist: { items } }))
  expect(await progress()).toMatchObject({
    items: [
      { key: 'new', completed: false },
      { key: 'photo', title: 'Your photo', completed: true },
    ],
    completed: 1,
    total: 2,
    percent: 50,
  })
})

test('a withdrawn flow is not shown, but a late tick about it is taken', async () => {
  tenant.withdraw('start', 'archived')
  expect((await tenant.ask(`GET /flows/${flow.id}/checklist-progress?userId=u`)).status).toBe(404)
  const { status, body } = await tick('photo')
  expect(status).toBe(200)
  expect(ticked(body)).toEqual(['photo'])
})
