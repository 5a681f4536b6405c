import { afterAll, describe, expect, test } from 'bun:test'
import {
  attendedMs,
  maxBuildRequests,
  maxWaitingChanges,
  maxWaitingText,
  redeemMs,
  visitIdleMs,
} from '../../src/core/organisation/ticket.ts'
import { maxStartable } from '../../src/modules/tickets/schema.ts'
import { checklist, tour } from '../support/flows.ts'
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

describe('a page on which a draft is built', () => {
  const title = (value: unknown, step: unknown = 'search') => ({
    do: 'set',
    ...{ step, field: 'title', value },
  })
  let count = 0
  const proposed = (change: unknown, id = `change-${++count}`) => ({ id, change })

  async function building() {
    const own = await house()
    const session = (await own.manage('POST', { ...requested, task: 'build' })).body
    const { token } = (await say('redeem', { ticket: session.ticket })).body
    const read = async () => (await own.manage(`GET /${session.id}`)).body
    const settle = (number: number, undos = 0) =>
      own.manage(`PUT /${session.id}/settled`, { number, problem: null, undos })
    return { ...own, session, token, read, settle }
  }

  test('proposes changes, which wait for the dashboard, and change nothing by themselves', async () => {
    const { token, read, settle, tenant } = await building()
    const first = await say('draft', {}, { token })
    expect(first.body).toMatchObject({ isAttended: true, waiting: [], problem: null, undos: 0 })
    expect(first.body.flow.steps).toMatchObject([{ id: 'search', key: 'search', title: 'Search' }])
    const known = await say('draft', { known: first.body.tag }, { token })
    expect(known.body.flow).toBeUndefined()

    expect(outcome(await say('changes', proposed(title('Find'), 'change-a'), { token }))).toEqual({
      status: 200,
      body: {},
    })
    expect((await read()).changes).toMatchObject([{ number: 1, change: title('Find') }])
    expect((await say('draft', {}, { token })).body).toMatchObject({ waiting: ['change-a'] })
    const { flows } = (await tenant.answer('GET /flows')).body
    expect(flows[0].steps[0].title).toBe('Search')

    await settle(1, 1)
    expect((await read()).changes).toEqual([])
    expect((await say('draft', {}, { token })).body).toMatchObject({ waiting: [], undos: 1 })
    // Sent once more, it is not taken once more, before it is settled or after.
    await say('changes', proposed(title('Find'), 'change-a'), { token })
    expect((await read()).changes).toEqual([])
  })

  test('shows when nobody has the editor open', async () => {
    const { token, read } = await building()
    await read()
    world.clock.advance(attendedMs)
    expect((await say('draft', {}, { token })).body.isAttended).toBe(false)
    await read()
    expect((await say('draft', {}, { token })).body.isAttended).toBe(true)
  })

  test('gets nothing with a stolen ticket, a token of another page, or from another origin', async () => {
    const { manage, begin, session, token, read } = await building()
    const picking = (await say('redeem', { ticket: (await begin()).ticket })).body.token
    const stolen = (await manage('POST', { ...requested, task: 'build' })).body.ticket
    const evil = 'https://evil.example'
    expect(outcome(await say('redeem', { ticket: stolen }, { from: evil }))).toEqual(refused)
    const attempts = [
      { token, from: evil },
      { token, from: null },
      { token: stolen },
      { token: picking },
      { token: session.ticket },
      {},
    ]
    for (const attempt of attempts) {
      expect(outcome(await say('draft', {}, attempt))).toEqual(refused)
      expect(outcome(await say('changes', proposed(title('x')), attempt))).toEqual(refused)
    }
    expect((await read()).changes).toEqual([])
    await manage(`DELETE /${session.id}`)
    expect(outcome(await say('draft', {}, { token }))).toEqual(refused)
    expect(outcome(await say('changes', proposed(title('x')), { token }))).toEqual(refused)
  })

  test.each<[what: string, change: unknown, status?: number]>([
    ['publishes', { do: 'publish' }],
    ['is for another flow', { ...title('x'), flow: 'other' }],
    ['sets the key', { ...title('x'), field: 'key' }],
    ['sets who sees the step', { ...title([]), field: 'when' }],
    ['sets a field of the flow', { ...title('x'), field: 'targeting' }],
    ['names a step that no flow can have', title('x', '../other')],
    ['sets a text that is none', title({ text: 'x' })],
    ['sets a title that is too long', title('x'.repeat(201))],
    ['sets half a character', title('\ud800')],
    [
      'leads to a script',
      {
        ...title([{ label: 'Go', action: 'link', href: 'javascript:alert(1)' }]),
        field: 'buttons',
      },
    ],
    ['loads an image by a script', { ...title({ image: 'javascript:alert(1)' }), field: 'media' }],
    ['loads an image as data', { ...title({ image: 'data:image/svg+xml,x' }), field: 'media' }],
    ['has a long selector', { do: 'target', step: 'a', target: { selector: 'x'.repeat(1_001) } }],
    [
      'adds a step with more',
      { do: 'add', after: null, step: { key: 'a', title: '', target: null, body: 'x' } },
    ],
    ['moves with more', { do: 'move', step: 'a', after: null, to: 1 }],
    ['is a list', []],
    ['is too large', title('x'.repeat(64 * 1024)), 413],
  ])('is refused a change that %s', async (_, change, status = 422) => {
    const { token, read } = await building()
    expect((await say('changes', proposed(change), { token })).status).toBe(status)
    expect((await read()).changes).toEqual([])
  })

  test('may name the flows that a button can start: those that visitors get, and nothing of them', async () => {
    const { tenant, token } = await building()
    tenant.publish(checklist({ key: 'start', name: 'Getting started' }))
    tenant.publish(tour({ key: 'billing', name: 'Billing' }))
    tenant.publish({
      key: 'help',
      kind: 'launcher',
      name: 'Help',
      launcher: { items: [{ key: 'docs', title: 'Docs', href: '/docs' }] },
    })
    tenant.publish(tour({ key: 'gone', name: 'Gone' }))
    tenant.withdraw('gone', 'archived')
    // A draft has another name than what visitors get, or is all that there is.
    tenant.push(tour({ key: 'billing', name: 'Secret plan' }))
    tenant.push(tour({ key: 'secret', name: 'Secret' }))
    const other = await Tenant.of(world)
    other.publish(tour({ key: 'theirs', name: 'Theirs' }))
    const { body } = await say('draft', {}, { token })
    expect(body.startable).toEqual([
      { key: 'billing', name: 'Billing', kind: 'tour' },
      { key: 'start', name: 'Getting started', kind: 'checklist' },
    ])
    expect(JSON.stringify(body)).not.toMatch(/secret|theirs|gone/i)
    // A page that has the draft is not sent them again.
    expect((await say('draft', { known: body.tag }, { token })).body.startable).toBeUndefined()
  })

  test('is sent the names of so many flows at most', async () => {
    const { tenant, token } = await building()
    for (let i = 0; i <= maxStartable; i++) tenant.publish(tour({ key: `flow-${i}` }))
    expect((await say('draft', {}, { token })).body.startable).toHaveLength(maxStartable)
  })

  test('may propose texts that look like HTML or scripts, which nothing reads as such', async () => {
    const { token, read } = await building()
    const hostile = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u202e'
    const body = { ...title(hostile), field: 'body' }
    expect((await say('changes', proposed(body), { token })).status).toBe(200)
    expect((await read()).changes).toMatchObject([{ change: body }])
  })

  test('has a bounded mailbox', async () => {
    const { token, read, settle } = await building()
    for (let i = 0; i < maxWaitingChanges; i++) {
      if (i % 10 === 0) world.clock.advance(1_000)
      expect((await say('changes', proposed(title(`${i}`)), { token })).status).toBe(200)
    }
    expect(await say('changes', proposed(title('more')), { token })).toMatchObject({
      status: 409,
      body: { code: 'too_many_changes' },
    })
    await settle(maxWaitingChanges)
    world.clock.advance(1_000)
    // Few, but long ones.
    const long = { ...title('x'.repeat(10_000)), field: 'body' }
    const statuses: number[] = []
    for (let i = 0; i < 20; i++)
      statuses.push((await say('changes', proposed(long), { token })).status)
    expect(new Set(statuses)).toEqual(new Set([200, 409]))
    const { changes } = await read()
    expect(JSON.stringify(changes).length).toBeLessThanOrEqual(maxWaitingText)
  })

  test('is slowed down if it asks too often', async () => {
    const { token } = await building()
    const statuses: number[] = []
    for (let i = 0; i <= maxBuildRequests; i++) {
      statuses.push((await say('draft', { known: 'x' }, { token })).status)
    }
    expect(statuses.filter(status => status === 200)).toHaveLength(maxBuildRequests)
    expect(statuses.at(-1)).toBe(429)
    world.clock.advance(1_000)
    expect((await say('draft', {}, { token })).status).toBe(200)
  })

  test('has changes that only the author who started it can settle', async () => {
    const { tenant, session, token, read } = await building()
    await say('changes', proposed(title('x')), { token })
    const other = await tenant.managementToken('flows:write')
    const path = `PUT /manage/author-sessions/${session.id}/settled`
    const body = { number: 1, problem: null, undos: 0 }
    expect((await tenant.answer(path, { credential: other, body })).status).toBe(404)
    expect((await tenant.answer(path, { credential: token, body })).status).toBe(401)
    expect((await read()).changes).toHaveLength(1)
  })
})
