import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newManagementToken } from '../../src/core/organisation/access.ts'
import type { Server } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

/** Commands that manage a remote server, as in CI: with `--url` and a management token in CAIRN_TOKEN. */

const place = new CommandLine()
let server: Server
let url: string
let token: string
/** CAIRN_DATA names no directory, so a command cannot fall back to local data. */
let env: Record<string, string>

beforeAll(async () => {
  for (const name of ['Acme', 'Globex']) await place.json(['org', 'create', name])
  await place.run(['org', 'set', 'limits.manage', '1000000', '--org', 'acme'])
  const scopes = ['flows:read', 'flows:write', 'settings:write']
  const create = ['token', 'create', 'CI', '--scope', ...scopes, '--org', 'acme']
  ;({ token } = await place.json(create))
  env = { CAIRN_TOKEN: token, CAIRN_DATA: place.path('nowhere') }
  server = await place.serve(['--host', '127.0.0.1'])
  ;({ url } = server)
  await Bun.write(join(place.folder, 'pushed.yaml'), 'key: pushed\nsteps: [{key: a, title: A}]\n')
}, 300_000)
afterAll(() => place.close())

const elsewhere = (...args: string[]) => place.json([...args, '--url', url], env)
const push = (to: string, more: Record<string, string> = {}) =>
  place.run(['flows', 'push', 'pushed.yaml', '--url', to], { ...env, ...more })

/** Runs a command that must print nothing but an error. */
const refused = async (args: string[], more: Record<string, string> = {}) => {
  const { stdout, stderr, status } = await place.run(args, { ...env, ...more })
  expect(stdout).toBe('')
  return [status, stderr]
}

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

test('commands read and change the organisation of the token: its flows, settings, keys and secrets', async () => {
  // A line break at the end, as CI files and secrets have it, is not part of the token.
  expect(await push(`${url}/`, { CAIRN_TOKEN: `${token}\n` })).toMatchObject({ status: 0 })
  const set = await elsewhere('org', 'set', 'origins', 'https://A.example', '--org', 'acme')
  expect(set).toMatchObject({ slug: 'acme', origins: ['https://a.example'] })
  expect(await elsewhere('org', 'settings')).toMatchObject({ retentionDays: null })
  const { traits } = await elsewhere('org', 'set', 'traits', 'plan', 'company.size')
  expect(traits).toEqual(['plan', 'company.size'])
  expect(await elsewhere('api', 'GET', '/me')).toMatchObject({ kind: 'token', name: 'CI' })
  const { snippetKey } = await elsewhere('key', 'rotate')
  expect(await place.json(['key', 'show', '--org', 'acme'])).toMatchObject({ snippetKey })
  const { secret } = await elsewhere('org', 'identity', 'rotate')
  const here = await place.json(['org', 'identity', 'show', '--secrets', '--org', 'acme'])
  expect(here.secrets).toMatchObject([{ secret }])
  const lines: { via: string; actor: string }[] = await place.json(['audit', '--org', 'acme'])
  expect(lines[0]).toMatchObject({ via: 'token', actor: expect.stringMatching(/^CI \(token_/) })
})

test('a token cannot change limits or another organisation, or do what its scopes do not include', async () => {
  expect(await refused(['org', 'set', 'limits.events', '5', '--url', url])).toEqual([
    1,
    'cairn: this is for the operator, on the machine of the server\n',
  ])
  expect(await refused(['org', 'settings', '--org', 'globex', '--url', url])).toEqual([
    1,
    'cairn: CAIRN_TOKEN is for the organisation acme, not for "globex"\n',
  ])
  const erase = ['person', 'erase', 'ann', '--org', 'acme', '--yes', '--url', url]
  expect(await refused(erase)).toEqual([1, 'cairn: this needs the scope people:erase\n'])
})

describe('the error says what to do if the address is answered by', () => {
  const overloaded = { error: 'The server has more to write', code: 'overloaded' }
  const stranger = /the response \(\d+\) is not Cairn's: check --url/
  const later = /^cairn: rate limit exceeded: try again later\n$/
  test.each<[what: string, says: RegExp, answer: () => Response]>([
    ['a page', stranger, () => new Response('<html>')],
    ['JSON that is not Cairn’s', stranger, () => Response.json({ hello: 1 })],
    ['a list', stranger, () => Response.json([], { status: 404 })],
    ['a proxy without a server', stranger, () => new Response('', { status: 503 })],
    [
      'a redirect',
      /redirects to https:\/\/other\.example, where the token is not sent/,
      () => Response.redirect('https://other.example/a'),
    ],
    ['a rate limit for a day', later, () => limited('86400')],
    [
      'a rate limit without a number of seconds',
      later,
      () => limited('Wed, 21 Oct 2065 07:28:00 GMT'),
    ],
    [
      'a server that cannot write',
      /^cairn: the server has more to write: try again later; .*"cairn doctor" on the server says why\n$/,
      () => Response.json(overloaded, { status: 503, headers: { 'retry-after': '0' } }),
    ],
    [
      'a server that does not know the token',
      /rejected the token in CAIRN_TOKEN: .*wrong, expired or revoked/,
      () => Response.json({ error: 'Unauthorized' }, { status: 401 }),
    ],
  ])('%s', async (_, says, answer) => {
    const { status, stderr, stdout } = await answering(answer, push)
    expect(stderr).toMatch(says)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).not.toContain(token)
  })
})

test('a command waits as long as a rate limit requires, and then tries again', async () => {
  let requests = 0
  const answer = (request: Request) => {
    if (++requests === 1) return limited('1')
    return Response.redirect(`${url}${new URL(request.url).pathname}`)
  }
  const startedAt = performance.now()
  const { stderr } = await answering(answer, push)
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  expect([requests, stderr]).toEqual([2, expect.stringContaining(`redirects to ${url}`)])
})

test('the error names an untrusted certificate, a wrong protocol, an absent server or a wrong path', async () => {
  const pem = (name: string) =>
    readFileSync(join(import.meta.dir, '../fixtures/tls', `${name}.pem`), 'utf8')
  const tls = { key: pem('self-signed-key'), cert: pem('self-signed') }
  let requests = 0
  const answer = () => new Response(`${++requests}`)
  const [untrusted, plain] = await answering(
    answer,
    async at => [await push(at), await push(at.replace('https', 'http'))] as const,
    tls,
  )
  expect(untrusted.stderr).toContain('its certificate is not trusted')
  expect(untrusted.stderr).toContain('NODE_EXTRA_CA_CERTS')
  expect(plain.stderr).toContain('check https:// or http://')
  expect(requests).toBe(0)
  const gone = await answering(answer, async at => at)
  expect((await push(gone)).stderr).toMatch(/cannot be reached \(\w+\): nothing listens there/)
  const nowhere = await push('http://nowhere.invalid')
  expect(nowhere.stderr).toContain('unknown host: check the name')
  expect(nowhere.stderr).toContain('warning: http:// sends')
  expect((await push(url)).stderr).not.toContain('warning')
  for (const path of ['/api/v1', '/docs/', '/dashboard/acme', '/nothing']) {
    expect(await refused(['org', 'settings', '--url', url + path])).toEqual([
      1,
      `cairn: no Cairn at ${url}${path.replace(/\/$/, '')}: use --url ${url}, without a path\n`,
    ])
  }
  expect(await refused(['org', 'settings', '--url', 'nonsense'])).toEqual([
    2,
    expect.stringContaining('--url must be an address'),
  ])
})

test.each([
  ['nothing', ''],
  ['a prefix', 'crn_'],
  ['a letter too many', `${newManagementToken()}x`],
  ['two lines', `${newManagementToken()}\n x`],
  ['a letter of another script', 'crn_\u{e9}\u{e9}\u{e9}'],
])('%s as the token is neither sent nor printed', async (_, wrong) => {
  let requests = 0
  const answer = () => new Response(`${++requests}`)
  const { status, stderr } = await answering(answer, at => push(at, { CAIRN_TOKEN: wrong }))
  expect([status, requests]).toEqual([2, 0])
  expect(stderr).toContain('CAIRN_TOKEN')
  if (wrong.length > 6) expect(stderr).not.toContain(wrong.trim())
})

test('the token appears in no log and in no list of processes', async () => {
  let listed = ''
  const answer = () => {
    listed = Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString()
    return Response.json({})
  }
  const args = ['flows', 'push', 'pushed.yaml', '--url']
  const { stderr } = await answering(answer, at =>
    place.runBinary([...args, at], { ...env, CAIRN_DEBUG: '1' }),
  )
  expect(listed).toContain('flows push pushed.yaml')
  for (const text of [listed, stderr, server.stdout, server.stderr]) {
    expect(text).not.toContain(token.slice(4))
  }
})

test('a revoked token is refused by every thread from then on', async () => {
  const create = ['token', 'create', 'Short', '--scope', 'flows:read', '--org', 'acme']
  const made = await place.json<{ token: string; id: string }>(create)
  // Each request over a connection of its own, which any thread may have.
  const status = async () => {
    const headers = { authorization: `Bearer ${made.token}`, connection: 'close' }
    return (await fetch(`${url}/api/v1/manage/me`, { headers, keepalive: false })).status
  }
  const all = async () => new Set(await Promise.all(Array.from({ length: 12 }, status)))
  expect(await all()).toEqual(new Set([200]))
  expect((await place.run(['token', 'revoke', made.id, '--org', 'acme'])).status).toBe(0)
  expect(await all()).toEqual(new Set([401]))
})
