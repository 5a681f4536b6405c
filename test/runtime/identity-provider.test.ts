import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  askProvider,
  checkIssuer,
  type ProviderFailure,
} from '../../src/runtime/identity-provider.ts'
import { movedBy } from '../../src/test-clock.ts'
import { Provider, type SigningKey, signingKey } from '../support/identity-provider.ts'

/** What a provider can answer, and what Cairn makes of it. */

let key: SigningKey
let jwks: { keys: object[] }

beforeAll(async () => {
  key = await signingKey('ES256', 'es')
  const { d: _, ...publicKey } = key
  jwks = { keys: [publicKey] }
})

type Answer = (request: Request) => Response | Promise<Response>

const servers: Bun.Server<undefined>[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})

/** A provider that answers as a test says; by path, else 404. */
function impostor(answers: Record<string, Answer>) {
  const requested: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      requested.push(pathname)
      return answers[pathname]?.(request) ?? new Response(null, { status: 404 })
    },
  })
  servers.push(server)
  return { issuer: `http://127.0.0.1:${server.port}`, asked: requested }
}

const openId = '/.well-known/openid-configuration'
const oauth = '/.well-known/oauth-authorization-server'

/** A good provider, except for the answers that a test replaces. */
function providerWith(answers: Record<string, Answer>, path = '') {
  const made: ReturnType<typeof impostor> = impostor({
    [`${path}${openId}`]: () =>
      Response.json({ issuer: made.issuer + path, jwks_uri: `${made.issuer}/keys` }),
    '/keys': () => Response.json(jwks),
    ...answers,
  })
  return { asked: made.asked, issuer: made.issuer + path, jwksUrl: null }
}

const failureOf = (provider: { issuer: string; jwksUrl: string | null }) =>
  askProvider(provider).then(
    () => null,
    (failure: ProviderFailure) => failure,
  )

describe('the keys are found', () => {
  test('by the discovery document of OpenID', async () => {
    const provider = providerWith({})
    expect((await askProvider(provider)).keys.map(({ kid }) => kid)).toEqual(['es'])
    expect(provider.asked).toEqual([openId, '/keys'])
  })

  test('behind the issuer’s path, with and without a slash at its end', async () => {
    const plain = providerWith({}, '/realms/acme')
    expect((await askProvider(plain)).keys).toHaveLength(1)
    const made = impostor({
      [`/acme${openId}`]: () =>
        Response.json({ issuer: `${made.issuer}/acme/`, jwks_uri: `${made.issuer}/keys` }),
      '/keys': () => Response.json(jwks),
    })
    const { keys } = await askProvider({ issuer: `${made.issuer}/acme/`, jwksUrl: null })
    expect(keys).toHaveLength(1)
  })

  test('by that of OAuth (RFC 8414), before the path, if there is none of OpenID', async () => {
    const made = impostor({
      [`${oauth}/acme`]: () =>
        Response.json({ issuer: `${made.issuer}/acme`, jwks_uri: `${made.issuer}/keys` }),
      '/keys': () => Response.json(jwks),
    })
    const { keys } = await askProvider({ issuer: `${made.issuer}/acme`, jwksUrl: null })
    expect(keys).toHaveLength(1)
    expect(made.asked).toEqual([`/acme${openId}`, `${oauth}/acme`, '/keys'])
  })

  test('at an address with a query, which no message shows', async () => {
    const { issuer } = impostor({ '/k': () => Response.json({ keys: [] }) })
    const { message } = (await failureOf({ issuer: 'acme', jwksUrl: `${issuer}/k?key=secret` }))!
    expect(message).toContain(`${issuer}/k?… has no public key`)
    for (const path of ['/nowhere', '/k']) {
      const failure = await failureOf({ issuer: 'acme', jwksUrl: `${issuer}${path}?key=secret` })
      expect(failure!.message + failure!.fix).not.toContain('secret')
    }
  })

  test('at the configured address, without discovery', async () => {
    const { issuer, asked } = impostor({ '/k': () => Response.json(jwks) })
    const { keys } = await askProvider({ issuer: 'acme', jwksUrl: `${issuer}/k` })
    expect(keys).toHaveLength(1)
    expect(asked).toEqual(['/k'])
  })
})

test('the provider says how long its keys can be kept', async () => {
  const kept = async (value?: string) => {
    const headers = value === undefined ? undefined : { 'cache-control': value }
    const provider = providerWith({ '/keys': () => Response.json(jwks, { headers }) })
    return (await askProvider(provider)).maxAgeSeconds
  }
  expect(await kept('public, max-age=600, must-revalidate')).toBe(600)
  expect(await kept('s-maxage=5, MAX-AGE=7')).toBe(7)
  for (const none of [undefined, 'no-store', 's-maxage=5', 'max-age=soon']) {
    expect(await kept(none)).toBeNull()
  }
})

describe('a provider fails, with the reason and what to do', () => {
  const text = (body: string) => () => new Response(body)
  const discovery = (document: object) => ({ [openId]: () => Response.json(document) })
  const keys = (document: unknown) => ({ '/keys': () => Response.json(document) })
  const faults: [string, Record<string, Answer>, string][] = [
    [
      'without a discovery document',
      { [openId]: () => new Response(null, { status: 404 }) },
      'answered 404',
    ],
    ['that answers 500', { [openId]: () => new Response('x', { status: 500 }) }, 'answered 500'],
    ['that answers garbage', { [openId]: text('<html>') }, 'is no JSON'],
    ['that answers null', { [openId]: text('null') }, 'names the issuer (none)'],
    [
      'that is another',
      discovery({ issuer: 'https://evil.example', jwks_uri: 'x' }),
      'names the issuer "https://evil.example", not',
    ],
    ['whose keys are garbage', { '/keys': text('{"keys":') }, 'is no JSON'],
    ['whose keys are no list', keys({ keys: {} }), 'has no public key'],
    ['without keys', keys({ keys: [] }), 'has no public key'],
    [
      'whose keys are secrets',
      keys({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'a' }] }),
      'has no public key',
    ],
    [
      'whose keys are not there',
      { '/keys': () => new Response(null, { status: 404 }) },
      'answered 404',
    ],
    [
      'that redirects',
      { '/keys': () => Response.redirect('https://evil.example/k', 302) },
      'answered 302 and redirects to https://evil.example/k',
    ],
    ['that answers 257 KiB', { '/keys': text(' '.repeat(257 * 1024)) }, 'more than 256 KiB'],
    [
      'that never ends',
      {
        '/keys': () =>
          new Response(new ReadableStream({ pull: c => c.enqueue(new Uint8Array(65_536)) })),
      },
      'more than 256 KiB',
    ],
    [
      'that compresses, unasked',
      {
        '/keys': () =>
          new Response(Bun.gzipSync(JSON.stringify(jwks)), {
            headers: { 'content-encoding': 'gzip' },
          }),
      },
      'is no JSON',
    ],
  ]
  test.each(faults)('%s', async (_, answers, reason) => {
    const failure = await failureOf(providerWith(answers))
    expect(failure?.name).toBe('ProviderFailure')
    expect(failure?.message).toContain(reason)
    expect(failure?.fix).not.toBe('')
  })

  test.each([
    undefined,
    1,
    'keys',
    'http://169.254.169.254/keys',
    'file:///etc/passwd',
    'https://u:p@id.example/keys',
  ])('whose keys are said to be at %p', async jwksUrl => {
    const made = impostor({
      [openId]: () => Response.json({ issuer: made.issuer, jwks_uri: jwksUrl }),
    })
    const failure = await failureOf({ issuer: made.issuer, jwksUrl: null })
    expect(failure?.message).toContain('has no https address as "jwks_uri"')
    expect(made.asked).toEqual([openId])
  })

  test('that is slow, and one that sends its keys byte by byte', async () => {
    const hanging = providerWith({
      [openId]: () => Bun.sleep(5_000).then(() => new Response('{}')),
    })
    const dripping = providerWith({
      '/keys': () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new Uint8Array([32]))
              await Bun.sleep(20)
            },
          }),
        ),
    })
    for (const provider of [hanging, dripping]) {
      const failure = await askProvider(provider, 150).catch(error => error)
      expect(failure.message).toContain('did not answer in time')
    }
  })

  test('that does not listen', async () => {
    const failure = await failureOf({ issuer: 'http://127.0.0.1:1', jwksUrl: null })
    expect(failure?.message).toContain('cannot be reached (ECONNREFUSED)')
  })
})

describe('a check for the operator', () => {
  let provider: Provider
  beforeAll(async () => {
    provider = await Provider.start([key, await signingKey('RS256', 'rs')])
  })
  afterAll(() => provider.stop())

  const config = (sessionIssuer: string | null, sessionSecret: string | null = null) => ({
    sessionIssuer,
    sessionSecret,
    sessionJwksUrl: null,
  })

  test('of a real provider passes, counts its keys and reads its clock', async () => {
    const check = await checkIssuer(config(provider.issuer))
    expect(check).toMatchObject({
      ok: true,
      detail: `${provider.issuer} has 2 usable keys (ES256, RS256)`,
    })
    // The provider responds with the time of the machine.
    expect(Math.abs(check.clockSkewMs! + movedBy)).toBeLessThan(1_500)
  })

  test('of a provider with a slow clock says by how much', async () => {
    const date = new Date(Date.now() - 90_000).toUTCString()
    const slow = providerWith({ '/keys': () => Response.json(jwks, { headers: { date } }) })
    const { clockSkewMs } = await checkIssuer(config(slow.issuer))
    expect(clockSkewMs).toBeWithin(-91_500, -88_500)
  })

  test('of one that fails says why and what to do', async () => {
    const { issuer } = providerWith({ [openId]: () => new Response('x', { status: 503 }) })
    expect(await checkIssuer(config(issuer))).toEqual({
      ok: false,
      detail: `${issuer}${openId} answered 503`,
      fix: "see the provider's own log",
    })
  })

  test('without a provider passes', async () => {
    expect((await checkIssuer(config(null))).detail).toContain('Cairn itself')
    expect((await checkIssuer(config('acme', 's'.repeat(32)))).detail).toContain('HS256')
  })
})
