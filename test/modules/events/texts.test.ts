import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tour } from '../../support/flows.ts'
import { storedEvents } from '../../support/ledger.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Whatever is accepted is kept as it was sent, to the character. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 100_000, flows: 100_000 })
})

const stored = (id: string) =>
  storedEvents(world.database, tenant.row).find(event => event.id === id)

/** One character of each general category that text can hold (Unicode, table 4-4). */
const classes: Record<string, string> = {
  Lu: 'Ä',
  Ll: 'ß',
  Lt: 'ǅ',
  Lm: 'ʰ',
  Lo: '漢',
  Mn: 'e\u0301',
  Mc: 'का',
  Me: 'a\u20dd',
  Nd: '٣',
  Nl: 'Ⅷ',
  No: '½',
  Pc: '_',
  Pd: '-',
  Ps: '(',
  Pe: ')',
  Pi: '«',
  Pf: '»',
  Po: '%',
  Sm: '+',
  Sc: '€',
  Sk: '^',
  So: '☃',
  Zs: ' ',
  Zl: '\u2028',
  Zp: '\u2029',
  Cc: '\u0001\t\n\u007f',
  Cf: '\u200b\u202e\ufeff',
  Co: '\ue000',
  Cn: '\u0378',
  astral: '😀\u{10FFFF}',
  nonchar: '\uffff',
}

test.each(Object.entries(classes))(
  'an id and a person with %s are kept apart from all others',
  async (_, text) => {
    const id = `i${text}d`
    const { body } = await tenant.send([{ id, kind: 'custom', name: text, userId: text }])
    expect(body).toMatchObject({ accepted: 1 })
    expect(stored(id)).toMatchObject({ id, userId: text, name: text })
    const again = await tenant.send([{ id, kind: 'custom', name: 'y', userId: 'v' }])
    expect(again.body.results).toEqual([{ index: 0, id, status: 'duplicate' }])
  },
)

test('two spellings of one letter are two people: nothing is normalised', async () => {
  const { body } = await tenant.send([
    { id: 'caf\u00e9', kind: 'custom', name: 'x', userId: 'u' },
    { id: 'cafe\u0301', kind: 'custom', name: 'x', userId: 'u' },
  ])
  expect(body.accepted).toBe(2)
})

describe('properties', () => {
  const kept = async (json: string) => {
    const id = crypto.randomUUID()
    const body = `{"events":[{"id":"${id}","kind":"custom","name":"x","userId":"u","properties":${json}}]}`
    const answer = await tenant.answer('POST /events', { body })
    return answer.status === 202 ? stored(id)?.properties : answer.body.results[0].code
  }

  test.each([
    ['{}', '{}'],
    ['{"a":[1,"2",true,null,{"b":[]}]}', '{"a":[1,"2",true,null,{"b":[]}]}'],
    [
      '{"__proto__":{"admin":true},"constructor":1}',
      '{"__proto__":{"admin":true},"constructor":1}',
    ],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":"\\u0000"}', '{"a":"\\u0000"}'],
    ['{"a":"\\ud800","\\udc00":1}', '{"a":"\\ud800","\\udc00":1}'],
    ['{"":1," ":2,"a\\nb":3}', '{"":1," ":2,"a\\nb":3}'],
    ['{"a":1e-308}', '{"a":1e-308}'],
  ])('%s are kept', async (json, expected) => {
    expect(await kept(json)).toBe(expected)
  })

  test('10,000 levels deep cost only their event', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    expect(await kept(`{"a":${deep}}`)).toBe('too_large')
  })

  test('nothing of them reaches the prototypes of this process', async () => {
    await kept('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

test('__proto__ and duplicate keys in an event or its envelope are no fields of it', async () => {
  const event = '{"__proto__":{"userId":"u"},"kind":"custom","name":"x"}'
  const answer = await tenant.answer('POST /events', { body: `{"events":[${event}]}` })
  expect(answer.body.results).toMatchObject([{ code: 'invalid' }])
  const twice = '{"kind":"nonsense","kind":"custom","name":"x","userId":"u"}'
  const last = await tenant.answer('POST /events', { body: `{"events":[],"events":[${twice}]}` })
  expect(last.body).toMatchObject({ accepted: 1 })
  const inherited = await tenant.answer('POST /events', { body: '{"__proto__":{"events":[1]}}' })
  expect(inherited.body.details).toEqual([{ path: '/events', message: 'Is required' }])
})

test('a person whose id has any characters finds their own progress by a query', async () => {
  const { id } = tenant.publish(tour())
  for (const text of [
    ...Object.values(classes),
    'a+b',
    'a&b=c',
    '100%',
    'null',
    '["a"]',
    '{}',
    '1',
  ]) {
    const query = `userId=${encodeURIComponent(text)}`
    const { status, body } = await tenant.answer(`GET /flows/${id}/checklist-progress?${query}`)
    expect([status, body.userId]).toEqual([200, text])
  }
})
