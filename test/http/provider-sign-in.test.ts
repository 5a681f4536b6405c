import { afterAll, describe, expect, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { publicKeysIn } from '../../src/core/organisation/key-set.ts'
import type { ProviderSettings } from '../../src/modules/dashboard/open-id.ts'
import type { MemberList } from '../../src/modules/members/schema.ts'
import { Visitor } from '../support/dashboard-visitor.ts'
import { HandClock } from '../support/hand-clock.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** What comes back from an identity provider may be anything: each is a sign-in, or a page that says why not. */

const issuer = 'https://id.example'
const publicUrl = 'https://cairn.example'
const clientId = 'dashboard'
const { publicKey, privateKey } = await generateKeyPair('RS256')
const keys = publicKeysIn({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] })

/** What the provider answers at each of its places: a JSON value, or a whole response. */
type Answers = Record<'discovery' | 'token' | 'userinfo', unknown>
let answers: Answers
const places: Record<string, keyof Answers> = {
  [`${issuer}/.well-known/openid-configuration`]: 'discovery',
  [`${issuer}/token`]: 'token',
  [`${issuer}/userinfo`]: 'userinfo',
}
const fetchFake = async (url: string): Promise<Response> => {
  const answer = answers[places[url]!]
  return answer instanceof Response ? answer : Response.json(answer)
}
/** Each is another provider, so that nothing is known of it. */
let settings: ProviderSettings
const another = (): ProviderSettings => ({
  ...{ issuer, clientId, clientSecret: 'secret' },
  ...{ roleClaim: 'cairn_role', organisationClaim: 'org' },
  keys: { keys, renew: async () => {} },
  fetch: fetchFake,
})

// The library goes by the machine's clock.
const clock = new HandClock(Date.now())
const world = new World({ clock, dashboard: { publicUrl, provider: () => settings } })
afterAll(() => world.close())
const tenant = await Tenant.of(world)

const discovery = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  authorization_response_iss_parameter_supported: true,
}

const get = (path: string, cookie = '') =>
  world.app.handle(new Request(`http://cairn.test${path}`, { headers: { cookie } }))

interface Changes {
  claims?: Record<string, unknown>
  token?: (token: Record<string, unknown>) => unknown
  userinfo?: unknown
  discovery?: unknown
  query?: (query: URLSearchParams) => void
}

/** Signs somebody in, with something changed on the way. Returns the word for what went wrong, or "in". */
async function signIn({ claims = {}, ...changed }: Changes = {}): Promise<string> {
  settings = another()
  answers = { discovery, token: null, userinfo: changed.userinfo }
  if ('discovery' in changed) answers.discovery = changed.discovery
  const begun = await get('/dashboard/sign-in/provider')
  const problemOf = (response: Response) => {
    const to = new URL(response.headers.get('location') ?? 'none:', publicUrl)
    return to.searchParams.get('problem') ?? (to.origin === publicUrl ? 'in' : null)
  }
  expect(begun.status).toBe(303)
  const early = problemOf(begun)
  if (early !== null) return early
  const requested = new URL(begun.headers.get('location')!).searchParams
  const seconds = Math.floor(world.clock.now() / 1_000)
  const all = {
    ...{ iss: issuer, aud: clientId, iat: seconds, exp: seconds + 60, sub: 'ann' },
    ...{ nonce: requested.get('nonce'), name: 'Ann', org: tenant.organisation.slug },
    ...claims,
  }
  const idToken = await new SignJWT(all)
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .sign(privateKey)
  const token = { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: idToken }
  answers.token = changed.token ? changed.token(token) : token
  const query = new URLSearchParams({ code: 'c', state: requested.get('state')!, iss: issuer })
  changed.query?.(query)
  const [cookie = ''] = begun.headers.getSetCookie()
  const ended = await get(`/dashboard/sign-in/callback?${query}`, cookie.split(';')[0])
  expect([ended.status, ended.headers.get('location')]).toEqual([303, expect.any(String)])
  return problemOf(ended)!
}

const long = 'x'.repeat(10_000)
const odd: unknown[] = [
  null,
  true,
  0,
  12,
  '',
  [],
  ['a'],
  {},
  { a: 1 },
  long,
  'a\nb',
  'a\0b',
  '\ud800',
  '\u202e',
]

/** The last session, as it was stored. */
const stored = () =>
  world.database
    .query<Record<'subject' | 'name' | 'sid' | 'role', string | null>, []>(
      `select subject, name, sid, role from dashboard_sessions
      join members on members.id = member_id order by dashboard_sessions.id desc limit 1`,
    )
    .get()!

test('a role from the provider wins, and ends with its claim; one from an owner stays', async () => {
  const signedIn = async (role?: string) => {
    expect(await signIn({ claims: { sub: 'eve', name: 'Eve', cairn_role: role } })).toBe('in')
    const { body } = await tenant.answer('GET /manage/members', { asOperator: true })
    return (body as MemberList).members.find(({ name }) => name === 'Eve')!
  }
  const eve = await signedIn()
  expect(eve).toMatchObject({ role: 'viewer', isRoleProvided: false, method: 'provider' })
  const change = () => {
    const what = `PATCH /manage/members/${eve.id}`
    return tenant.answer(what, { asOperator: true, body: { role: 'editor' } })
  }
  expect((await change()).status).toBe(204)
  expect(await signedIn()).toMatchObject({ id: eve.id, role: 'editor', isRoleProvided: false })
  expect(await signedIn('owner')).toMatchObject({ role: 'owner', isRoleProvided: true })
  expect((await change()).body).toMatchObject({ code: 'cannot_change_member' })
  expect(await signedIn()).toMatchObject({ role: 'viewer', isRoleProvided: false })
})

test('a provider as it should be signs somebody in', async () => {
  expect(await signIn({ claims: { sid: 's', cairn_role: 'owner' } })).toBe('in')
  expect(stored()).toEqual({ subject: 'ann', name: 'Ann', sid: 's', role: 'owner' })
  expect(await signIn({ claims: { cairn_role: ['viewer', 'x', 'editor'] } })).toBe('in')
  expect(stored().role).toBe('editor')
})

/** What came of each value, by what it begins with. */
async function outcomes(values: readonly unknown[], tried: (value: unknown) => Promise<unknown>) {
  const found: unknown[] = []
  for (const value of values) found.push([Bun.inspect(value).slice(0, 60), await tried(value)])
  return found
}
const all = (values: readonly unknown[], outcome: (value: unknown) => unknown) =>
  values.map(value => [Bun.inspect(value).slice(0, 60), outcome(value)])

describe('a claim that is not what it should be', () => {
  test('names nobody, as the subject or the session', async () => {
    const subjects = [undefined, ...odd]
    for (const name of ['Ann', undefined]) {
      expect(await outcomes(subjects, sub => signIn({ claims: { sub, name } }))).toEqual(
        all(subjects, () => 'mismatch'),
      )
    }
    const sessions = odd.filter(value => value !== null)
    expect(await outcomes(sessions, sid => signIn({ claims: { sid } }))).toEqual(
      all(sessions, () => 'mismatch'),
    )
  })

  test('names no organisation, or an unknown one', async () => {
    const values = [undefined, ...odd]
    const userinfo = { sub: 'ann' }
    expect(await outcomes(values, org => signIn({ claims: { org }, userinfo }))).toEqual(
      all(values, org =>
        typeof org === 'string' && org !== '' ? 'unknown_organisation' : 'no_organisation',
      ),
    )
  })

  test('is a name that can be read, or another one', async () => {
    for (const name of [undefined, ...odd]) {
      expect(await signIn({ claims: { name, preferred_username: name, email: name } })).toBe('in')
      expect(stored().name).toMatch(/^[^\p{C}]{1,100}$/u)
    }
  })

  test('gives no role', async () => {
    for (const role of [undefined, ...odd, ['owner '], Array(5_000).fill('owners')]) {
      expect(await signIn({ claims: { cairn_role: role } })).toBe('in')
      expect(stored().role).toBe('viewer')
    }
  })

  test('lets nobody in, as the nonce', async () => {
    const values = [undefined, ...odd]
    expect(await outcomes(values, nonce => signIn({ claims: { nonce } }))).toEqual(
      all(values, () => 'mismatch'),
    )
  })
})

test('tokens that are none let nobody in', async () => {
  const answers = [
    ...odd,
    undefined,
    ...['{', '[1', ''].map(text => new Response(text)),
    new Response(null, { status: 204 }),
    new Response('{}', { status: 500 }),
    new Response(null, { status: 302, headers: { location: 'https://evil.example' } }),
    Response.json({ error: 'invalid_grant' }, { status: 400 }),
    Response.json({ error: 1 }, { status: 400 }),
    Response.json({ error: long, error_description: { a: 1 } }, { status: 400 }),
    new Response('{', { status: 401, headers: { 'www-authenticate': 'Bearer error="x", ,' } }),
  ]
  for (const answer of answers) {
    expect(await signIn({ token: () => answer })).toBeOneOf([
      'refused',
      'mismatch',
      'provider_unavailable',
    ])
  }
})

test('odd claims, token responses and callback parameters always lead to a page', async () => {
  const claims = ['iss', 'aud', 'exp', 'iat', 'nbf', 'auth_time', 'azp', 'at_hash']
  const fields = ['access_token', 'token_type', 'expires_in', 'id_token', 'scope', 'refresh_token']
  const tokens = [...odd, 'a.b', 'a.b.c', '..', 'e30.e30.', 'e30.bnVsbA.', undefined]
  const parameters = ['code', 'state', 'iss', 'error', 'error_description', 'response', 'id_token']
  const texts = ['', long.slice(0, 7_000), 'a\nb', '\ud800', '%', '[object Object]']
  const changes: Changes[] = [
    ...claims.flatMap(name => odd.map(value => ({ claims: { [name]: value } }))),
    ...fields.flatMap(name =>
      tokens.map(value => ({ token: (token: object) => ({ ...token, [name]: value }) })),
    ),
    ...parameters.flatMap(name => [
      { query: (query: URLSearchParams) => query.delete(name) },
      ...texts.flatMap(value => [
        { query: (query: URLSearchParams) => query.append(name, value) },
        { query: (query: URLSearchParams) => query.set(name, value) },
      ]),
    ]),
  ]
  for (const changed of changes) expect(await signIn(changed)).toBeString()
})

test('whatever userinfo answers', async () => {
  const wrong = [
    ...[...odd, { sub: 'ben', org: tenant.organisation.slug }, { sub: ['ann'] }],
    ...[new Response('{'), new Response(null, { status: 401 }), new Response('', { status: 500 })],
    new Response('a.b.c', { headers: { 'content-type': 'application/jwt' } }),
  ]
  for (const userinfo of wrong) {
    expect(await signIn({ claims: { org: undefined }, userinfo })).not.toBe('in')
  }
  const { slug } = tenant.organisation
  expect(await signIn({ claims: { org: undefined }, userinfo: { sub: 'ann', org: slug } })).toBe(
    'in',
  )
})

test('whatever the discovery document says', async () => {
  for (const document of [...odd, new Response('{')]) {
    expect(await signIn({ discovery: document })).toBeOneOf(['provider_unavailable', 'mismatch'])
  }
  const names = [
    ...['issuer', 'authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'],
    ...['token_endpoint_auth_methods_supported', 'id_token_signing_alg_values_supported'],
    'authorization_response_iss_parameter_supported',
  ]
  for (const name of names) {
    for (const value of [...odd, undefined, 'javascript:1', 'http://id.example/x']) {
      const claims = { org: undefined }
      const userinfo = { sub: 'ann', org: tenant.organisation.slug }
      expect(
        await signIn({ discovery: { ...discovery, [name]: value }, claims, userinfo }),
      ).toBeString()
    }
  }
})

test('whatever a session token says, it lets somebody in who can be named, or nobody', async () => {
  const redeem = async (claims: Record<string, unknown>) => {
    const seconds = Math.floor(clock.now() / 1_000)
    const all = {
      iss: 'cairn',
      aud: 'cairn',
      org: tenant.organisation.id,
      exp: seconds + 60,
      sub: 'ann',
    }
    const token = await new SignJWT({ ...all, ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(world.secret)
    return (await new Visitor(tenant).redeem({ token })).status
  }
  for (const sub of [undefined, ...odd]) {
    expect(await redeem({ sub })).toBe(200)
    expect(stored()).toMatchObject({ subject: '', name: 'session token' })
  }
  for (const name of ['iss', 'aud', 'exp', 'iat', 'nbf', 'org', 'jti']) {
    for (const value of [...odd, clock.now() / 1_000 + 60.0005, 1e300, Number.MAX_SAFE_INTEGER]) {
      expect(await redeem({ [name]: value })).toBeOneOf([200, 401])
    }
  }
})
