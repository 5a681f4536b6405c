import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { CommandLine } from '../support/command-line.ts'
import { prepared } from '../support/prepared.ts'

const withHarbor = prepared(place => place.json(['org', 'create', 'Harbor']))

let cairn: CommandLine
beforeEach(() => {
  cairn = new CommandLine()
})
afterEach(() => cairn.close())

describe('org', () => {
  test('create makes the data directory for its owner alone and prints id, slug and key', async () => {
    const made = await cairn.json(['org', 'create', 'Harbor Inc'])
    expect(Object.keys(made)).toEqual(['id', 'slug', 'name', 'snippetKey'])
    expect(made.slug).toBe('harbor-inc')
    expect(statSync(cairn.path('cairn-data')).mode & 0o777).toBe(0o700)
    expect(await cairn.json(['key', 'show'])).toMatchObject({ snippetKey: made.snippetKey })
  })

  test('create uses the directory of --data, or else the one that CAIRN_DATA names', async () => {
    const env = { CAIRN_DATA: cairn.path('a') }
    await cairn.json(['org', 'create', 'A'], env)
    await cairn.json(['org', 'create', 'B', '--data', cairn.path('b')], env)
    const slugs = async (dir: string) =>
      (await cairn.json(['org', 'list', '--data', dir])).map((org: { slug: string }) => org.slug)
    expect([await slugs('a'), await slugs('b')]).toEqual([['a'], ['b']])
  })

  test('list prints what is set', async () => {
    const { id } = await withHarbor(cairn)
    expect(await cairn.json(['org', 'list'])).toMatchObject([
      { id, slug: 'harbor', name: 'Harbor', origins: [], retentionDays: null, traits: [] },
    ])
  })

  test('a taken slug is refused, another can be chosen', async () => {
    await withHarbor(cairn)
    const { stderr, status } = await cairn.run(['org', 'create', 'Harbor'])
    expect(status).toBe(1)
    expect(stderr).toBe('cairn: the slug "harbor" is taken: choose another with --slug\n')
    const { slug } = await cairn.json(['org', 'create', 'Harbor', '--slug', 'harbor-2'])
    expect(slug).toBe('harbor-2')
  })

  test('set and unset change one setting, and settings shows all by their names', async () => {
    await withHarbor(cairn)
    const set = async (...words: string[]) => (await cairn.run(['org', 'set', ...words])).stdout
    expect(await set('timezone', 'europe/berlin')).toBe('Set timezone to Europe/Berlin.\n')
    expect(await set('name', 'Harbor Group')).toBe('Set name to Harbor Group.\n')
    expect(await set('limits.events', '1200')).toBe('Set limits.events to 1200.\n')
    expect(await set('origins', 'https://a.example', 'https://b.example')).toBe(
      'Set origins to https://a.example https://b.example.\n',
    )
    const { stdout } = await cairn.run(['org', 'settings'])
    for (const line of [/^name +Harbor Group$/m, /^limits.events +1200$/m, /^theme +–$/m]) {
      expect(stdout).toMatch(line)
    }
    for (const key of ['timezone', 'limits.events', 'origins']) {
      expect((await cairn.run(['org', 'unset', key])).status).toBe(0)
    }
    const settings = { timezone: null, origins: [], limits: { events: 300 }, overrides: {} }
    expect(await cairn.json(['org', 'settings'])).toMatchObject(settings)
  })

  test.each([
    [['timezon', 'UTC'], 2, 'unknown setting "timezon": did you mean "timezone"?'],
    [['limits', '7'], 2, 'limits has several fields'],
    [['limits.events', '0'], 1, '/limits/events'],
    [['origins', 'https://a.example', 'nonsense'], 1, '/origins/1'],
    [['timezone', 'Atlantis'], 1, '/timezone'],
  ] as const)('set %p is an error that names the setting', async (words, status, message) => {
    await withHarbor(cairn)
    const before = await cairn.json(['org', 'settings'])
    const wrong = await cairn.run(['org', 'set', ...words])
    expect([wrong.status, wrong.stdout]).toEqual([status, ''])
    expect(wrong.stderr).toContain(message)
    expect(await cairn.json(['org', 'settings'])).toEqual(before)
  })

  test('set warns of what a setting means for data and for readers', async () => {
    await withHarbor(cairn)
    const warningOf = async (...words: string[]) =>
      (await cairn.run(['org', 'set', ...words])).stderr
    expect(await warningOf('retentionDays', '30')).toMatch(/ will be deleted permanently\n$/)
    expect(await warningOf('traits', 'plan', 'email')).toContain('makes every run personal data')
    expect(await warningOf('traits', 'plan')).toBe('')
    expect(await warningOf('theme.accent', '#ff0')).toContain('low_contrast /accent')
  })

  test('a field of the theme is set alone, and a file sets all of it', async () => {
    await withHarbor(cairn)
    await cairn.run(['org', 'set', 'theme.radius', '4'])
    await cairn.run(['org', 'set', 'theme.dark.accent', '#fff'])
    await cairn.run(['org', 'set', 'theme.dark.text', '#eee'])
    await cairn.run(['org', 'unset', 'theme.dark.accent'])
    const theme = async () => (await cairn.json(['org', 'settings'])).theme
    expect(await theme()).toMatchObject({ radius: 4, dark: { text: '#eee' } })
    const file = cairn.path('theme.yaml')
    await Bun.write(file, 'preset: calm\nfont: { size: big }\n')
    const wrong = await cairn.run(['org', 'set', 'theme', `@${file}`])
    expect([wrong.status, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('theme.yaml:2:15 error'),
    ])
    await Bun.write(file, 'preset: calm\n')
    expect((await cairn.run(['org', 'set', 'theme', `@${file}`])).status).toBe(0)
    expect(await theme()).toMatchObject({ preset: 'calm', radius: null })
    await cairn.run(['org', 'unset', 'theme'])
    expect(await theme()).toBeNull()
  })
})

describe('cairn api', () => {
  test('sends any request, and prints the response as it is', async () => {
    await withHarbor(cairn)
    const api = (...words: string[]) => cairn.run(['api', ...words])
    const changed = await api('PATCH', '/settings', '--body', '{"throttle": 2}')
    expect(JSON.parse(changed.stdout)).toMatchObject({ throttle: 2 })
    await Bun.write(cairn.path('body.json'), '{"throttle": null}')
    await api('patch', '/api/v1/manage/settings', '--body', '@body.json')
    expect(JSON.parse((await api('GET', 'settings')).stdout)).toMatchObject({ throttle: null })
    const flow = JSON.stringify({ key: 'a', steps: [{ key: 'b', title: 'B' }] })
    const missing = await api('PUT', '/flows/a/draft', '--body', flow)
    expect([missing.status, missing.stdout]).toEqual([1, ''])
    const header = ['--header', 'If-None-Match: *']
    expect((await api('PUT', '/flows/a/draft', '--body', flow, ...header)).status).toBe(0)
  })

  test('needs no organisation for a route that is about none', async () => {
    for (const name of ['A', 'B']) await cairn.json(['org', 'create', name])
    expect(await cairn.json(['api', 'GET', '/organisations'])).toMatchObject({ total: 2 })
    expect(await cairn.json(['api', 'GET', '/settings', '--org', 'b'])).toMatchObject({ slug: 'b' })
  })

  test.each([
    [['FETCH', '/flows'], 'the method must be one of'],
    [['GET', '/a b'], 'the path must not have spaces'],
    [['POST', '/push', '--body', '{'], '--body must be JSON'],
    [['GET', '/flows', '--header', 'nonsense'], '--header must be such as'],
  ])('%p is wrong usage', async (words, message) => {
    await withHarbor(cairn)
    const { status, stdout, stderr } = await cairn.run(['api', ...words])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })
})

describe('--org', () => {
  test('must be given where there are more, and the error names them', async () => {
    await cairn.json(['org', 'create', 'A'])
    await cairn.json(['org', 'create', 'B'])
    const { stderr, status } = await cairn.run(['key', 'show'])
    expect([status, stderr]).toEqual([2, 'cairn: choose an organisation with --org: a, b\n'])
  })

  test('is a failure if there is no such organisation', async () => {
    await cairn.json(['org', 'create', 'A'])
    const { stderr, status } = await cairn.run(['key', 'show', '--org', 'nobody'])
    expect([status, stderr.includes('organisation "nobody" not found')]).toEqual([1, true])
  })
})

describe('key rotate', () => {
  test('leaves the old key its grace time, or none with --now', async () => {
    const { snippetKey: first } = await withHarbor(cairn)
    const second = await cairn.json(['key', 'rotate', '--key-grace-hours', '2'])
    const untilMs = Date.parse(second.previousUntil) - Date.now()
    expect(untilMs / 3_600_000).toBeCloseTo(2, 1)
    const { snippetKey, previous } = await cairn.json(['key', 'show'])
    expect(snippetKey).toBe(second.snippetKey)
    expect(previous).toEqual([{ key: first, worksUntil: second.previousUntil }])
    const third = await cairn.json(['key', 'rotate', '--now'])
    expect(await cairn.json(['key', 'show'])).toMatchObject({
      snippetKey: third.snippetKey,
      previous: [],
    })
  })
})

describe('token issue', () => {
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

  test('prints a token of the organisation and when it ends, by default in 12 hours', async () => {
    const { id } = await withHarbor(cairn)
    const issued = await cairn.json(['token', 'issue', '--org', 'harbor'])
    expect(Object.keys(issued)).toEqual(['token', 'expiresAt'])
    const claims = claimsOf(issued.token)
    expect(claims).toMatchObject({ org: id, iss: 'cairn', aud: 'cairn' })
    expect(new Date(claims.exp * 1000).toISOString()).toBe(issued.expiresAt)
    expect(claims.exp - Date.now() / 1000).toBeCloseTo(12 * 3600, -2)
  })

  test('takes other lifetimes, and refuses wrong ones', async () => {
    await withHarbor(cairn)
    const { token } = await cairn.json(['token', 'issue', '--for', '90s'])
    expect(claimsOf(token).exp - Date.now() / 1000).toBeCloseTo(90, -1)
    for (const wrong of ['0s', '8', 'h', '8y', '1.5h', '367d']) {
      const { status } = await cairn.run(['token', 'issue', '--for', wrong])
      expect(status).toBe(2)
    }
  })

  test('uses the shared secret, issuer and audience where they are configured', async () => {
    await withHarbor(cairn)
    const env = {
      CAIRN_SESSION_SECRET: 's'.repeat(32),
      CAIRN_SESSION_ISSUER: 'https://id.example',
      CAIRN_SESSION_AUDIENCE: 'tours',
      CAIRN_ORGANISATION_CLAIM: 'tenant',
    }
    const { token } = await cairn.json(['token', 'issue'], env)
    expect(claimsOf(token)).toMatchObject({ iss: 'https://id.example', aud: 'tours' })
    expect(claimsOf(token).tenant).toMatch(/^org_/)
  })

  test('is refused if an identity provider makes them, with what to ask it for', async () => {
    await withHarbor(cairn)
    const env = {
      CAIRN_SESSION_ISSUER: 'https://id.example',
      CAIRN_SESSION_AUDIENCE: 'tours',
    }
    const { status, stdout, stderr } = await cairn.run(['token', 'issue'], env)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(
      'cairn: the identity provider https://id.example issues session tokens: request one with the audience "tours" and the organisation in the claim "org"\n',
    )
  })
})
