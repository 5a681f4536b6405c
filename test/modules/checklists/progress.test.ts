import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { checklist } from '../../support/flows.ts'
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

describe('the version of the progress in the heartbeat', () => {
  const version = async (person = 'userId=u') =>
    (await tenant.answer(`GET /heartbeat?${person}`)).body.progressVersion
  const other = () => tenant.publish(checklist({ key: 'other' }))
  const custom = (name: string, person: object) =>
    tenant.answer('POST /events', { body: { events: [{ kind: 'custom', name, ...person }] } })
  beforeEach(() => tenant.limit({ flows: 100_000, events: 100_000, heartbeat: 100_000 }))

  test('is a different one after each change', async () => {
    const versions = [await version()]
    const changed = async (change: Promise<{ status: number }>) => {
      expect((await change).status).toBeLessThan(300)
      // Those who count together with somebody are told once that is projected, half a second later.
      await world.storage.projected()
      versions.push(await version())
    }
    await changed(tick('photo'))
    await changed(tick('photo', false))
    await changed(write([{ key: 'photo', completed: true }], { userId: 'u' }, other()))
    await changed(custom('invited', { userId: 'u' }))
    await changed(tenant.answer(`POST /flows/${flow.id}/complete`, { body: { userId: 'u' } }))
    const { id } = flow.checklist!.items[2]!
    const event = { kind: 'item_completed', flowId: flow.id, itemId: id }
    const events = [{ ...event, userId: 'u', anonymousId: 'a', runId: 'r' }]
    await changed(tenant.answer('POST /events', { body: { events } }))
    // What a visitor ticks in a run that the user is in counts for the user.
    const ofVisitor = { kind: 'checklist_opened', flowId: flow.id, anonymousId: 'a', runId: 'r' }
    await changed(tenant.answer('POST /events', { body: { events: [ofVisitor] } }))
    await changed(write([{ key: 'invite', completed: false }], { anonymousId: 'a' }))
    await changed(write([{ key: 'photo', completed: true }], { anonymousId: 'a' }))
    expect(new Set(versions).size).toBe(versions.length)
  })
})

test('ticks of an erased person are answered like those of a new one, and not kept', async () => {
  const { status } = await tenant.answer('DELETE /manage/people?userId=gone', { asOperator: true })
  expect(status).toBe(200)
  const keys = flow.checklist!.items.map(({ key }) => key)
  for (const some of [keys.slice(1), keys]) {
    const items = some.map(key => ({ key, completed: true }))
    const [gone, fresh] = [
      await write(items, { userId: 'gone' }),
      await write(items, { userId: `new-${some.length}` }),
    ]
    expect({ ...gone.body, userId: '' }).toEqual({ ...fresh.body, userId: '' })
    expect(gone.body.completedAt === null).toBe(some !== keys)
  }
  expect(await progress('userId=gone')).toMatchObject({ completed: 0, completedAt: null })
})

test('two tabs cannot undo each other: a POST touches only the items that it names', async () => {
  const [one, two] = await Promise.all([tick('invite'), tick('photo')])
  expect([one.status, two.status]).toEqual([200, 200])
  expect(ticked(await progress())).toEqual(['invite', 'photo'])
  await tick('pay', false)
  expect(ticked(await progress())).toEqual(['invite', 'photo'])
})

describe('422, and nothing is changed', () => {
  test('for an item that was never published, though it has an id already', async () => {
    tenant.push(checklist({ checklist: { items: [{ key: 'later', title: 'Later' }] } }))
    const { public_id: id } = world.database
      .query("select public_id from items where key = 'later' order by id desc")
      .get() as { public_id: string }
    expect((await write([{ id, completed: true }])).status).toBe(422)
    tenant.publishAgain('start')
    expect((await write([{ id, completed: true }])).status).toBe(200)
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
})

describe('whose run it is', () => {
  const opened = (runId: string, person: object = { userId: 'u' }) =>
    tenant.send([{ kind: 'checklist_opened', flowId: flow.id, runId, ...person }])
  const ticks = (keys: string[], more: object) =>
    tenant.send(
      keys.map(key => ({
        kind: 'item_completed',
        flowId: flow.id,
        itemId: flow.checklist!.items.find(item => item.key === key)!.id,
        ...more,
      })),
    )
  const runs = async () => {
    const path = `GET /flows/${flow.id}/analytics/export.csv?rows=runs`
    const text = await (await tenant.ask(path)).text()
    const rows = parse(text, { columns: true }) as Record<string, string>[]
    return Object.fromEntries(rows.map(row => [row.run_key, row.outcome]))
  }
  const numbers = async () => {
    const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
    const { items, completedAll } = body.checklist
    return {
      completions: body.totals.completions,
      items: items.map((item: { completions: number }) => item.completions),
      completedAll,
    }
  }
  const whole = { completions: 1, items: [1, 1, 1], completedAll: 1 }

  test('a visitor who completed a list and signs in has completed it', async () => {
    await ticks(['invite', 'photo', 'pay'], { anonymousId: 'v', runId: 'r' })
    expect(await numbers()).toEqual(whole)
    await opened('r')
    expect(await numbers()).toEqual(whole)
    expect(await progress()).toMatchObject({ completed: 3, completedAt: at() })
  })

  test('the user can take back what they ticked as a visitor', async () => {
    await ticks(['invite'], { anonymousId: 'v', runId: 'r' })
    await opened('r')
    expect(ticked((await tick('invite', false)).body)).toEqual([])
    expect(ticked(await progress('anonymousId=v'))).toEqual([])
  })

  test.each(['runId', 'sessionId'])('a POST names the run by its %s', async name => {
    await tenant.send([{ kind: 'checklist_opened', flowId: flow.id, userId: 'u', [name]: 'one' }])
    world.clock.advance(1_000)
    await opened('two')
    const items = ['invite', 'photo', 'pay'].map(key => ({ key, completed: true }))
    await write(items, { userId: 'u', [name]: 'one' })
    expect((await runs()).rtwo).toBe('in_progress')
    expect(Object.values(await runs())).toEqual(['completed', 'in_progress'])
  })

  test('one POST is one change: only the state after it counts', async () => {
    await write(['invite', 'photo'].map(key => ({ key, completed: true })))
    world.clock.advance(1_000)
    const { body } = await write([
      { key: 'photo', completed: false },
      { key: 'pay', completed: true },
    ])
    expect(body).toMatchObject({ completed: 2, completedAt: null })
    expect(await numbers()).toMatchObject({ completions: 0, completedAll: 0 })
  })

  test('a person who is named in a run with far too many others counts alone', async () => {
    await ticks(['invite'], { anonymousId: 'v', runId: 'r' })
    await opened('r')
    expect(ticked(await progress())).toEqual(['invite'])
    for (let i = 0; i < 20; i++) await opened('r', { anonymousId: `v${i}` })
    expect(ticked(await progress())).toEqual([])
    expect(ticked(await progress('anonymousId=v'))).toEqual(['invite'])
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
})

test('progress survives a new version: ticks belong to items, and new items are open', async () => {
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
