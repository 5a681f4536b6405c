import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { CompactSign, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { UnauthorizedCause } from '../../src/core/errors.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let other: Tenant
let flowId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  other = await Tenant.of(world)
  tenant.limit({ analytics: 100_000 })
  flowId = tenant.publish(tour()).id
})

const seconds = () => Math.floor(world.clock.now() / 1000)

const claims = (more: JWTPayload = {}): JWTPayload => ({
  org: tenant.organisation.id,
  iss: 'cairn',
  aud: 'cairn',
  exp: seconds() + 60,
  ...more,
})

const signed = (payload: JWTPayload, alg = 'HS256', secret: unknown = world.secret) =>
  new SignJWT(payload).setProtectedHeader({ alg }).sign(secret as Uint8Array)

/** A token that is valid except for these claims. */
const withClaims = (more: JWTPayload) => signed(claims(more))

const status = async (credential: string, flow = flowId) =>
  (await tenant.ask(`GET /flows/${flow}/analytics`, { credential })).status

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const ofType = (typ: unknown, more: JWTPayload = {}) =>
  new SignJWT(claims(more))
    .setProtectedHeader({ alg: 'HS256', typ: typ as string })
    .sign(world.secret)

/** Signs claims given as text, so that they can be what JSON.stringify never writes. */
const signedText = (text: string, header: object = {}) =>
  new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(world.secret)

const withText = (more: string) =>
  signedText(`{${JSON.stringify(claims({ exp: undefined })).slice(1, -1)},${more}}`)

/** The same token with its last part written differently: other characters for the same bytes. */
const rewritten = async (rewrite: (signature: string) => string) => {
  const [head, payload, signature = ''] = (await signed(claims())).split('.')
  return `${head}.${payload}.${rewrite(signature)}`
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Two bits of a signature's last character belong to no byte. */
const otherLast = (signature: string) =>
  signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1)!) + 1]

describe('a session token is accepted', () => {
  test('with the organisation by id or by slug', async () => {
    expect(await status(await signed(claims()))).toBe(200)
    expect(await status(await withClaims({ org: tenant.organisation.slug }))).toBe(200)
  })

  test('with one audience of several, and claims that we do not know', async () => {
    expect(await status(await withClaims({ aud: ['else', 'cairn'], sub: 'x', n: 1 }))).toBe(200)
  })

  test('until its exp, and not a moment longer: there is no leeway', async () => {
    const token = await withClaims({ exp: seconds() + 10 })
    world.clock.advance(9_999)
    expect(await status(token)).toBe(200)
    world.clock.advance(1)
    expect(await status(token)).toBe(401)
  })

  test('until its exp, where that has a fraction', async () => {
    const token = await withClaims({ exp: seconds() + 10.25 })
    world.clock.moveTo((seconds() + 10) * 1000)
    expect(await status(token)).toBe(200)
    world.clock.advance(249)
    expect(await status(token)).toBe(200)
    world.clock.advance(1)
    expect(await status(token)).toBe(401)
    expect(world.answers.at(-1)).toMatchObject({ cause: 'token_expired' })
  })

  test('never before its nbf, where that has a fraction', async () => {
    world.clock.moveTo((seconds() + 1) * 1000)
    const token = await withClaims({ nbf: seconds() + 0.75 })
    expect(await status(token)).toBe(401)
    world.clock.advance(749)
    expect(await status(token)).toBe(401)
    world.clock.advance(251)
    expect(await status(token)).toBe(200)
  })

  test('without a type, or with that of an access token', async () => {
    for (const typ of [undefined, 'JWT', 'at+jwt', 'application/at+jwt', 'AT+JWT']) {
      expect([typ, await status(await ofType(typ))]).toEqual([typ, 200])
    }
  })

  test('with a claim twice: the last counts, as in JSON parsers (RFC 7519, section 4)', async () => {
    const [late, past] = [seconds() + 60, seconds() - 60]
    expect(await status(await withText(`"exp":${past},"exp":${late}`))).toBe(200)
    expect(await status(await withText(`"exp":${late},"exp":${past}`))).toBe(401)
  })

  test('from its nbf on', async () => {
    const token = await withClaims({ nbf: seconds() + 10 })
    expect(await status(token)).toBe(401)
    world.clock.advance(10_000)
    expect(await status(token)).toBe(200)
  })
})

describe('a session token is refused', () => {
  const refused: [string, UnauthorizedCause, () => Promise<string> | string][] = [
    ['without exp', 'token_without_exp', () => withClaims({ exp: undefined })],
    ['past its exp', 'token_expired', () => withClaims({ exp: seconds() })],
    [
      'past its exp by less than a second',
      'token_expired',
      () => withText(`"exp":${world.clock.now() / 1000}`),
    ],
    ['with an exp that is beyond all numbers', 'token_malformed', () => withText('"exp":1e400')],
    ['with a negative exp', 'token_expired', () => withClaims({ exp: -1 })],
    [
      'with an exp in milliseconds, as text',
      'token_malformed',
      () => withText('"exp":"1790000000000"'),
    ],
    [
      'with an nbf beyond all numbers',
      'token_not_yet_valid',
      () => withText(`"exp":${seconds() + 60},"nbf":1e400`),
    ],
    ...[
      'logout+jwt',
      'secevent+jwt',
      'dpop+jwt',
      'token-introspection+jwt',
      'id+jwt',
      'JWS',
      '',
      'application/logout+jwt',
      'x/at+jwt',
      ' at+jwt',
      7,
      null,
    ].map((typ): [string, UnauthorizedCause, () => Promise<string>] => [
      `of the type ${JSON.stringify(typ)}`,
      'token_wrong_type',
      () => ofType(typ),
    ]),
    [
      'of no type, that is the event of a logout',
      'token_wrong_type',
      () => withClaims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
    ],
    [
      'with a critical header',
      'token_malformed',
      () => {
        const header = base64({ alg: 'HS256', crit: ['exp'], exp: 1 })
        const text = `${header}.${base64(claims())}`
        return `${text}.${createHmac('sha256', world.secret).update(text).digest('base64url')}`
      },
    ],
    ['with padding behind its signature', 'token_malformed', () => rewritten(it => `${it}=`)],
    [
      'with bits in its signature that belong to no byte',
      'token_malformed',
      () => rewritten(otherLast),
    ],
    [
      'with base64 in place of base64url',
      'token_malformed',
      async () => {
        // Repeats until a signature has one of the two characters that differ.
        for (let n = 0; ; n++) {
          const token = await withClaims({ n })
          const [head, payload, signature = ''] = token.split('.')
          if (!/[-_]/.test(signature)) continue
          return [head, payload, signature.replaceAll('-', '+').replaceAll('_', '/')].join('.')
        }
      },
    ],
    ['before its nbf', 'token_not_yet_valid', () => withClaims({ nbf: seconds() + 1 })],
    [
      'with an exp that is no number',
      'token_malformed',
      () => withClaims({ exp: 'soon' as unknown as number }),
    ],
    ['with another issuer', 'token_wrong_issuer', () => withClaims({ iss: 'evil' })],
    ['with another audience', 'token_wrong_audience', () => withClaims({ aud: 'evil' })],
    ['without an organisation', 'token_without_organisation', () => withClaims({ org: undefined })],
    [
      'with an unknown organisation',
      'unknown_organisation',
      () => withClaims({ org: 'org_unknown' }),
    ],
    [
      "with an organisation's name",
      'unknown_organisation',
      () => withClaims({ org: tenant.organisation.name }),
    ],
    [
      'with several organisations',
      'token_without_organisation',
      () => withClaims({ org: [tenant.organisation.id] }),
    ],
    [
      'signed with another secret',
      'token_bad_signature',
      () => signed(claims(), 'HS256', Buffer.alloc(32, 1)),
    ],
    ['signed with HS512', 'token_bad_algorithm', () => signed(claims(), 'HS512')],
    [
      'signed with a public-key algorithm',
      'token_bad_algorithm',
      async () => signed(claims(), 'ES256', (await generateKeyPair('ES256')).privateKey),
    ],
    ['of alg none', 'token_bad_algorithm', () => `${base64({ alg: 'none' })}.${base64(claims())}.`],
    [
      'tampered with',
      'token_bad_signature',
      async () => {
        const [head, , signature] = (await signed(claims())).split('.')
        return `${head}.${base64(claims({ exp: seconds() + 9_999 }))}.${signature}`
      },
    ],
    [
      'without its signature',
      'token_bad_signature',
      async () => (await signed(claims())).replace(/[^.]+$/, ''),
    ],
    ['of four parts', 'token_malformed', async () => `${await signed(claims())}.x`],
    ['that is no JSON', 'token_malformed', () => 'e30.bm9wZQ.x'],
    [
      'of a mebibyte',
      'token_too_long',
      async () => `${await withClaims({ fill: 'x'.repeat(1_048_576) })}x`,
    ],
  ]
  test.each(refused)('%s, which the log calls %s', async (_, cause, token) => {
    expect(await status(await token())).toBe(401)
    expect(world.answers.at(-1)).toMatchObject({ cause })
  })
})

test('a token of one organisation opens nothing of another', async () => {
  const foreign = other.publish(tour()).id
  expect(await status(tenant.token, foreign)).toBe(401)
  expect(await status(other.token, flowId)).toBe(401)
  expect(await status(await withClaims({ org: other.organisation.slug }), flowId)).toBe(401)
  expect(await status(other.token, foreign)).toBe(200)
})
