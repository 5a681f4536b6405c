import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let stepId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 10_000, health: 10_000, fingerprint: 10_000 })
  stepId = tenant.publish(tour()).steps[0]!.id
})

const good = JSON.stringify({ events: [{ kind: 'custom', name: 'x', userId: 'u' }] })

const sent = async (body: unknown, contentType?: string) => {
  const headers: Record<string, string> =
    contentType === undefined ? {} : { 'content-type': contentType }
  return (await tenant.ask('POST /events', { body, headers })).status
}

describe('422', () => {
  const details = async (what: string, body: unknown) => {
    const answer = await tenant.answer(what, { body })
    expect(answer.status).toBe(422)
    expect(answer.body.error).toBe('The request does not have the expected shape')
    expect(answer.body.code).toBe('validation_failed')
    expect(Object.keys(answer.body)).toEqual(['error', 'code', 'details'])
    return answer.body.details
  }

  test('for JSON half a million levels deep is still 422, and quick', async () => {
    const levels = 500_000
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
    for (const body of [deep, `{"events":{"a":${deep}}}`, `{"sentAt":${deep}}`]) {
      await details('POST /events', body)
    }
  })
})

test('fields that Cairn does not know are ignored, however deep, __proto__ included', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const body = `{"outcome":"found","userId":"u","newer":${deep},"__proto__":{"outcome":"error"}}`
  expect((await tenant.ask(`POST /steps/${stepId}/health`, { body })).status).toBe(202)
  expect(({} as Record<string, unknown>).outcome).toBeUndefined()
})

test('bodies that arrive faster than they are parsed are 503 with Retry-After, beyond a bound', async () => {
  const body = good.padEnd(1024 ** 2)
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => tenant.ask('POST /events', { body })),
  )
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(10)
  for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1')
  const taken = answers.filter(({ status }) => status === 202)
  expect(taken.length).toBeGreaterThan(5)
  expect(taken.length + refused.length).toBe(answers.length)
  expect(await sent(good)).toBe(202)
})

test.each([
  ['[', ']', 60, 'Must be at most 50 levels deep'],
  ['{"a":', '}', 60, 'Must be at most 50 levels deep'],
  ['{"a":{', '}}', 1, 'No object may have more than 2000 fields'],
])(
  'what a management call cannot mean is refused before it is parsed: %s',
  async (open, close, levels, message) => {
    const credential = await tenant.managementToken('flows:write')
    const fields = Array.from({ length: 2_001 }, (_, i) => `"k${i}\\"":{}`).join()
    const inside = open.endsWith('{') ? fields : '1'
    const value = open.repeat(levels) + inside + close.repeat(levels)
    const body = `{"flows":[{"x":"${'é\\"['.repeat(20_000)}"},${value}]}`
    expect(await tenant.answer('POST /manage/push', { body, credential })).toMatchObject({
      status: 422,
      body: { details: [{ path: '', message }] },
    })
  },
)
