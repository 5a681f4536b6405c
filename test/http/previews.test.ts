import { afterAll, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Links to drafts: what a page may learn from one, and what nobody may. */

const world = new World()
afterAll(() => world.close())

const origin = 'https://app.example.com'
const steps = (title: string) => [{ key: 'search', title, target: { selector: '#search' } }]

async function house(origins?: string[]) {
  const tenant = await Tenant.of(world)
  tenant.publish(tour({ key: 'welcome', steps: steps('Search') }))
  if (origins) tenant.allowOrigins(...origins)
  const credential = await tenant.managementToken('flows:read', 'flows:write')
  const ask = (what: string, body?: unknown, headers: Record<string, string> = {}) =>
    tenant.answer(what, { credential, headers, ...(body !== undefined && { body }) })
  const make = async (more: object = {}) =>
    (await ask('POST /manage/previews', { flow: 'welcome', url: `${origin}/board`, ...more })).body
  return { tenant, ask, make }
}

const ticketOf = ({ link }: { link: string }) => link.split('#cairn-preview=')[1]!

/** Asks as a page does: with its origin and the ticket. */
async function look(ticket: string, from: string | null = origin) {
  const headers: Record<string, string> = { authorization: `Bearer ${ticket}` }
  if (from !== null) headers.origin = from
  const request = new Request('http://cairn.test/preview/flow', { method: 'POST', headers })
  const response = await world.app.handle(request)
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answers
  const body = (await response.json()) as any
  return { status: response.status, headers: response.headers, body }
}

const refused = { status: 401, body: { error: 'Unauthorized' } }
const outcome = ({ status, body }: { status: number; body: unknown }) => ({ status, body })

test('a link shows the current draft at each look, only to its origin, with keys as ids', async () => {
  const { make, ask } = await house()
  const made = await make()
  const first = await look(ticketOf(made))
  expect(first.status).toBe(200)
  expect(first.headers.get('access-control-allow-origin')).toBe(origin)
  expect(first.headers.get('cache-control')).toBe('no-store')
  const [step] = first.body.flow.steps
  expect([first.body.flow.id, step.id, step.title]).toEqual(['welcome', 'search', 'Search'])

  const edited = tour({ key: 'welcome', steps: steps('Find') })
  await ask('PUT /manage/flows/welcome/draft', edited, { 'if-match': '*' })
  expect((await look(ticketOf(made))).body.flow.steps[0].title).toBe('Find')

  expect(outcome(await look(ticketOf(made), 'https://evil.example'))).toEqual(refused)
  expect(outcome(await look(ticketOf(made), null))).toEqual(refused)
  expect(outcome(await look('nonsense'))).toEqual(refused)
  expect(outcome(await look(`${ticketOf(made).slice(0, -1)}!`))).toEqual(refused)
  // The mistake of another page does not invalidate the ticket.
  expect((await look(ticketOf(made))).status).toBe(200)
})

test('the ticket of a link opens nothing else, and is in no list and no audit log', async () => {
  const { make, ask, tenant } = await house()
  const made = await make()
  const ticket = ticketOf(made)
  for (const what of ['GET /flows', 'GET /manage/flows', 'GET /manage/previews']) {
    expect(outcome(await tenant.answer(what, { credential: ticket }))).toEqual(refused)
  }
  const owner = await tenant.managementToken('settings:write')
  const log = (await tenant.answer('GET /manage/audit', { credential: owner })).body
  expect(log.lines[1]).toMatchObject({ action: 'flow.preview', subject: 'welcome' })
  const told = JSON.stringify([log, (await ask('GET /manage/previews')).body])
  expect(told).not.toContain(ticket)
})

test('the page is that of the flow, or of the only origin, unless one is given', async () => {
  const { ask } = await house([origin])
  const urlOf = async (body: object) => (await ask('POST /manage/previews', body)).body.url
  expect(await urlOf({ flow: 'welcome' })).toBe(`${origin}/`)
  expect(await urlOf({ flow: 'welcome', url: '/team?tab=1' })).toBe(`${origin}/team?tab=1`)
  const named = tour({
    key: 'named',
    targeting: {
      urls: [
        { match: 'glob', pattern: '/a/**' },
        { match: 'prefix', pattern: '/b' },
      ],
    },
  })
  expect(await urlOf({ definition: named })).toBe(`${origin}/b`)
  const none = await (await house()).ask('POST /manage/previews', { flow: 'welcome' })
  expect([none.status, none.body.details[0].path]).toEqual([422, '/url'])
})

test('a snippet that is too old for previews is reported', async () => {
  const { make, tenant } = await house()
  expect((await make()).oldSnippet).toBeNull()
  await tenant.answer('GET /heartbeat?v=0.0.9')
  expect((await make()).oldSnippet).toBe('0.0.9')
  await tenant.answer('GET /heartbeat?v=0.1.0-dev')
  expect((await make()).oldSnippet).toBeNull()
})
