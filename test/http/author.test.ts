import { afterAll, expect, test } from 'bun:test'
import { redeemMs, visitIdleMs } from '../../src/core/organisation/ticket.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Authoring on a page: tickets, what they are exchanged for, and what a page may send with that. */

const world = new World()
afterAll(() => world.close())

const origin = 'https://app.example.com'
const steps = [{ key: 'search', title: 'Search', target: { selector: '#search' } }]
const requested = { flow: 'welcome', step: 'search', url: `${origin}/board?a=b` }

async function house(origins?: string[]) {
  const tenant = await Tenant.of(world)
  tenant.publish(tour({ key: 'welcome', steps }))
  if (origins) tenant.allowOrigins(...origins)
  const credential = await tenant.managementToken('flows:write')
  const manage = (what: string, body?: unknown) =>
    tenant.answer(`${what.split(' ')[0]} /manage/author-sessions${what.split(' ')[1] ?? ''}`, {
      credential,
      ...(body !== undefined && { body }),
    })
  const begin = async () => (await manage('POST', requested)).body
  return { tenant, credential, manage, begin }
}

/** Asks as a page does: with its origin, and a body that needs no preflight. */
async function say(
  path: string,
  body: unknown,
  { from = origin, token }: { from?: string | null; token?: string } = {},
) {
  const headers: Record<string, string> = { 'content-type': 'text/plain' }
  if (from !== null) headers.origin = from
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const request = new Request(`http://cairn.test/author/${path}`, {
    ...{ method: 'POST', headers, body: text },
  })
  const response = await world.app.handle(request)
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answers
  const answer = (await response.json()) as any
  return { status: response.status, headers: response.headers, body: answer }
}

const refused = { status: 401, body: { error: 'Unauthorized' } }
const outcome = ({ status, body }: { status: number; body: unknown }) => ({ status, body })

const pick = {
  page: `${origin}/board?secret=1#x`,
  element: 'button “Search”',
  candidates: [
    { selector: '#search', matchCount: 1 },
    { selector: '[aria-label="Board of Ann Miller"]', matchCount: 1 },
  ],
  fingerprint: { matchCount: 1, tag: 'button', text: 'Search', value: 'typed', nonsense: 1 },
}

test('a ticket can be redeemed once, for the step and the mailbox of one session', async () => {
  const { manage, begin, tenant } = await house()
  const session = await begin()
  expect(session.openAddress).toBe(`${origin}/board?a=b#cairn-author=${session.ticket}`)
  expect(session.code).toMatch(/^[A-Z]{4}$/)
  const entered = await say('redeem', { ticket: session.ticket })
  expect(entered.status).toBe(200)
  expect(entered.headers.get('access-control-allow-origin')).toBe(origin)
  const { token, ...told } = entered.body
  const draft = { title: 'Search', selector: '#search' }
  expect(told).toEqual({ task: 'pick', flow: 'welcome', step: 'search', code: session.code, draft })
  expect(outcome(await say('redeem', { ticket: session.ticket }))).toEqual(refused)
  expect(outcome(await say('redeem', { code: session.typedCode }))).toEqual(refused)
  expect(outcome(await say('step', {}, { token }))).toEqual({ status: 200, body: told })

  expect(outcome(await say('picks', pick, { token }))).toEqual({ status: 200, body: {} })
  const { body } = await manage(`GET /${session.id}`)
  expect(body).toMatchObject({ state: 'connected', code: session.code })
  expect(body.proposals).toMatchObject([
    {
      number: 1,
      page: `${origin}/board`,
      candidates: [
        { selector: '#search', grade: 'strong', weaknesses: [], mayNamePerson: false },
        { grade: 'strong', mayNamePerson: true },
      ],
    },
  ])
  expect(body.proposals[0].fingerprint).toEqual({ matchCount: 1, tag: 'button', text: 'Search' })
  // A proposal changes nothing.
  const flows = (await tenant.answer('GET /flows')).body.flows
  expect(flows[0].steps[0].target.selector).toBe('#search')

  // The API does not accept the page's token, and no other credential opens the mailbox.
  for (const what of [
    'GET /flows',
    'GET /manage/flows',
    `GET /manage/author-sessions/${session.id}`,
  ]) {
    expect(outcome(await tenant.answer(what, { credential: token }))).toEqual(refused)
  }
  await manage(`DELETE /${session.id}`)
  expect(outcome(await say('picks', pick, { token }))).toEqual(refused)
  expect(outcome(await say('step', {}, { token }))).toEqual(refused)
})

test('a ticket that is stolen, late or of no page: one answer, which tells nothing', async () => {
  const { begin, credential, manage, tenant } = await house()
  const stolen = await begin()
  expect(
    outcome(await say('redeem', { ticket: stolen.ticket }, { from: 'https://evil.example' })),
  ).toEqual(refused)
  // From then on it does not work at its own origin either, and its author sees that.
  expect(outcome(await say('redeem', { ticket: stolen.ticket }))).toEqual(refused)
  expect((await manage(`GET /${stolen.id}`)).body.state).toBe('ended')
  const { ticket } = await begin()
  expect(outcome(await say('redeem', { ticket }, { from: null }))).toEqual(refused)
  for (const body of [{}, { ticket: 'x' }, { ticket, code: 'K7Q4MD' }, { code: 'no code' }]) {
    expect(outcome(await say('redeem', body))).toEqual(refused)
  }
  for (const token of ['x', credential, tenant.key, ticket]) {
    expect(outcome(await say('step', {}, { token }))).toEqual(refused)
    expect(outcome(await say('picks', pick, { token }))).toEqual(refused)
  }
  expect(outcome(await say('step', {}))).toEqual(refused)
  world.clock.advance(redeemMs)
  expect(outcome(await say('redeem', { ticket }))).toEqual(refused)
})

test('a token works only at its origin, and ends when nobody uses it', async () => {
  const { begin } = await house()
  const { body } = await say('redeem', { ticket: (await begin()).ticket })
  const { token } = body
  for (const from of ['https://evil.example', 'http://app.example.com', 'null', null]) {
    expect(outcome(await say('step', {}, { token, from }))).toEqual(refused)
  }
  expect(
    outcome(await say('picks', { ...pick, page: 'https://evil.example/' }, { token })),
  ).toMatchObject({
    ...{ status: 422, body: { details: [{ path: '/page' }] } },
  })
  world.clock.advance(visitIdleMs)
  expect(outcome(await say('step', {}, { token }))).toEqual(refused)
})

test.each([
  ['no JSON', '{', 400],
  ['a list', [], 422],
  ['no candidates', { ...pick, candidates: [] }, 422],
  ['six of them', { ...pick, candidates: Array(6).fill(pick.candidates[0]) }, 422],
  [
    'a long selector',
    { ...pick, candidates: [{ selector: 'x'.repeat(1_001), matchCount: 1 }] },
    422,
  ],
  ['fields of its own', { ...pick, html: '<p>' }, 422],
  ['a fingerprint that is none', { ...pick, fingerprint: 1 }, 422],
  ['half a character', { ...pick, element: '\ud800' }, 422],
  ['too much', { ...pick, element: 'x'.repeat(16 * 1024) }, 413],
] as const)('a pick that has %s is refused', async (_, body, status) => {
  const { begin, manage } = await house()
  const session = await begin()
  const { token } = (await say('redeem', { ticket: session.ticket })).body
  expect((await say('picks', body, { token })).status).toBe(status)
  expect((await manage(`GET /${session.id}`)).body.proposals).toEqual([])
})

test('only pages of the origins that an organisation lists can be picked on', async () => {
  const { manage } = await house(['https://other.example'])
  const { status, body } = await manage('POST', requested)
  expect([status, body.details]).toEqual([
    422,
    [
      {
        path: '/url',
        message: 'Must have an origin that the settings of the organisation list',
      },
    ],
  ])
  expect((await manage('POST', { ...requested, url: 'https://other.example/' })).status).toBe(201)
})
