import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Description, type Document } from '../support/described.ts'
import { checklist, tour } from '../support/flows.ts'
import { Generator, type Known } from '../support/generated.ts'
import { rounds } from '../support/rounds.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/**
 * The description and the behaviour are checked against each other: requests are generated from the
 * description, and every answer must be one that it has, down to the last header and field.
 */

const world = new World()
afterAll(() => world.close())

const unlimited = {
  events: 1e6,
  flows: 1e6,
  fingerprint: 1e6,
  health: 1e6,
  heartbeat: 1e6,
} as const
const tenant = await Tenant.of(world)
tenant.limit({ ...unlimited, status: 1e6, analytics: 1e6, export: 1e6 })
tenant.listTraits('plan')
const flow = tenant.publish({ ...tour(), ...checklist(), steps: tour().steps })
const items = flow.checklist!.items

const description = new Description((await tenant.answer('GET /openapi.json')).body as Document)

// Only a few minutes old, so that the time that the tests take does not make them too old.
const now = world.clock.now()
const recent = fc
  .integer({ min: now - 300_000, max: now + 60_000 })
  .chain(at => fc.constantFrom(at, new Date(at).toISOString()))

const known: Known = {
  flowId: fc.constant(flow.id),
  stepId: fc.constantFrom(...flow.steps.map(({ id }) => id)),
  itemId: fc.constantFrom(...items.map(({ id }) => id)),
  flowVersion: fc.constant(1),
  occurredAt: recent,
  sentAt: recent,
  completedAt: recent,
  key: fc.constantFrom(...items.map(({ key }) => key)),
  from: fc.constantFrom('2026-11-01', '2026-10-25'),
  to: fc.constantFrom('2026-11-20', '2026-11-02'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns'),
  version: fc.constant('1'),
  segment: fc.constant('plan'),
  left: fc.constantFrom(...flow.steps.map(({ key }) => key)),
}

const generator = new Generator(description, known)

/** In a tick, `id` is an item's id; elsewhere it is an event's own or an element's. */
const ticking = new Generator(description, { ...known, id: known.itemId! })
const generatorOf = (path: string) => (path.endsWith('/checklist-progress') ? ticking : generator)

const pathTo = (path: string, ids: { flow?: string; step?: string } = {}) =>
  path
    .replace('{flow_id}', ids.flow ?? flow.id)
    .replace('{step_id}', ids.step ?? flow.steps[0]!.id)
    .replace('{file}', 'page.js')

/** The part of a JSON answer that is looked at here. */
interface Body {
  results: { index: number; status: string; code: string }[]
}

/** Sends, checks the answer against the description, and returns its status and JSON. */
async function ask(
  method: string,
  path: string,
  { query = '', body, headers }: { query?: string; body?: unknown; headers?: Asked['headers'] },
) {
  const response = await tenant.ask(`${method} ${pathTo(path)}${query && `?${query}`}`, {
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(headers && { headers }),
  })
  const copy = response.clone()
  await description.check(method, path, response)
  const isJson = copy.headers.get('content-type')?.startsWith('application/json')
  const answered = (isJson && method !== 'HEAD' ? await copy.json() : null) as Body
  return { status: copy.status, body: answered }
}

const posts = description.operations.filter(({ method }) => method === 'POST')
const gets = description.operations.filter(({ method }) => method === 'GET')

const bodyOf = ({ operation }: (typeof posts)[number]) =>
  operation.requestBody!.content['application/json']!.schema

const named = <T extends { method: string; path: string }>(operations: T[]) =>
  operations.map(operation => [`${operation.method} ${operation.path}`, operation] as const)

/** Their places are judged one by one, or leniently, so they have tests of their own below. */
const isJudgedApart = (path: string) => path === '/events' || path.endsWith('/fingerprint')

describe('what fits the description is accepted', () => {
  test.each(named(posts))('%s', async (_, operation) => {
    const { path } = operation
    await fc.assert(
      fc.asyncProperty(generatorOf(path).valid(bodyOf(operation)), async body => {
        // A schema cannot say which steps ask which question.
        fc.pre(!JSON.stringify(body).includes('question_answered'))
        const { status } = await ask('POST', path, { body })
        expect([200, 202]).toContain(status)
      }),
      { numRuns: rounds(60) },
    )
  })

  test.each(named(gets))('%s', async (_, { path, operation }) => {
    const drawn = operation.parameters
      .filter(parameter => parameter.in === 'query')
      .map(({ name, schema }) => {
        const value = known[name] ?? generator.valid(schema)
        return [name, fc.option(value as fc.Arbitrary<string>, { nil: undefined })] as const
      })
    const isPerson = path.endsWith('/checklist-progress')
    await fc.assert(
      fc.asyncProperty(fc.record(Object.fromEntries(drawn)), async values => {
        const sent = Object.entries(values).filter(([, value]) => value !== undefined)
        if (isPerson) fc.pre(sent.length > 0)
        const query = new URLSearchParams(sent as [string, string][]).toString()
        expect((await ask('GET', path, { query })).status).toBe(200)
        expect((await ask('HEAD', path, { query })).status).toBe(200)
      }),
      { numRuns: drawn.length > 0 ? 40 : 2 },
    )
  })

  test.each(gets.filter(({ operation }) => operation.responses[304]).map(({ path }) => path))(
    'GET %s is 304 where it is known',
    async path => {
      expect((await ask('GET', path, { headers: { 'if-none-match': '*' } })).status).toBe(304)
    },
  )
})

describe('what does not fit the description is refused', () => {
  test.each(named(posts.filter(({ path }) => !isJudgedApart(path))))('%s', async (_, operation) => {
    const schema = bodyOf(operation)
    await fc.assert(
      fc.asyncProperty(generatorOf(operation.path).broken(schema), async body => {
        fc.pre(!description.fits(schema, body))
        expect((await ask('POST', operation.path, { body })).status).toBe(422)
      }),
      { numRuns: rounds(120) },
    )
  })

  test('of a batch, the events that do not fit and no others', async () => {
    const Event = { $ref: '#/components/schemas/Event' }
    const event = fc.oneof(generator.valid(Event), generator.broken(Event))
    const batch = fc.array(event, { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(batch, async events => {
        // A schema cannot say which steps ask which question.
        fc.pre(!JSON.stringify(events).includes('question_answered'))
        const { status, body } = await ask('POST', '/events', { body: { events } })
        const wrong = events.flatMap((sent, i) => (description.fits(Event, sent) ? [] : [i]))
        // `too_old` is the only reason that a broken time can have and no schema knows.
        const rejected = body.results.filter(
          ({ status, code }) => status === 'rejected' && code !== 'too_old',
        )
        expect([events, rejected.map(({ index }) => index)]).toEqual([events, wrong])
        expect(status).toBe(
          body.results.every(({ status }) => status === 'rejected') &&
            body.results.length === events.length
            ? 422
            : 202,
        )
      }),
      { numRuns: rounds(300) },
    )
  })

  test('but never a fingerprint: its odd parts are left out, and the whole is bounded', async () => {
    const path = '/steps/{step_id}/fingerprint'
    const schema = bodyOf(posts.find(operation => operation.path === path)!)
    const Fingerprint = { $ref: '#/components/schemas/Fingerprint' }
    await fc.assert(
      fc.asyncProperty(
        generator.broken(schema),
        generator.broken(Fingerprint),
        async (body, odd) => {
          await ask('POST', path, { body })
          fc.pre(typeof odd === 'object' && odd !== null && !Array.isArray(odd))
          const { matchCount } = odd as { matchCount?: unknown }
          fc.pre(
            matchCount == null || (Number.isInteger(matchCount) && (matchCount as number) >= 0),
          )
          expect((await ask('POST', path, { body: { fingerprint: odd } })).status).toBe(200)
        },
      ),
      { numRuns: rounds(120) },
    )
  })
})
