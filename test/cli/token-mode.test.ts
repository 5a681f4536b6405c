import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

/** Commands beside a server that was started with settings for session tokens that differ from theirs. */

const secret = { CAIRN_SESSION_SECRET: 'of the identity provider, and long' }
const audience = { CAIRN_SESSION_ISSUER: 'https://id.example', CAIRN_SESSION_AUDIENCE: 'tours' }
const provider = { ...audience, CAIRN_SESSION_JWKS_URL: 'http://127.0.0.1:1/keys' }

let place: CommandLine
beforeAll(async () => {
  place = new CommandLine()
  await place.json(['org', 'create', 'Acme'])
})
afterAll(() => place.close())

const issue = (env: Record<string, string>) => place.run(['token', 'issue'], env)
const doctor = async (env: Record<string, string>) => (await place.run(['doctor'], env)).stdout

test.each([
  ['a provider', provider, {}, 'signed by https://id.example', 'signed by Cairn itself'],
  [
    'a secret and an audience',
    { ...secret, ...audience },
    { ...secret, ...audience, CAIRN_SESSION_AUDIENCE: 'else' },
    'for the audience "tours"',
    'for the audience "else"',
  ],
  [
    'another claim',
    { CAIRN_ORGANISATION_CLAIM: 'tenant' },
    {},
    'the organisation in "tenant"',
    'the organisation in "org"',
  ],
])(
  'beside a server with %s, doctor warns, and no token is issued that the server would reject',
  async (_, served, given, theirs, ours) => {
    const server = await place.serve([], served)
    const printed = (await doctor(given)).replaceAll('\n         ', ' ')
    const warning = printed.split('\n').find(line => line.includes('running server'))
    expect(warning).toStartWith('warning  the running server accepts session tokens ')
    expect(warning).toContain("run this with the server's settings")
    const refused = await issue(given)
    expect([refused.status, refused.stdout]).toEqual([1, ''])
    for (const message of [warning, refused.stderr]) {
      expect(message).toContain(theirs)
      expect(message).toContain(ours)
      expect(message).not.toContain(secret.CAIRN_SESSION_SECRET)
    }
    expect(await doctor(served)).not.toContain('the running server accepts')
    await server.end()
  },
)

test('server.json has no secret, and a token can be issued with the settings of the server', async () => {
  const served = { ...secret, ...audience }
  const server = await place.serve([], served)
  const text = readFileSync(join(place.folder, 'cairn-data/server.json'), 'utf8')
  expect(JSON.parse(text).sessionTokens).toMatchObject({ signer: 'secret', audience: 'tours' })
  expect(text).not.toContain(secret.CAIRN_SESSION_SECRET)
  expect((await issue(served)).status).toBe(0)
  await server.end('SIGKILL')
  // While no server runs, any token can be issued.
  expect((await issue({})).status).toBe(0)
})
