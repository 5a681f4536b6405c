import { afterAll, describe, expect, test } from 'bun:test'
import { roles, scopesOfRole } from '../../src/core/organisation/access.ts'
import { newDashboardSecret } from '../../src/core/organisation/sessions.ts'
import { dayMs, hourMs, minuteMs } from '../../src/core/time/durations.ts'
import { cookieNamed } from '../../src/http/own-pages.ts'
import { linkCode, ownPage, Visitor } from '../support/dashboard-visitor.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Sign-in to the dashboard: who gets in, what cookie and token open, and when a session ends. */

const world = new World()
afterAll(() => world.close())

const tenant = await Tenant.of(world)
const other = await Tenant.of(world)
const flow = tenant.publish(tour())
for (const one of [tenant, other]) one.limit({ manage: 1e6, analytics: 1e6, export: 1e6 })

test.each([
  ['cairn=a', 'a'],
  ['x=1; cairn=a; y=2', 'a'],
  ['x=1;\tcairn= a ;cairn=b', 'a'],
  ['cairn=', ''],
  ['xcairn=a; cairn-sign-in=b; x="cairn=c"', null],
  ['x=1; cairn; =cairn', null],
  [`${';'.repeat(60_000)}cairn=a`, 'a'],
])("the session's cookie is found among others: %#", (cookies, value) => {
  expect(cookieNamed(cookies, 'cairn')).toBe(value)
})

const unauthorized = '{"error":"Unauthorized"}'
const analytics = `GET /flows/${flow.id}/analytics`

/** Status, body and headers of an answer, without the headers that differ in every answer. */
async function seen(response: Response | Promise<Response>) {
  const { status, headers } = await response
  const varying = ['x-request-id', 'x-ratelimit-reset']
  return {
    status,
    headers: [...headers].filter(([name]) => !varying.includes(name)),
    body: await (await response).text(),
  }
}

/** The answer to a request that sends no credential at all. */
const rejectionOf = (what: string) => seen(tenant.ask(what, { credential: null }))

describe('a link', () => {
  test.each(roles.map(role => [role]))('lets a %s in, with the scopes of that role', async role => {
    const visitor = await Visitor.of(tenant, role)
    const { body } = await visitor.ask('token')
    expect(body).toMatchObject({
      role,
      organisation: { id: tenant.organisation.id, slug: tenant.organisation.slug },
      person: { name: 'Sign-in link (made on the server by operator)' },
    })
    const me = await (await visitor.api('GET /manage/me')).json()
    expect(me).toMatchObject({ kind: 'session', scopes: [...scopesOfRole[role]] })
    expect((await visitor.api(analytics)).status).toBe(200)
    const refused = await visitor.api('GET /manage/tokens')
    expect(refused.status).toBe(role === 'owner' || role === 'operator' ? 200 : 403)
    const ofServer = await visitor.api('GET /manage/server')
    expect(ofServer.status).toBe(role === 'operator' ? 200 : 403)
  })

  test('works for ten minutes, and a made-up one never works', async () => {
    const code = await linkCode(tenant, 'owner')
    world.clock.advance(10 * minuteMs)
    for (const wrong of [code, newDashboardSecret(), '', 'x', `${code} `]) {
      const { status, body } = await new Visitor(tenant).redeem({ code: wrong })
      expect([wrong, status, JSON.stringify(body)]).toEqual([wrong, 401, unauthorized])
    }
  })

  test('for the operator can be made only at the machine, not by an operator in a browser', async () => {
    const visitor = await Visitor.of(tenant, 'operator')
    const make = (role: string) => visitor.api('POST /manage/dashboard/links', {}, { role })
    expect((await make('owner')).status).toBe(201)
    expect((await make('operator')).status).toBe(403)
  })

  test('and who used it are in the audit log; its code and the cookie are nowhere', async () => {
    const code = await linkCode(tenant, 'editor', 'Ann')
    const visitor = new Visitor(tenant)
    await visitor.redeem({ code })
    const { body } = await tenant.answer('GET /manage/audit', { asOperator: true })
    expect((body as { lines: object[] }).lines.slice(0, 2)).toMatchObject([
      {
        via: 'dashboard',
        actor: 'Ann',
        action: 'dashboard.sign_in',
        after: { role: 'editor', by: 'link' },
      },
      { via: 'command line', action: 'dashboard.link', after: { role: 'editor', name: 'Ann' } },
    ])
    const dump = JSON.stringify(
      ['audit_log', 'dashboard_links', 'dashboard_sessions'].map(table =>
        world.database.query(`select * from ${table}`).all(),
      ),
    )
    for (const secret of [code, visitor.cookie!.split('=')[1]!]) expect(dump).not.toContain(secret)
  })
})

describe('a pasted session token', () => {
  test('lets a viewer in, until the token expires', async () => {
    const { token } = await world.tokens.issue(tenant.organisation.id, 3_600)
    const visitor = new Visitor(tenant)
    expect((await visitor.redeem({ token })).body).toMatchObject({
      organisation: { slug: tenant.organisation.slug },
    })
    await visitor.refresh()
    expect((await visitor.ask('token')).body).toMatchObject({
      role: 'viewer',
      endsAt: new Date(world.clock.now() + hourMs - (world.clock.now() % 1_000)).toISOString(),
    })
    world.clock.advance(hourMs)
    expect((await visitor.ask('token')).status).toBe(401)
  })

  test('that is not valid lets nobody in, nor does the dashboard’s own token', async () => {
    const visitor = await Visitor.of(tenant, 'owner')
    for (const token of ['', 'a.b.c', tenant.key, visitor.token!]) {
      const { status, body, headers } = await new Visitor(tenant).redeem({ token })
      expect([status, JSON.stringify(body)]).toEqual([401, unauthorized])
      expect(headers.getSetCookie()).toEqual([])
    }
  })
})

describe('the cookie', () => {
  test('cannot be read by scripts, is sent only from our own pages, and over TLS cannot be set by others', async () => {
    const cookieAt = async (origin: string) => {
      const code = await linkCode(tenant, 'viewer')
      const { headers } = await new Visitor(tenant).redeem({ code }, { origin })
      return headers.getSetCookie()[0]!.replace(/=[^;]{43};/, '=…;')
    }
    expect(await cookieAt('https://cairn.test')).toBe(
      '__Host-cairn=…; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Strict',
    )
    expect(await cookieAt('http://cairn.test')).toBe(
      'cairn=…; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict',
    )
  })
})

describe('cookie and token', () => {
  const routes = [
    ['analytics', analytics],
    ['their export', `${analytics}/export.csv`],
    ['what every manager may', 'GET /manage/me'],
    ['what needs a scope', 'GET /manage/tokens'],
  ] as const

  test.each(routes)('%s takes only both together', async (_, what) => {
    const visitor = await Visitor.of(tenant, 'owner')
    const another = await Visitor.of(tenant, 'owner')
    const foreign = await Visitor.of(other, 'owner')
    const rejection = await rejectionOf(what)
    expect((await visitor.api(what)).status).toBe(200)
    const halves: [string, Promise<Response>][] = [
      ['the cookie alone', visitor.api(what, { authorization: undefined })],
      ['the token alone', tenant.ask(what, { credential: visitor.token })],
      ['a cookie of another session', visitor.api(what, { cookie: another.cookie! })],
      ['a cookie of another organisation', visitor.api(what, { cookie: foreign.cookie! })],
      ['a cookie of nobody', visitor.api(what, { cookie: `cairn=${newDashboardSecret()}` })],
      ['a page of a sibling', visitor.api(what, { 'sec-fetch-site': 'same-site' })],
      ['a page of another site', visitor.api(what, { 'sec-fetch-site': 'cross-site' })],
    ]
    for (const [half, answer] of halves) {
      const { status, body, headers } = await seen(answer)
      expect([half, status, body, headers]).toEqual([
        half,
        rejection.status,
        rejection.body,
        rejection.headers,
      ])
    }
    const foreignPage = await visitor.api(what, {
      'sec-fetch-site': undefined,
      origin: 'http://app.test',
    })
    expect([foreignPage.status, await foreignPage.text()]).toEqual([401, unauthorized])
  })

  test('neither opens a route of the snippet', async () => {
    const visitor = await Visitor.of(tenant, 'owner')
    expect(await seen(visitor.api('GET /flows'))).toEqual(await rejectionOf('GET /flows'))
  })

  test('the token works for five minutes, and no longer', async () => {
    const visitor = await Visitor.of(tenant, 'owner')
    world.clock.advance(5 * minuteMs - 1_000)
    expect((await visitor.api('GET /manage/me')).status).toBe(200)
    world.clock.advance(1_000)
    expect((await visitor.api('GET /manage/me')).status).toBe(401)
    await visitor.refresh()
    expect((await visitor.api('GET /manage/me')).status).toBe(200)
  })

  test('a token that analysts have is not a dashboard token, whatever it claims', async () => {
    const visitor = await Visitor.of(tenant, 'owner')
    const [head, claims] = visitor.token!.split('.')
    const hmac = new Bun.CryptoHasher('sha256', world.secret)
    const forged = `${head}.${claims}.${hmac.update(`${head}.${claims}`).digest('base64url')}`
    visitor.token = forged
    expect((await visitor.api('GET /manage/me')).status).toBe(401)
    visitor.token = tenant.token
    expect((await visitor.api('GET /manage/me')).status).toBe(401)
    expect((await visitor.api(analytics)).status).toBe(200)
  })
})

describe('the dashboard’s own routes', () => {
  const actions = [
    ['token', {}],
    ['sign-out', { everywhere: false }],
  ] as const

  test.each(actions)('%s: only for our own pages', async (action, body) => {
    const visitor = await Visitor.of(tenant, 'owner')
    const path = `/dashboard/session/${action}`
    const { 'sec-fetch-site': _, ...unsaid } = ownPage
    const { 'cairn-dashboard': __, ...unmarked } = ownPage
    const wrong: Record<string, string>[] = [
      { ...ownPage, 'sec-fetch-site': 'same-site' },
      { ...ownPage, 'sec-fetch-site': 'cross-site', origin: 'http://cairn.test' },
      { ...ownPage, 'sec-fetch-site': 'none' },
      { ...unmarked },
      { ...unsaid },
      { ...unsaid, origin: 'http://app.test' },
      { ...unsaid, origin: 'null' },
    ]
    for (const headers of wrong) {
      const response = await visitor.fetch('POST', path, { body, headers })
      expect([headers, response.status, await response.text()]).toEqual([
        headers,
        401,
        unauthorized,
      ])
      expect(
        [...response.headers.keys()].filter(name => /^(access-control|set-cookie)/.test(name)),
      ).toEqual([])
    }
    const host = { host: 'cairn.test', origin: 'http://cairn.test' }
    const requested = { body, headers: { ...unsaid, ...host } }
    expect((await visitor.fetch('POST', path, requested)).status).toBe(200)
  })

  test('a link’s code can be redeemed only by our own pages', async () => {
    const code = await linkCode(tenant, 'owner')
    const visitor = new Visitor(tenant)
    const away = { 'sec-fetch-site': 'cross-site' }
    expect((await visitor.redeem({ code }, away)).status).toBe(401)
    expect((await visitor.redeem({ code })).status).toBe(200)
  })

  test('a body of more than 20 KiB is not read, and one of another shape is refused', async () => {
    const visitor = new Visitor(tenant)
    expect((await visitor.ask('redeem', { token: 'x'.repeat(30_000) })).status).toBe(413)
    expect((await visitor.ask('redeem', { code: 1 })).status).toBe(422)
    expect((await visitor.ask('redeem', { code: 'x', more: 1 })).status).toBe(422)
    expect((await visitor.ask('redeem', {})).status).toBe(401)
  })

  test('requests are counted for the organisation', async () => {
    const busy = await Tenant.of(world)
    busy.limit({ manage: 3 })
    const visitor = await Visitor.of(busy)
    for (let i = 0; i < 2; i++) expect((await visitor.ask('token')).status).toBe(200)
    expect((await visitor.ask('token')).status).toBe(429)
  })
})

describe('a session ends', () => {
  const isIn = async (visitor: Visitor) => [
    (await visitor.api('GET /manage/me')).status,
    (await visitor.ask('token')).status,
  ]

  test('after eight hours without a request, and not before', async () => {
    const visitor = await Visitor.of(tenant)
    world.clock.advance(7 * hourMs)
    await visitor.refresh()
    await world.written()
    world.clock.advance(7 * hourMs)
    await visitor.refresh()
    await world.written()
    world.clock.advance(8 * hourMs)
    expect(await isIn(visitor)).toEqual([401, 401])
  })

  test('after a day, however active it is', async () => {
    const visitor = await Visitor.of(tenant)
    for (let hours = 0; hours < 23; hours += 1) {
      world.clock.advance(hourMs)
      await visitor.refresh()
      await world.written()
    }
    world.clock.advance(hourMs - 60_000)
    const { body } = await visitor.ask('token')
    const { expiresAt, endsAt } = body as { expiresAt: string; endsAt: string }
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.parse(endsAt))
    world.clock.advance(60_000)
    expect(await isIn(visitor)).toEqual([401, 401])
  })

  test('by signing out: at once, and only that one', async () => {
    const [visitor, another] = [await Visitor.of(tenant), await Visitor.of(tenant)]
    const { cookie } = visitor
    expect((await visitor.ask('sign-out', { everywhere: false })).body).toEqual({
      goTo: null,
    } as never)
    expect(visitor.cookie).toBeNull()
    visitor.cookie = cookie
    expect(await isIn(visitor)).toEqual([401, 401])
    expect(await isIn(another)).toEqual([200, 200])
  })

  test('and leaves nothing behind after the next sweep', async () => {
    const rows = () =>
      world.database
        .query<{ n: number }, []>(
          `select (select count(*) from dashboard_sessions) + (select count(*) from dashboard_links) as n`,
        )
        .get()?.n
    await Visitor.of(tenant)
    await linkCode(tenant, 'viewer')
    expect(rows()).toBeGreaterThan(0)
    world.clock.advance(2 * dayMs)
    await world.retainAll()
    expect(rows()).toBe(0)
  })
})

test('a change by somebody who is signed in is noted under their name', async () => {
  const visitor = await Visitor.of(tenant, 'owner', 'Ann')
  const answer = await visitor.api('PATCH /manage/settings', {}, { retentionDays: 40 })
  expect(answer.status).toBe(200)
  const { body } = await tenant.answer('GET /manage/audit', { asOperator: true })
  expect((body as { lines: object[] }).lines[0]).toMatchObject({
    ...{ via: 'dashboard', actor: 'Ann', action: 'settings.change' },
    after: { retentionDays: 40 },
  })
})

test('without a dashboard none of its routes exist', async () => {
  const bare = new World({ dashboard: null })
  const alone = await Tenant.of(bare)
  const visitor = new Visitor(alone)
  for (const path of ['token', 'redeem', 'sign-out', 'ways']) {
    expect((await visitor.ask(path)).status).toBe(404)
  }
  const requested = { asOperator: true, body: { role: 'viewer' } }
  expect((await alone.answer('POST /manage/dashboard/links', requested)).status).toBe(404)
  await bare.close()
})

describe('a flow’s numbers as CSV', () => {
  const { slug, id } = tenant.organisation
  const at = (org: string, key = 'welcome', query = '?from=2026-11-01&to=2026-11-02') =>
    `/dashboard/${org}/flows/${key}/export.csv${query}`
  const navigation = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }

  test('can be downloaded by a link when signed in, byte for byte as from the API', async () => {
    const visitor = await Visitor.of(tenant)
    const query = '?from=2026-11-01&to=2026-11-02'
    const byToken = await tenant.ask(`GET /flows/${flow.id}/analytics/export.csv${query}`)
    const expected = await byToken.bytes()
    for (const org of [slug, id]) {
      for (const site of ['same-origin', 'none']) {
        const headers = { ...navigation, 'sec-fetch-site': site }
        const answer = await visitor.fetch('GET', at(org), { headers })
        expect([site, answer.status]).toEqual([site, 200])
        expect(await answer.bytes()).toEqual(expected)
        for (const name of ['content-type', 'content-disposition']) {
          expect(answer.headers.get(name)).toBe(byToken.headers.get(name))
        }
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
      }
    }
    const rows = await visitor.fetch('GET', `${at(slug)}&rows=runs`, { headers: navigation })
    expect(rows.status).toBe(200)
    const wrong = await visitor.fetch('GET', at(slug, 'welcome', '?from=x'), {
      headers: navigation,
    })
    expect(wrong.status).toBe(422)
  })

  test('are refused to pages of other origins, siblings included, and without sign-in', async () => {
    const visitor = await Visitor.of(tenant)
    const wrong: [Visitor, string, Record<string, string>][] = [
      [visitor, at(slug), { 'sec-fetch-site': 'same-site' }],
      [visitor, at(slug), { 'sec-fetch-site': 'cross-site' }],
      [visitor, at(slug), { origin: 'http://app.test' }],
      [visitor, at(other.organisation.slug), navigation],
      [new Visitor(tenant), at(slug), navigation],
    ]
    for (const [who, path, headers] of wrong) {
      const answer = await who.fetch('GET', path, { headers })
      expect([path, headers, answer.status, await answer.text()]).toEqual([
        path,
        headers,
        401,
        unauthorized,
      ])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    const unknown = await visitor.fetch('GET', at(slug, 'nothing'), { headers: navigation })
    expect(unknown.status).toBe(404)
  })
})
