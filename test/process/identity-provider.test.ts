import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type JWTPayload, SignJWT } from 'jose'
import { builtBinary, type Server, Workplace, withTour } from '../support/binary.ts'
import {
  audience,
  Provider,
  type SigningKey,
  signedWith,
  signingKey,
} from '../support/identity-provider.ts'

/** The binary with a real OpenID provider beside it, which rotates its keys, is slow and goes away. */

let rs: SigningKey
let es: SigningKey
let rotated: SigningKey
let provider: Provider
let place: Workplace
let acme: { id: string; slug: string }
let flowId: string
let settings: Record<string, string>

beforeAll(async () => {
  await builtBinary()
  ;[rs, es, rotated] = await Promise.all([
    signingKey('RS256', 'rs'),
    signingKey('ES256', 'es'),
    signingKey('ES256', 'rotated'),
  ])
  provider = await Provider.start([rs, es])
  place = new Workplace()
  acme = await withTour(place)
  const [flow] = await place.json<{ id: string }[]>(['flows', 'list'])
  flowId = flow!.id
  settings = {
    CAIRN_SESSION_ISSUER: provider.issuer,
    CAIRN_SESSION_AUDIENCE: audience,
    CAIRN_THREADS: '2',
  }
})
afterAll(async () => {
  await provider.stop()
  await place.close()
})

let server: Server
beforeEach(async () => {
  await provider.use([rs, es])
  server = await place.serve([], settings)
})
afterEach(() => server.end('SIGKILL'))

const statusOf = async (token: string, on = server) => {
  const headers = { authorization: `Bearer ${token}` }
  const url = `${on.url}/api/v1/flows/${flowId}/analytics`
  return (await fetch(url, { headers, keepalive: false })).status
}

const claims = (more: JWTPayload = {}): JWTPayload => ({
  org: acme.slug,
  iss: provider.issuer,
  aud: audience,
  exp: Math.floor(Date.now() / 1000) + 600,
  ...more,
})

const unknownTokens = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) => signedWith({ ...es, kid: `unknown ${i}` }, claims())),
  )

const keysAreKnown = () => server.until(() => server.stdout.includes('has given its keys'))

test('tokens that the provider issues are accepted, and all others get a 401', async () => {
  expect(await statusOf(await provider.token(acme.id))).toBe(200)
  expect(await statusOf(await provider.token(acme.slug, 'ES256'))).toBe(200)
  const { d: _, ...publicKey } = rs
  const secret = new TextEncoder().encode(JSON.stringify(publicKey))
  const head = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url')
  const bad = [
    await provider.token('org_unknown'),
    await signedWith(rs, claims({ exp: Math.floor(Date.now() / 1000) - 1 })),
    await signedWith(rs, claims({ nbf: Math.floor(Date.now() / 1000) + 60 })),
    await signedWith(rs, claims({ iss: 'https://evil.example' })),
    await signedWith(rs, claims({ aud: 'else' })),
    await signedWith(await signingKey('ES256', 'es'), claims()),
    await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'rs' }).sign(secret),
    `${head({ alg: 'none' })}.${head(claims())}.`,
  ]
  for (const token of bad) expect(await statusOf(token)).toBe(401)
  for (const token of bad) expect(server.stdout).not.toContain(token)
  const causes = [
    'unknown_organisation',
    'token_expired',
    'token_not_yet_valid',
    'token_wrong_issuer',
    'token_wrong_audience',
    'token_bad_signature',
    'token_bad_algorithm',
    'token_bad_algorithm',
  ]
  const logged = () => [...server.stdout.matchAll(/"cause":"(\w+)"/g)].map(([, cause]) => cause)
  await server.until(() => logged().length >= causes.length)
  // The threads' lines come in any order.
  expect(logged().sort()).toEqual(causes.sort())
  const metrics = await (await fetch(`${server.managementUrl}/metrics`)).text()
  expect(metrics).toContain('cairn_unauthorized_total{cause="token_bad_algorithm"} 2')
  expect(metrics).toContain('cairn_unauthorized_total{cause="token_expired"} 1')
})

test('a new key is known at its first use, on every thread', async () => {
  await keysAreKnown()
  const oldToken = await provider.token(acme.id, 'ES256')
  expect(await statusOf(oldToken)).toBe(200)
  await provider.use([rotated])
  const newToken = await provider.token(acme.id, 'ES256')
  expect(await statusOf(newToken)).toBe(200)
  // Connections are spread over the threads, so each of them gets some.
  const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(newToken)))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(await statusOf(oldToken)).toBe(401)
})

describe('while the provider is down', () => {
  afterEach(() => provider.resume())

  test('its keys go on working, even after a restart, and Cairn is ready', async () => {
    await keysAreKnown()
    const token = await provider.token(acme.id)
    await provider.stop()
    expect(await statusOf(token)).toBe(200)
    const [unknown] = await unknownTokens(1)
    expect(await statusOf(unknown!)).toBe(401)
    await server.end()
    server = await place.serve([], settings)
    expect(await statusOf(token)).toBe(200)
    expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
    await server.until(() => server.stdout.includes('go on working'))
    expect(server.stdout).not.toContain(token)
  })
})
