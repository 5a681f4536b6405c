import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopes } from '../../src/core/organisation/access.ts'
import { beginRewriting } from '../../src/storage/sqlite/database/rewriting.ts'
import { Description, type Document } from '../support/described.ts'
import { tour } from '../support/flows.ts'
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
async function ask(what: string, requested: Asked & { by?: Tenant } = {}) {
  const { by = tenant, ...rest } = requested
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
const exportOf = (userId: string) => `/manage/people/export?${new URLSearchParams({ userId })}`

test('an export is all that is stored of a person, whatever their id, and nothing of others', async () => {
  const slashed = 'a/b ?&=/../ü'
  await report(slashed)
  await report('someone-else')
  const { status, body } = await ask(`GET ${exportOf(slashed)}`)
  expect(status).toBe(200)
  expect(body.person).toEqual({ userId: slashed })
  expect(body.events).toMatchObject([{ id: `of-${slashed}`, userId: slashed, name: 'seen' }])
  expect(JSON.stringify(body)).not.toContain('someone-else')
  const head = await tenant.ask(`HEAD ${exportOf(slashed)}`, { credential: token })
  expect([head.status, await head.text()]).toEqual([200, ''])
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
  const requested = body.lines.filter(({ action }: { action: string }) => action === 'person.erase')
  expect((await ask(`DELETE ${named('waiting')}`)).status).toBe(200)
  const { body: after } = await ask('GET /manage/audit')
  const later = after.lines.filter(({ action }: { action: string }) => action === 'person.erase')
  expect(later).toHaveLength(requested.length + 1)
})

test('only the operator may hold up everybody’s writes for an erasure', async () => {
  const what = `DELETE ${named('large')}&compact=true`
  const { status, body } = await ask(what)
  expect([status, body]).toMatchObject([403, { code: 'forbidden' }])
  expect((await ask(what, { asOperator: true })).status).toBe(200)
})
