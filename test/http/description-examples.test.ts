import { afterAll, describe, expect, test } from 'bun:test'
import type { JsonSchema } from '../../src/core/flow/schema.ts'
import { Description, type Document } from '../support/described.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/**
 * The description's examples of requests are true: sent as they are, with only the ids of a new
 * organisation put in, each succeeds, at any time.
 */

const worlds: World[] = []
afterAll(() => Promise.all(worlds.map(world => world.close())))

/** A new organisation with one flow, published once, in a world at the given time. */
async function newcomer(wallMs: number) {
  const world = new World()
  worlds.push(world)
  world.clock.wallMs = wallMs
  const tenant = await Tenant.of(world)
  tenant.limit({ events: 1e5, flows: 1e5, fingerprint: 1e5, health: 1e5, heartbeat: 1e5 })
  const items = [{ key: 'invite-team', title: 'Invite your team' }]
  const flow = tenant.publish({ ...tour(), checklist: { items } })
  const description = new Description(
    (await tenant.answer('GET /openapi.json')).body as unknown as Document,
  )
  const withIds = (text: string) =>
    text
      .replaceAll('flow_8dPqM2xKc5VnTs1Ya0', flow.id)
      .replaceAll('step_oS7uAWwXw1gOJgTNdr', flow.steps[0]!.id)
      .replaceAll('item_Zt3kYv0Qb2nRfLx8Pw', flow.checklist!.items[0]!.id)
  return { tenant, description, withIds }
}

const firstOf = ({ examples }: JsonSchema) => (examples as unknown[] | undefined)?.[0]

/** An example, and for each field of the schema the same example with that field's own example. */
function* variantsOf(description: Description, schema: JsonSchema, example: object) {
  yield example
  const { properties = {} } = description.resolved(schema) as {
    properties?: Record<string, JsonSchema>
  }
  for (const [name, field] of Object.entries(properties)) {
    const own = firstOf(description.resolved(field))
    if (own !== undefined) yield { ...example, [name]: own }
  }
}

describe.each([
  ['in November 2026', Date.UTC(2026, 10, 21)],
  ['a year before', Date.UTC(2025, 10, 21)],
  ['ten years later', Date.UTC(2036, 10, 21)],
])('for an organisation that is new %s', async (_, wallMs) => {
  const { tenant, description, withIds } = await newcomer(wallMs)

  test('every body succeeds, as JSON and as text', async () => {
    let sent = 0
    for (const { method, path, operation } of description.operations) {
      const parameters = operation.parameters.filter(({ in: place }) => place === 'path')
      const to = parameters.reduce(
        (whole, { name, schema }) => whole.replace(`{${name}}`, firstOf(schema) as string),
        path,
      )
      for (const [type, { schema, example }] of Object.entries(
        operation.requestBody?.content ?? {},
      )) {
        const isText = type === 'text/plain'
        const bodies = isText
          ? [example as string]
          : [...variantsOf(description, schema, example as object)].map(body =>
              JSON.stringify(body),
            )
        for (const body of bodies) {
          const response = await tenant.ask(withIds(`${method} ${to}`), {
            body: withIds(body),
            headers: { 'content-type': type },
          })
          const text = await response.text()
          expect([path, body, response.status, text]).toEqual([
            path,
            body,
            path === '/events' || path.endsWith('/health') ? 202 : 200,
            text,
          ])
          sent++
        }
      }
    }
    expect(sent).toBeGreaterThan(20)
  })

  test('every event is kept with each field’s own example, and no clock counts as wrong', async () => {
    const Event = { $ref: '#/components/schemas/Event' }
    const example = firstOf(description.resolved(Event)) as object
    for (const event of variantsOf(description, Event, example)) {
      const { status, body } = await tenant.answer('POST /events', {
        body: withIds(JSON.stringify({ events: [event] })),
      })
      expect([event, status, body]).toMatchObject([event, 202, { rejected: 0, skewMs: null }])
    }
  })

  test('every path and query succeeds', async () => {
    for (const { method, path, operation } of description.operations) {
      if (method !== 'GET') continue
      const query = new URLSearchParams()
      let to = path
      for (const { name, in: place, schema } of operation.parameters) {
        const own = firstOf(schema) as string
        if (place === 'path') to = to.replace(`{${name}}`, own)
        if (place === 'query' && own !== undefined) query.set(name, own)
      }
      const { status } = await tenant.ask(`GET ${withIds(to)}?${query}`)
      expect([path, `${query}`, status]).toEqual([path, `${query}`, 200])
    }
  })
})
