import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { builtBinary, type Server, Workplace, withTour } from '../support/binary.ts'
import {
  audience,
  dashboardClient,
  freePort,
  Provider,
  type SigningKey,
  signedWith,
  signingKey,
} from '../support/identity-provider.ts'

/** The binary's dashboard with a real OpenID provider, which rotates keys, goes away and signs people out. */

let keys: SigningKey[]
let rotated: SigningKey
let provider: Provider
let place: Workplace
let acme: { id: string; slug: string }
let settings: Record<string, string>
let publicUrl: string

/** On the port that the provider knows. */
const serve = () => place.serve(['--port', new URL(publicUrl).port], settings)

let server: Server
beforeAll(async () => {
  await builtBinary()
  keys = await Promise.all([signingKey('RS256', 'rs'), signingKey('ES256', 'es')])
  rotated = await signingKey('RS256', 'rotated')
  provider = await Provider.start(keys)
  place = new Workplace()
  acme = await withTour(place)
  publicUrl = `http://127.0.0.1:${await freePort()}`
  await Bun.write(`${place.folder}/client-secret`, `${dashboardClient.secret}\n`)
  settings = {
    CAIRN_PUBLIC_URL: publicUrl,
    CAIRN_SESSION_ISSUER: provider.issuer,
    CAIRN_SESSION_AUDIENCE: audience,
    CAIRN_OIDC_CLIENT_ID: dashboardClient.id,
    CAIRN_OIDC_CLIENT_SECRET_FILE: `${place.folder}/client-secret`,
  }
  provider.serveDashboard(publicUrl)
  server = await serve()
})
afterAll(async () => {
  await provider.stop()
  await place.close()
})

beforeEach(async () => {
  const claims = { org: acme.slug, name: 'Ann Lee', cairn_role: ['x', 'cairn-editor'] }
  provider.person = { sub: 'ann', claims }
  await provider.use(keys)
})

/** A browser, as far as signing in needs one: it keeps cookies and follows where it is sent. */
class Browser {
  private readonly cookies = new Map<string, string>()

  async get(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const jar = [...this.cookies].filter(([name]) => name.startsWith(`${origin} `))
    const cookie = jar
      .map(([name, value]) => `${name.slice(origin.length + 1)}=${value}`)
      .join('; ')
    const headers = new Headers(init.headers)
    if (cookie !== '') headers.set('cookie', cookie)
    const response = await fetch(url, { ...init, headers, redirect: 'manual', keepalive: false })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      const isGone = value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(set)
      if (isGone) this.cookies.delete(`${origin} ${name}`)
      else this.cookies.set(`${origin} ${name}`, value)
    }
    return response
  }

  /** Follows redirects. Returns all addresses; the last one redirects no further, or is the end and not asked. */
  async follow(url: string, isEnd: (url: string) => boolean = () => false): Promise<string[]> {
    const places = [url]
    for (let at = url; !isEnd(at); ) {
      const location = (await this.get(at)).headers.get('location')
      if (location === null) break
      at = new URL(location, at).href
      places.push(at)
    }
    return places
  }

  /** Asks as a page of the dashboard does. */
  async ask(action: string, body: unknown = {}) {
    const response = await this.get(`${publicUrl}/dashboard/session/${action}`, {
      method: 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        'cairn-dashboard': '1',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as never }
  }

  async isIn(): Promise<boolean> {
    return (await this.ask('token')).status === 200
  }

  cookieOf(name: string): string | undefined {
    return this.cookies.get(`${publicUrl} ${name}`)
  }

  keep(name: string, value: string): void {
    this.cookies.set(`${publicUrl} ${name}`, value)
  }
}

const begin = (to = '') =>
  `${publicUrl}/dashboard/sign-in/provider${to && `?to=${encodeURIComponent(to)}`}`
const isCallback = (url: string) => url.startsWith(`${publicUrl}/dashboard/sign-in/callback`)
const isDashboard = (url: string) =>
  url.startsWith(`${publicUrl}/dashboard/`) && !/\/(provider|callback)/.test(new URL(url).pathname)
const problem = (code: string) => `${publicUrl}/dashboard/sign-in?problem=${code}`

/** Signs somebody in, and returns the address where they end up. */
async function signIn(browser = new Browser(), to = ''): Promise<string> {
  return (await browser.follow(begin(to), isDashboard)).at(-1)!
}

/** Signs in up to the provider's redirect back to Cairn, and returns its address without asking for it. */
const upToCallback = async (browser: Browser) => (await browser.follow(begin(), isCallback)).at(-1)!

describe('somebody who signs in', () => {
  test('lands where they wanted to go, with the provider’s organisation, name and role', async () => {
    const ways = await (await fetch(`${publicUrl}/dashboard/session/ways`)).json()
    const provider = { name: '127.0.0.1', beginsAt: begin('') }
    expect(ways).toEqual({ provider, link: true, token: true })
    const browser = new Browser()
    const end = await signIn(browser, 'acme/flows?from=2026-11-01')
    expect(end).toBe(`${publicUrl}/dashboard/acme/flows?from=2026-11-01`)
    expect((await browser.ask('token')).body).toMatchObject({
      role: 'editor',
      person: { name: 'Ann Lee' },
      organisation: { slug: acme.slug },
    })
    expect(browser.cookieOf('cairn-sign-in')).toBeUndefined()
    const lines = await place.json<object[]>(['audit'])
    expect(lines[0]).toMatchObject({
      via: 'dashboard',
      actor: 'Ann Lee',
      action: 'dashboard.sign_in',
    })
  })

  test.each([
    ['another host', 'https://evil.example/dashboard/'],
    ['another host by this scheme', '//evil.example/dashboard/'],
    ['another host by a backslash', '/\\evil.example'],
    ['the manual', '/docs'],
    ['above the dashboard', '../docs'],
    ['a script', 'javascript:alert(1)'],
    ['too far', `acme/${'x'.repeat(2_000)}`],
  ])('and wanted to go to %s goes to the dashboard', async (_, to) => {
    expect(await signIn(new Browser(), to)).toBe(`${publicUrl}/dashboard/`)
  })
})

describe('nobody is signed in', () => {
  test('by a callback that is sent again or comes from another browser', async () => {
    const browser = new Browser()
    const callback = await upToCallback(browser)
    const transaction = browser.cookieOf('cairn-sign-in')!
    const stranger = new Browser()
    expect((await stranger.follow(callback, isDashboard)).at(-1)).toBe(problem('expired'))
    expect((await browser.follow(callback, isDashboard)).at(-1)).toBe(`${publicUrl}/dashboard/`)
    expect((await stranger.follow(callback, isDashboard)).at(-1)).toBe(problem('expired'))
    // Even with the cookie that the browser kept meanwhile, because the provider accepts no code twice.
    stranger.keep('cairn-sign-in', transaction)
    expect((await stranger.follow(callback, isDashboard)).at(-1)).toBe(problem('refused'))
    expect(await stranger.isIn()).toBe(false)
    stranger.keep('cairn-sign-in', `${transaction.slice(0, -4)}AAAA`)
    expect((await stranger.follow(callback, isDashboard)).at(-1)).toBe(problem('expired'))
  })

  test('by the state, the issuer or the code of another sign-in', async () => {
    const changed = async (name: string, value: string | null) => {
      const browser = new Browser()
      const callback = new URL(await upToCallback(browser))
      if (value === null) callback.searchParams.delete(name)
      else callback.searchParams.set(name, value)
      const end = (await browser.follow(callback.href, isDashboard)).at(-1)
      expect(await browser.isIn()).toBe(false)
      return end
    }
    expect(await changed('state', 'another')).toBe(problem('mismatch'))
    expect(await changed('state', null)).toBe(problem('mismatch'))
    expect(await changed('iss', 'https://evil.example')).toBe(problem('mismatch'))
    expect(await changed('iss', null)).toBe(problem('mismatch'))
    expect(await changed('code', 'made up')).toBe(problem('refused'))
    const another = new URL(await upToCallback(new Browser()))
    // PKCE: the code of somebody else's browser is worth nothing in this one.
    expect(await changed('code', another.searchParams.get('code'))).toBe(problem('refused'))
    await server.until(() =>
      server.stdout.includes('the sign-in with the identity provider failed'),
    )
    expect(server.stdout).not.toContain(another.searchParams.get('code')!)
    expect(server.stdout).not.toContain(dashboardClient.secret)
  })

  test('if they refuse, or if their organisation is missing or unknown', async () => {
    provider.person.isUnwilling = true
    expect(await signIn()).toBe(problem('refused'))
    provider.person = { sub: 'ben', claims: { name: 'Ben' } }
    expect(await signIn()).toBe(problem('no_organisation'))
    provider.person = { sub: 'ben', claims: { org: ['acme'] } }
    expect(await signIn()).toBe(problem('no_organisation'))
    provider.person = { sub: 'ben', claims: { org: 'globex' } }
    expect(await signIn()).toBe(problem('unknown_organisation'))
  })
})

/** A function that sends an API request with a session token, and returns the status. */
const apiRequest = async (token: string) => {
  const [flow] = await place.json<{ id: string }[]>(['flows', 'list'])
  const headers = { authorization: `Bearer ${token}` }
  const url = `${publicUrl}/api/v1/flows/${flow!.id}/analytics`
  return async () => (await fetch(url, { headers })).status
}

test('the dashboard and the API accept a new key of the provider at its first use', async () => {
  await signIn()
  const statusWithOldKey = await apiRequest(await provider.token(acme.id))
  expect(await statusWithOldKey()).toBe(200)
  await provider.use([rotated, ...keys.slice(1)])
  const browser = new Browser()
  expect(await signIn(browser)).toBe(`${publicUrl}/dashboard/`)
  expect(await browser.isIn()).toBe(true)
  const statusWithNewKey = await apiRequest(await provider.token(acme.slug))
  expect(await statusWithNewKey()).toBe(200)
  expect(await statusWithOldKey()).toBe(401)
})

describe('signing out', () => {
  test('ends here, leads to the provider, and signing out there ends it everywhere', async () => {
    const browser = new Browser()
    await signIn(browser)
    const { body } = await browser.ask('sign-out', { everywhere: false })
    const { goTo } = body as { goTo: string }
    expect(await browser.isIn()).toBe(false)
    const address = new URL(goTo)
    expect(address.origin).toBe(provider.issuer)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: dashboardClient.id,
      post_logout_redirect_uri: `${publicUrl}/dashboard/sign-in`,
    })
    // Sign in again, by the provider's own session, and then sign out only there.
    await signIn(browser)
    expect(await browser.isIn()).toBe(true)
    const form = await (await browser.get(goTo)).text()
    const xsrf = /name="xsrf" value="(\w+)"/.exec(form)?.[1] ?? ''
    const confirmed = await browser.get(`${provider.issuer}/session/end/confirm`, {
      method: 'POST',
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    })
    expect(confirmed.headers.get('location')).toBe(`${publicUrl}/dashboard/sign-in`)
    expect(await browser.isIn()).toBe(false)
  })

  const claims = (more: Record<string, unknown> = {}) => ({
    iss: provider.issuer,
    aud: dashboardClient.id,
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 120,
    jti: crypto.randomUUID(),
    sub: 'ann',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    ...more,
  })
  const tell = async (token: string | Promise<string>) => {
    const body = new URLSearchParams({ logout_token: await token })
    const url = `${publicUrl}/dashboard/sign-in/logout`
    return (await fetch(url, { method: 'POST', body, keepalive: false })).status
  }

  test('at the provider is announced by a valid logout token and by nothing else', async () => {
    const browser = new Browser()
    await signIn(browser)
    const [key] = keys as [SigningKey]
    const typed = { typ: 'logout+jwt' }
    const wrong = [
      signedWith(key, claims({ iss: 'https://evil.example' }), typed),
      signedWith(key, claims({ aud: 'another' }), typed),
      signedWith(key, claims({ events: undefined }), typed),
      signedWith(key, claims({ events: { other: {} } }), typed),
      signedWith(key, claims({ nonce: 'x' }), typed),
      signedWith(key, claims({ sub: undefined }), typed),
      signedWith(key, claims({ jti: undefined }), typed),
      signedWith(key, claims({ iat: undefined }), typed),
      signedWith(key, claims({ iat: claims().iat - 3_600 }), typed),
      signedWith(key, claims({ exp: claims().iat - 60 }), typed),
      signedWith(key, claims(), { typ: 'at+jwt' }),
      signedWith(await signingKey('RS256', 'rs'), claims(), typed),
      'no token',
      '',
    ]
    for (const token of wrong) expect(await tell(token)).toBe(400)
    expect(await tell(signedWith(key, claims({ sub: 'ben' }), typed))).toBe(200)
    expect(await tell(signedWith(key, claims({ sid: 'another' }), typed))).toBe(200)
    expect(await browser.isIn()).toBe(true)
    expect(await tell(signedWith(key, claims(), typed))).toBe(200)
    expect(await browser.isIn()).toBe(false)
    const huge = await fetch(`${publicUrl}/dashboard/sign-in/logout`, {
      method: 'POST',
      body: `logout_token=${'x'.repeat(30_000)}`,
    })
    expect(huge.status).toBe(413)
  })
})

test('while the provider is down nobody can sign in, but sessions and session tokens still work', async () => {
  const browser = new Browser()
  await signIn(browser)
  const late = new Browser()
  const callback = await upToCallback(late)
  const status = await apiRequest(await provider.token(acme.id))
  await provider.stop()
  try {
    expect((await late.follow(callback, isDashboard)).at(-1)).toBe(problem('provider_unavailable'))
    expect(await browser.isIn()).toBe(true)
    await server.end('SIGTERM')
    server = await serve()
    expect(await signIn()).toBe(problem('provider_unavailable'))
    expect(await browser.isIn()).toBe(true)
    // The keys that the provider returned before still work, even after a restart.
    expect(await status()).toBe(200)
    expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
    await server.until(() => server.stdout.includes('stay in use'))
  } finally {
    await provider.resume()
  }
})
