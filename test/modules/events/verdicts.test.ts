import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { storedEvents } from '../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Why an event is not kept, and that its neighbours are. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
let second: PublishedFlow
let foreign: PublishedFlow
let draftId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 100_000 })
  const both = { ...checklist(), steps: tour().steps }
  flow = tenant.publish(both)
  second = tenant.publish({ ...both, key: 'second' })
  foreign = (await Tenant.of(world)).publish(both)
  tenant.push(tour({ key: 'draft' }))
  draftId = tenant.flowId('draft')
})

const good = (more: Record<string, unknown> = {}) => ({
  kind: 'custom',
  name: 'x',
  userId: 'u',
  ...more,
})

const stored = () => storedEvents(world.database, tenant.row).length

/** The verdict on an event that is sent between two good ones. */
async function verdict(event: unknown) {
  const before = stored()
  const { status, body } = await tenant.send([good(), event as never, good()])
  expect(status).toBe(202)
  expect(body).toMatchObject({ accepted: 2, duplicates: 0, rejected: 1 })
  expect(stored()).toBe(before + 2)
  expect(body.results).toHaveLength(1)
  const [{ index, status: outcome, ...result }] = body.results
  expect([index, outcome]).toEqual([1, 'rejected'])
  return result as { id: string | null; code: string; message: string }
}

type Case = [string, () => unknown, string]

const cases: Case[] = [
  ['null', () => null, 'invalid'],
  ['a number', () => 3, 'invalid'],
  ['an array', () => [], 'invalid'],
  ['an empty object', () => ({}), 'invalid'],
  ['an unknown kind', () => good({ kind: 'page_viewed' }), 'invalid'],
  ['our own kind', () => good({ kind: 'item_reopened', flowId: flow.id }), 'invalid'],
  ['no person', () => ({ kind: 'custom', name: 'x' }), 'invalid'],
  ['an empty person', () => good({ userId: '' }), 'invalid'],
  ['a person that is a number', () => good({ userId: 7 }), 'invalid'],
  ['a person of 129 characters', () => good({ userId: 'u'.repeat(129) }), 'invalid'],
  ['a custom event without a name', () => ({ kind: 'custom', userId: 'u' }), 'invalid'],
  ['a name of 65 characters', () => good({ name: 'n'.repeat(65) }), 'invalid'],
  ['an id of 65 characters', () => good({ id: 'i'.repeat(65) }), 'invalid'],
  ['an empty id', () => good({ id: '' }), 'invalid'],
  ['a url of 2,049 characters', () => good({ url: 'u'.repeat(2_049) }), 'invalid'],
  ['a reason of 65 characters', () => good({ reason: 'r'.repeat(65) }), 'invalid'],
  ['a time that is none', () => good({ occurredAt: 'yesterday' }), 'invalid'],
  ['a day that does not exist', () => good({ occurredAt: '2026-02-30T00:00:00Z' }), 'invalid'],
  ['a time without a zone', () => good({ occurredAt: '2026-11-20T09:00:00' }), 'invalid'],
  ['a time beyond all dates', () => good({ occurredAt: 1e300 }), 'invalid'],
  ['properties that are no object', () => good({ properties: [1] }), 'invalid'],
  ['a version of 0', () => good({ flowId: flow.id, flowVersion: 0 }), 'invalid'],
  ['a version past 2^53', () => good({ flowId: flow.id, flowVersion: 2 ** 60 }), 'invalid'],
  ['a version never published', () => good({ flowId: flow.id, flowVersion: 2 }), 'invalid'],
  ['a start without a flow', () => good({ kind: 'flow_started' }), 'invalid'],
  ['a view without a step', () => good({ kind: 'step_viewed', flowId: flow.id }), 'invalid'],
  ['a miss without a step', () => good({ kind: 'target_missing', flowId: flow.id }), 'invalid'],
  ['a tick without an item', () => good({ kind: 'item_completed', flowId: flow.id }), 'invalid'],
  ['NUL in a text', () => good({ name: 'a\0b' }), 'invalid'],
  ['half a surrogate pair in a text', () => good({ userId: '\ud800' }), 'invalid'],
  ['half a surrogate pair in an id', () => good({ id: 'a\udc00' }), 'invalid'],
  [
    'a flow that nobody has',
    () => good({ kind: 'flow_started', flowId: 'flow_x' }),
    'unknown_flow',
  ],
  [
    'a flow that was never published',
    () => good({ kind: 'flow_started', flowId: draftId }),
    'unknown_flow',
  ],
  [
    'a step that nobody has',
    () => good({ kind: 'step_viewed', flowId: flow.id, stepId: 'x' }),
    'unknown_step',
  ],
  [
    'a step of another flow of ours',
    () => good({ kind: 'step_viewed', flowId: flow.id, stepId: second.steps[0]!.id }),
    'unknown_step',
  ],
  [
    'an item that nobody has',
    () => good({ kind: 'item_completed', flowId: flow.id, itemId: 'x' }),
    'unknown_item',
  ],
  [
    'an item of another flow of ours',
    () => good({ kind: 'item_completed', flowId: flow.id, itemId: second.checklist!.items[0]!.id }),
    'unknown_item',
  ],
  ["another organisation's flow", () => good({ flowId: foreign.id }), 'unauthorized'],
  [
    "another organisation's step",
    () => good({ flowId: flow.id, stepId: foreign.steps[0]!.id }),
    'unauthorized',
  ],
  [
    "another organisation's item",
    () => good({ flowId: flow.id, itemId: foreign.checklist!.items[0]!.id }),
    'unauthorized',
  ],
  [
    '33 properties',
    () => good({ properties: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i, 1])) }),
    'too_large',
  ],
  ['properties of over 8 KiB', () => good({ properties: { a: 'x'.repeat(8_185) } }), 'too_large'],
  [
    'properties of over 8 KiB in bytes',
    () => good({ properties: { a: 'é'.repeat(4_093) } }),
    'too_large',
  ],
  ['properties nine levels deep', () => good({ properties: nested(9) }), 'too_large'],
]

describe('an event is refused alone, with a code and a sentence', () => {
  test.each(cases)('%s', async (_, event, code) => {
    const result = await verdict(event())
    expect(result.code).toBe(code)
    expect(result.message).toMatch(/\w/)
  })

  test('under the id that it came with, where that can be returned', async () => {
    expect((await verdict({ id: 'mine' })).id).toBe('mine')
    expect((await verdict({})).id).toBeNull()
    expect((await verdict({ id: 5 })).id).toBeNull()
    expect((await verdict({ id: 'i'.repeat(65) })).id).toBeNull()
  })

  test('saying which field is wrong and what is allowed, without the value', async () => {
    const { message } = await verdict(good({ kind: 'a secret' }))
    expect(message).toStartWith('/kind: Must be one of flow_started, step_viewed,')
    expect(message).not.toContain('secret')
    expect((await verdict(good({ occurredAt: {} }))).message).toBe(
      '/occurredAt: Must be an RFC 3339 time or epoch milliseconds',
    )
  })
})

describe('an event is kept', () => {
  test.each<[string, () => Record<string, unknown>]>([
    [
      'with every field null that may be absent',
      () => good({ id: null, flowId: null, url: null, properties: null }),
    ],
    ['with fields that we do not know', () => good({ newer: { a: 1 } })],
    ['with an anonymous person', () => ({ kind: 'custom', name: 'x', anonymousId: 'a' })],
    ['with 128 characters of person', () => good({ userId: 'u'.repeat(128) })],
    ['with 64 characters of id', () => good({ id: 'i'.repeat(64) })],
    [
      'with 32 properties',
      () => good({ properties: Object.fromEntries(Array.from({ length: 32 }, (_, i) => [i, 1])) }),
    ],
    ['with properties of exactly 8 KiB', () => good({ properties: { a: 'x'.repeat(8_184) } })],
    ['with properties eight levels deep', () => good({ properties: nested(8) })],
    [
      'about a flow that is withdrawn by now',
      () => good({ kind: 'flow_started', flowId: second.id }),
    ],
    ['with a step but, being custom, without a flow', () => good({ stepId: flow.steps[0]!.id })],
  ])('%s', async (_, event) => {
    tenant.withdraw('second', 'archived')
    const { status, body } = await tenant.send([event()])
    expect([status, body.accepted]).toEqual([202, 1])
  })

  test.each([
    'flow_started',
    'step_viewed',
    'step_completed',
    'step_skipped',
    'flow_completed',
    'flow_dismissed',
    'target_missing',
    'checklist_opened',
    'item_completed',
    'custom',
  ])('of kind %s with all that it needs', async kind => {
    const names = {
      flowId: flow.id,
      stepId: flow.steps[0]!.id,
      itemId: flow.checklist!.items[0]!.id,
      flowVersion: 1,
    }
    const { body } = await tenant.send([good({ kind, ...names })])
    expect(body).toEqual({ accepted: 1, duplicates: 0, rejected: 0, results: [], skewMs: null })
  })
})

describe('a batch', () => {
  test('of which every event is refused is 422, with the verdicts and a code', async () => {
    const { status, body } = await tenant.send([{}, { id: 'b' }])
    expect(status).toBe(422)
    expect(body).toEqual({
      accepted: 0,
      duplicates: 0,
      rejected: 2,
      results: [
        { index: 0, id: null, status: 'rejected', code: 'invalid', message: expect.any(String) },
        { index: 1, id: 'b', status: 'rejected', code: 'invalid', message: expect.any(String) },
      ],
      skewMs: null,
      error: 'Every event was rejected',
      code: 'validation_failed',
    })
  })

  test('of which every event is another organisation’s is 401, and leaves nothing', async () => {
    const before = stored()
    const foreignOnes = [
      good({ flowId: foreign.id }),
      { flowId: foreign.id },
      good({ stepId: foreign.steps[1]!.id, properties: nested(20) }),
      good({ itemId: foreign.checklist!.items[0]!.id }),
    ]
    expect(await tenant.send(foreignOnes)).toEqual({ status: 401, body: { error: 'Unauthorized' } })
    expect(stored()).toBe(before)
  })

  test('that is mixed keeps our own and rejects theirs', async () => {
    const { status, body } = await tenant.send([good({ flowId: foreign.id }), good()])
    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 1, rejected: 1, results: [{ code: 'unauthorized' }] })
  })

  test('that is foreign except for one bad event of ours is 422, not 401', async () => {
    const { status } = await tenant.send([good({ flowId: foreign.id }), {}])
    expect(status).toBe(422)
  })

  test.each([0, 51, 10_000])('of %d events is 422, and nothing of it is kept', async length => {
    const before = stored()
    const { status, body } = await tenant.send(Array(length).fill(good()))
    expect(status).toBe(422)
    expect(body.details).toEqual([
      {
        path: '/events',
        message: length === 0 ? 'Must have at least 1 element' : 'Must have at most 50 elements',
      },
    ])
    expect(stored()).toBe(before)
  })

  test.each([1, 50])('of %d events is accepted as a whole', async length => {
    const before = stored()
    const { status, body } = await tenant.send(Array(length).fill(good()))
    expect([status, body.accepted]).toEqual([202, length])
    expect(stored()).toBe(before + length)
  })

  test('with a sentAt that is no time is 422', async () => {
    const { status, body } = await tenant.send([good()], { sentAt: 'now' })
    expect(status).toBe(422)
    expect(body.details).toEqual([
      { path: '/sentAt', message: 'Must be an RFC 3339 time or epoch milliseconds' },
    ])
  })
})

/** An object that holds an object, and so on: `levels` of them. */
function nested(levels: number): Record<string, unknown> {
  return levels === 1 ? {} : { a: nested(levels - 1) }
}
