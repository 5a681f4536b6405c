import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'
import { type UnauthorizedCause, unauthorizedCauseOf } from '../../src/core/errors.ts'
import { publicKeysIn } from '../../src/core/organisation/key-set.ts'
import { providerTokens } from '../../src/http/session-tokens.ts'
import { tour } from '../support/flows.ts'
import {
  audience,
  Provider,
  type SigningKey,
  signedWith,
  signingKey,
} from '../support/identity-provider.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Tokens of a real OpenID provider, and imitations, checked against the keys that it publishes. */

let provider: Provider
let world: World
let tenant: Tenant
let flowId: string
let rs: SigningKey
let es: SigningKey
let ed: SigningKey
let publicKeys: unknown[]
let renewals = 0

/** The service with another claim, audience or type. */
const worldWith = (rules: { organisationClaim?: string; audience?: string; type?: string } = {}) =>
  new World({
    sessionTokens: clock =>
      providerTokens({
        issuer: provider.issuer,
        audience,
        type: null,
        organisationClaim: 'org',
        ...rules,
        clock,
        source: {
          keys: publicKeysIn({ keys: publicKeys }),
          async renew() {
            renewals++
          },
        },
      }),
  })

beforeAll(async () => {
  ;[rs, es, ed] = await Promise.all([
    signingKey('RS256', 'rs'),
    signingKey('ES256', 'es'),
    signingKey('EdDSA', 'ed'),
  ])
  provider = await Provider.start([rs, es, ed])
  const response = await fetch(`${provider.issuer}/jwks`)
  publicKeys = ((await response.json()) as { keys: unknown[] }).keys
  world = worldWith()
  // The provider uses the machine's clock.
  world.clock.wallMs = Date.now()
  tenant = await Tenant.of(world)
  tenant.limit({ analytics: 100_000 })
  flowId = tenant.publish(tour()).id
})

afterAll(async () => {
  await provider.stop()
  await world.close()
})

const status = async (credential: string, flow = flowId) =>
  (await tenant.ask(`GET /flows/${flow}/analytics`, { credential })).status

const seconds = () => Math.floor(world.clock.now() / 1000)

const claims = (more: JWTPayload = {}): JWTPayload => ({
  org: tenant.organisation.id,
  iss: provider.issuer,
  aud: audience,
  exp: seconds() + 60,
  ...more,
})

/** A token signed with the first key, with an unexpected header. */
const withHeader = (header: object) => signedWith(rs, claims(), header)

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const publicPem = (key: SigningKey) =>
  createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string

/** A token over the text of a public key, which is no secret. */
const hmacOver = (text: string, header: object = {}) =>
  new SignJWT(claims())
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(new TextEncoder().encode(text))

describe('a token of the provider is accepted', () => {
  test.each(['RS256', 'ES256', 'EdDSA'])('signed with %s, by id and by slug', async alg => {
    expect(await status(await provider.token(tenant.organisation.id, alg))).toBe(200)
    expect(await status(await provider.token(tenant.organisation.slug, alg))).toBe(200)
  })

  test('without a type, or with that of an access token', async () => {
    const types = [undefined, 'JWT', 'jwt', 'at+jwt', 'application/at+jwt', 'AT+JWT']
    for (const typ of types) {
      expect([typ, await status(await withHeader({ typ }))]).toEqual([typ, 200])
    }
  })

  test('without a kid, where only one key fits', async () => {
    expect(await status(await signedWith(es, claims(), { kid: undefined }))).toBe(200)
  })

  test('and a good one never causes the keys to be fetched', async () => {
    renewals = 0
    await status(await provider.token(tenant.organisation.id))
    expect(renewals).toBe(0)
  })
})

describe('a token is refused', () => {
  const refused: [string, UnauthorizedCause, () => Promise<string> | string][] = [
    [
      'of its issuer with a slash',
      'token_wrong_issuer',
      () => signedWith(rs, claims({ iss: `${provider.issuer}/` })),
    ],
    [
      'of alg none with a kid',
      'token_bad_algorithm',
      () => `${base64({ alg: 'none', kid: 'rs' })}.${base64(claims())}.`,
    ],
    ['over the public key as PEM, HS256', 'token_bad_algorithm', () => hmacOver(publicPem(rs))],
    [
      'over the public key as JWK, with its kid',
      'token_bad_algorithm',
      () => hmacOver(JSON.stringify(publicKeys[0]), { kid: 'rs' }),
    ],
    ['over the modulus, with its kid', 'token_bad_algorithm', () => hmacOver(rs.n!, { kid: 'rs' })],
    [
      'of another key under a known kid',
      'token_bad_signature',
      async () => signedWith(await signingKey('RS256', 'rs'), claims()),
    ],
    [
      'with an alg that its key does not name',
      'token_bad_algorithm',
      () => signedWith({ ...rs, alg: 'RS384' }, claims()),
    ],
    [
      'with the kid of a key of another type',
      'token_bad_algorithm',
      () => withHeader({ kid: 'es' }),
    ],
    [
      'with a header that brings its own key',
      'token_bad_signature',
      async () => {
        const own = await signingKey('ES256', 'own')
        const { d: _, ...jwk } = own
        return signedWith(own, claims(), { jwk, kid: undefined })
      },
    ],
    [
      'with a critical header that is not understood',
      'token_malformed',
      () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: 'RS256', kid: 'rs', crit: ['x'], x: 1 })
          .sign(rs, { crit: { x: true } }),
    ],
    ["over Cairn's own secret", 'token_bad_algorithm', () => tenant.token],
    ['with a kid that is not a string', 'token_unknown_key', () => withHeader({ kid: 1 })],
  ]
  test.each(refused)('%s, which the log calls %s', async (_, cause, token) => {
    expect(await status(await token())).toBe(401)
    expect(world.answers.at(-1)).toMatchObject({ cause })
  })

  test('with an unknown kid, after the keys were fetched once', async () => {
    renewals = 0
    expect(await status(await withHeader({ kid: 'unknown' }))).toBe(401)
    expect(renewals).toBe(1)
    expect(world.answers.at(-1)).toMatchObject({ cause: 'token_unknown_key' })
  })

  test('without a kid where two keys fit, since the provider must name one', async () => {
    const [first, second] = await Promise.all([signingKey('ES256', 'a'), signingKey('ES256', 'b')])
    const tokens = providerTokens({
      issuer: provider.issuer,
      audience,
      type: null,
      organisationClaim: 'org',
      clock: world.clock,
      source: {
        keys: publicKeysIn({ keys: [first, second].map(({ d: _, ...key }) => key) }),
        async renew() {},
      },
    })
    for (const key of [first, second]) {
      expect(await tokens.organisationOf(await signedWith(key, claims()))).toBe(
        tenant.organisation.id,
      )
    }
    const rejection = await tokens
      .organisationOf(await signedWith(first, claims(), { kid: undefined }))
      .catch(error => error)
    expect(unauthorizedCauseOf(rejection)).toBe('token_ambiguous_key')
  })

  test('with alg none or HS256 under an unknown kid, before any key is fetched', async () => {
    renewals = 0
    await status(`${base64({ alg: 'none', kid: 'unknown' })}.${base64(claims())}.`)
    await status(await hmacOver('x', { kid: 'unknown' }))
    expect(renewals).toBe(0)
  })
})

test('where a type is configured, only tokens of that type are accepted', async () => {
  const strict = worldWith({ type: 'application/at+jwt' })
  strict.clock.wallMs = world.clock.wallMs
  const analysed = await Tenant.of(strict)
  const path = `GET /flows/${analysed.publish(tour()).id}/analytics`
  const statusOf = async (typ: string | undefined) => {
    const credential = await signedWith(rs, claims({ org: analysed.organisation.slug }), { typ })
    return (await analysed.ask(path, { credential })).status
  }
  for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt']) {
    expect([typ, await statusOf(typ)]).toEqual([typ, 200])
  }
  for (const typ of [undefined, '', 'JWT', 'logout+jwt', 'at+jwt ', 'x/at+jwt']) {
    expect([typ, await statusOf(typ)]).toEqual([typ, 401])
    expect(strict.answers.at(-1)).toMatchObject({ cause: 'token_wrong_type' })
  }
  await strict.close()
})

test('the organisation is read from the configured claim, and from no other', async () => {
  const elsewhere = worldWith({ organisationClaim: 'https://id.example/tenant' })
  elsewhere.clock.wallMs = world.clock.wallMs
  const analysed = await Tenant.of(elsewhere)
  const path = `GET /flows/${analysed.publish(tour()).id}/analytics`
  const statusWith = async (claim: string) => {
    const named = { org: undefined, [claim]: analysed.organisation.slug }
    const credential = await signedWith(rs, claims(named))
    return (await analysed.ask(path, { credential })).status
  }
  expect(await statusWith('https://id.example/tenant')).toBe(200)
  expect(await statusWith('org')).toBe(401)
  await elsewhere.close()
})
