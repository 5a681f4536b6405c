import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newManagementToken } from '../../src/core/organisation/management-token.ts'
import { type Server, Workplace, withTour } from '../support/binary.ts'

/** The executable as the client of a server on another machine, as in CI, and several editors at once. */

const place = new Workplace()
const scopes = ['flows:read', 'flows:write', 'flows:publish']
let server: Server
let token: string
beforeAll(async () => {
  const { slug } = await withTour(place)
  await place.run(['org', 'limits', slug, '--manage', '1000000'])
  token = (await place.json<{ token: string }>(['token', 'create', 'CI', '--scope', ...scopes]))
    .token
  server = await place.serve(['--threads', '3'])
  await Bun.write(join(place.folder, 'pushed.yaml'), 'key: pushed\nsteps: [{key: a, title: A}]\n')
}, 300_000)
afterAll(() => place.close())

const push = (url: string, env: Record<string, string> = {}) =>
  place.run(['flows', 'push', 'pushed.yaml', '--url', url], { CAIRN_TOKEN: token, ...env })

/** A server that answers as it is told to, on a free port of this machine. */
async function answering<T>(
  answer: (request: Request) => Response,
  work: (url: string) => Promise<T>,
  tls?: { key: string; cert: string },
): Promise<T> {
  const fake = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer, ...(tls && { tls }) })
  try {
    return await work(`${tls ? 'https' : 'http'}://127.0.0.1:${fake.port}`)
  } finally {
    await fake.stop(true)
  }
}

const limited = (seconds: string) =>
  Response.json(
    { error: 'Rate limit exceeded', retryAfter: Number(seconds) },
    { status: 429, headers: { 'retry-after': seconds } },
  )

describe('a push from elsewhere', () => {
  test('succeeds', async () => {
    expect(await push(server.url)).toMatchObject({ status: 0 })
    // A line break at the end, as CI files and secrets have it, is not part of the token.
    expect(await push(`${server.url}/`, { CAIRN_TOKEN: `${token}\n` })).toMatchObject({ status: 0 })
  })

  const overloaded = { error: 'The server has more to write', code: 'overloaded' }
  test.each<[what: string, says: RegExp, answer: () => Response]>([
    [
      'one that is no Cairn',
      /answered 200, and not as Cairn does: is --url right/,
      () => new Response('<html>'),
    ],
    [
      'one that speaks JSON of its own',
      /answered 200, and not as Cairn does/,
      () => Response.json({ hello: 1 }),
    ],
    ['a list', /answered 404, and not as Cairn does/, () => Response.json([], { status: 404 })],
    [
      'a proxy without a server',
      /answered 502, and not as Cairn does/,
      () => new Response('', { status: 502 }),
    ],
    [
      'a proxy that says 503 in its words',
      /answered 503, and not as/,
      () => new Response('', { status: 503 }),
    ],
    [
      'a redirect',
      /leads to https:\/\/other\.example, where the token is not sent/,
      () => Response.redirect('https://other.example/a'),
    ],
    [
      'one that wants to be waited for for a day',
      /^cairn: rate limit exceeded: try again later\n$/,
      () => limited('86400'),
    ],
    [
      'one that says no time to wait',
      /^cairn: rate limit exceeded: try again later\n$/,
      () => limited('Wed, 21 Oct 2065 07:28:00 GMT'),
    ],
    [
      'one that cannot write',
      /^cairn: the server has more to write: try again later; .*"cairn doctor" on the server says why\n$/,
      () => Response.json(overloaded, { status: 503, headers: { 'retry-after': '0' } }),
    ],
    [
      'a revoked token',
      /does not take the token in CAIRN_TOKEN/,
      () => Response.json({ error: 'Unauthorized' }, { status: 401 }),
    ],
  ])('to %s says what to do', async (_, says, answer) => {
    const { status, stderr, stdout } = await answering(answer, push)
    expect(stderr).toMatch(says)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).not.toContain(token)
  })

  test('waits as long as a limit asks it to, and then goes on', async () => {
    let asked = 0
    const answer = (request: Request) => {
      if (++asked === 1) return limited('1')
      const url = new URL(request.url)
      return Response.redirect(`${server.url}${url.pathname}`)
    }
    const startedAt = performance.now()
    const { stderr } = await answering(answer, push)
    expect(performance.now() - startedAt).toBeGreaterThan(1_000)
    expect([asked, stderr]).toEqual([2, expect.stringContaining(`leads to ${server.url}`)])
  })

  test('names an untrusted certificate, a wrong protocol and an absent server', async () => {
    const pem = (name: string) =>
      readFileSync(join(import.meta.dir, '../fixtures/tls', `${name}.pem`), 'utf8')
    const tls = { key: pem('self-signed-key'), cert: pem('self-signed') }
    let asked = 0
    const answer = () => new Response(`${++asked}`)
    const [untrusted, plain] = await answering(
      answer,
      async url => [await push(url), await push(url.replace('https', 'http'))] as const,
      tls,
    )
    expect(untrusted.stderr).toContain('its certificate is not trusted')
    expect(untrusted.stderr).toContain('NODE_EXTRA_CA_CERTS')
    expect(plain.stderr).toContain('is it https:// or http://')
    expect(asked).toBe(0)
    const gone = await answering(answer, async url => url)
    expect((await push(gone)).stderr).toMatch(/cannot be reached \(\w+\): nothing listens there/)
    expect((await push('https://nowhere.invalid')).stderr).toContain('no such host is known')
  })

  test.each([
    ['nothing', ''],
    ['a prefix', 'crn_'],
    ['another word', 'something'],
    ['a letter too many', `${newManagementToken()}x`],
    ['two lines', `${newManagementToken()}\n x`],
    ['a letter of another script', 'crn_\u{e9}\u{e9}\u{e9}'],
  ])('is not tried with %s as the token, and does not print it', async (_, wrong) => {
    let asked = 0
    const answer = () => new Response(`${++asked}`)
    const { status, stderr } = await answering(answer, url => push(url, { CAIRN_TOKEN: wrong }))
    expect([status, asked]).toEqual([2, 0])
    expect(stderr).toContain('CAIRN_TOKEN')
    if (wrong.length > 6) expect(stderr).not.toContain(wrong.trim())
  })

  test('warns where anybody on the way can read the token', async () => {
    expect((await push('http://nowhere.invalid')).stderr).toContain('warning: http:// sends')
    expect((await push(server.url)).stderr).not.toContain('warning')
  })

  test('leaves the token in no log and in no list of processes', async () => {
    let listed = ''
    const answer = () => {
      listed = Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString()
      return Response.json({})
    }
    const { stderr } = await answering(answer, url => push(url, { CAIRN_DEBUG: '1' }))
    expect(listed).toContain('flows push pushed.yaml')
    for (const text of [listed, stderr, server.stdout, server.stderr]) {
      expect(text).not.toContain(token.slice(4))
    }
  })
})

test('a revoked token is refused by every thread from then on', async () => {
  const create = ['token', 'create', 'Short', '--scope', 'flows:read']
  for (let round = 0; round < 3; round++) {
    const made = await place.json<{ token: string; id: string }>(create)
    // Each request over a connection of its own, which any thread may have.
    const status = async () => {
      const headers = { authorization: `Bearer ${made.token}`, connection: 'close' }
      return (await fetch(`${server.url}/api/v1/manage/me`, { headers, keepalive: false })).status
    }
    expect(new Set(await Promise.all(Array.from({ length: 8 }, status)))).toEqual(new Set([200]))
    expect((await place.run(['token', 'revoke', made.id])).status).toBe(0)
    expect(new Set(await Promise.all(Array.from({ length: 8 }, status)))).toEqual(new Set([401]))
  }
})
