import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newManagementToken } from '../../src/core/organisation/management-token.ts'
import { CommandLine } from '../support/command-line.ts'

/** Commands that manage a server elsewhere: `--url`, and a management token in CAIRN_TOKEN. */

setDefaultTimeout(300_000)

const cairn = new CommandLine()
let url = ''
let token = ''
let env: Record<string, string> = {}
beforeAll(async () => {
  await cairn.run(['org', 'create', 'Acme'])
  await cairn.run(['org', 'create', 'Globex'])
  url = (await cairn.serve(['--host', '127.0.0.1'])).url
  const create = ['token', 'create', 'CI', '--scope', 'settings:write', '--org', 'acme']
  token = (await cairn.json(create)).token
  // There is no data directory that a command could fall back to.
  env = { CAIRN_TOKEN: token, CAIRN_DATA: cairn.path('nowhere') }
})
afterAll(() => cairn.close())

const elsewhere = (...args: string[]) => cairn.json([...args, '--url', url], env)
const refused = async (args: string[], more = {}) => {
  const { stdout, stderr, status } = await cairn.run(args, { ...env, ...more })
  expect(stdout).toBe('')
  return [status, stderr]
}

test('settings, keys and secrets are set for the organisation of the token', async () => {
  const set = await elsewhere('org', 'origins', 'acme', 'https://A.example')
  expect(set).toMatchObject({ slug: 'acme', origins: ['https://a.example'] })
  expect(await elsewhere('org', 'retention', 'acme')).toMatchObject({ retentionDays: null })
  const privacy = await elsewhere('org', 'privacy', '--do-not-track', 'honour')
  expect(privacy).toMatchObject({ honoursDoNotTrack: true })
  const { traits } = await elsewhere('org', 'traits', 'acme', 'plan', 'company.size')
  expect(traits).toEqual(['plan', 'company.size'])
  const { snippetKey } = await elsewhere('key', 'rotate')
  expect(await cairn.json(['key', 'show', '--org', 'acme'])).toMatchObject({ snippetKey })
  const { secrets } = await elsewhere('org', 'identity', '--mode', 'observe')
  const here = await cairn.json(['org', 'identity', 'acme', '--show-secret'])
  expect(here).toMatchObject({ mode: 'observe', secrets })
  const lines: { via: string; actor: string }[] = await cairn.json(['audit', '--org', 'acme'])
  expect(lines[0]).toMatchObject({ via: 'token', actor: expect.stringMatching(/^CI \(token_/) })
})

test('limits are for the operator alone, and other organisations are out of reach', async () => {
  const limits = ['org', 'limits', '--url', url, '--events', '5']
  expect(await refused(limits)).toEqual([
    1,
    'cairn: this is for the operator, on the machine of the server\n',
  ])
  expect((await elsewhere('org', 'limits')).overrides).toEqual({})
  expect(await refused(['org', 'privacy', 'globex', '--url', url])).toEqual([
    1,
    'cairn: CAIRN_TOKEN is for the organisation acme, not for "globex"\n',
  ])
})

test('a wrong token or address is reported as such', async () => {
  const ask = (to: string) => ['org', 'origins', '--url', to]
  expect(await refused(ask(url), { CAIRN_TOKEN: '' })).toEqual([
    2,
    expect.stringContaining('needs a management token in the variable CAIRN_TOKEN'),
  ])
  const other = newManagementToken()
  const [status, words] = await refused(ask(url), { CAIRN_TOKEN: other })
  expect([status, words]).toEqual([1, expect.stringContaining('wrong, expired or revoked')])
  expect(words).not.toContain(other)
  expect(await refused(ask('nonsense'))).toEqual([
    2,
    expect.stringContaining('--url must be an address'),
  ])
  for (const path of ['/api/v1', '/docs/', '/dashboard/acme', '/nothing']) {
    expect(await refused(ask(url + path))).toEqual([
      1,
      `cairn: there is no Cairn at ${url}${path.replace(/\/$/, '')}: leave the path out, --url ${url}\n`,
    ])
  }
  expect(await refused(ask('http://127.0.0.1:1'))).toEqual([
    1,
    expect.stringContaining('http://127.0.0.1:1 cannot be reached'),
  ])
})
