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
    expect(Object.keys(made)).toEqual(['id', 'slug', 'snippetKey'])
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

  test('list prints what is set, in a stable order', async () => {
    const { id } = await withHarbor(cairn)
    const [one, ...others] = await cairn.json(['org', 'list'])
    expect(others).toEqual([])
    expect(one).toMatchObject({ id, slug: 'harbor', name: 'Harbor', origins: [] })
    expect(Object.keys(one)).toEqual([
      ...['id', 'slug', 'name', 'limits', 'origins'],
      ...['retentionDays', 'honoursDoNotTrack', 'traits', 'createdAt'],
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

  test('traits sets the list, warns of personal data, and refuses what is no name', async () => {
    await withHarbor(cairn)
    expect((await cairn.run(['org', 'traits'])).stdout).toBe('none\n')
    const set = await cairn.run(['org', 'traits', 'harbor', 'plan', 'email'])
    expect([set.status, set.stdout]).toEqual([0, 'plan\nemail\n'])
    expect(set.stderr).toContain(
      'a trait that says who somebody is makes personal data of every run',
    )
    const wrong = await cairn.run(['org', 'traits', 'harbor', 'a:b'])
    expect([wrong.status, wrong.stdout]).toEqual([1, ''])
    expect(wrong.stderr).toStartWith('cairn: "a:b": a trait\'s name is at most 64 letters')
    const both = await cairn.run(['org', 'traits', 'harbor', 'plan', '--none'])
    expect([both.status, both.stderr.includes('give traits or --none, not both')]).toEqual([
      2,
      true,
    ])
    const nine = Array.from({ length: 9 }, (_, i) => `t${i}`)
    expect((await cairn.run(['org', 'traits', 'harbor', ...nine])).status).toBe(1)
    expect((await cairn.run(['org', 'traits', 'harbor', '--none'])).stdout).toBe('none\n')
  })

  test('limits sets what is named, shows all, and takes overrides back', async () => {
    const { id } = await withHarbor(cairn)
    const set = await cairn.json(['org', 'limits', id, '--events', '1200', '--export', '5'])
    expect(set.overrides).toEqual({ events: 1200, export: 5 })
    const back = await cairn.json(['org', 'limits', 'harbor', '--events', 'default'])
    expect(back.limits).toMatchObject({ events: 300, export: 5, flows: 60 })
    expect(await cairn.json(['org', 'limits', 'harbor'])).toEqual(back)
    for (const wrong of ['0', '1000001', 'many', '-5', '1.5']) {
      const { status } = await cairn.run(['org', 'limits', 'harbor', `--events=${wrong}`])
      expect(status).toBe(2)
    }
  })

  test('rename changes the name that people see, and neither slug nor id', async () => {
    const { id } = await cairn.json<{ id: string }>(['org', 'create', 'Harbour'])
    expect((await cairn.run(['org', 'rename', 'harbour', ' Harbor Group '])).stdout).toBe(
      'Harbor Group\n',
    )
    expect(await cairn.json(['org', 'list'])).toMatchObject([
      { id, slug: 'harbour', name: 'Harbor Group' },
    ])
    for (const wrong of [' ', 'x'.repeat(201), 'two\nlines']) {
      expect((await cairn.run(['org', 'rename', 'harbour', wrong])).status).toBe(1)
    }
    expect(await cairn.json(['org', 'list'])).toMatchObject([{ name: 'Harbor Group' }])
  })

  test('timezone sets the zone of the dashboard’s days by its usual name, and takes it back', async () => {
    await withHarbor(cairn)
    const timezone = ['org', 'timezone', 'harbor']
    expect(await cairn.json(timezone)).toMatchObject({ timezone: null })
    expect((await cairn.run([...timezone, 'europe/berlin'])).stdout).toBe('Europe/Berlin\n')
    for (const wrong of [['Atlantis'], ['+01:00'], ['UTC', '--browser']]) {
      expect((await cairn.run([...timezone, ...wrong])).status).toBe(2)
    }
    expect(await cairn.json(timezone)).toMatchObject({ timezone: 'Europe/Berlin' })
    expect(await cairn.json([...timezone, '--browser'])).toMatchObject({ timezone: null })
  })

  test('theme sets fields and resets them, reads a file, and says what is wrong and where', async () => {
    await withHarbor(cairn)
    const theme = ['org', 'theme', 'harbor']
    expect(await cairn.json(theme)).toMatchObject({ theme: null })
    const set = await cairn.run([
      ...theme,
      '--accent',
      '#ff0',
      '--dark-accent',
      '#fff',
      '--radius',
      '4',
    ])
    expect(set.stdout).toBe('accent: "#ff0"\nradius: 4\ndark: { accent: "#fff" }\n')
    expect(set.stderr).toContain('low_contrast /accent')
    const more = ['--accent', 'default', '--dark-accent', 'default', '--font-size', '16']
    expect(await cairn.json([...theme, ...more])).toMatchObject({
      theme: { accent: null, radius: 4, font: { size: 16 } },
    })
    for (const wrong of [
      ['--radius', 'big'],
      ['--reset', '--radius', '1'],
    ]) {
      expect((await cairn.run([...theme, ...wrong])).status).toBe(2)
    }
    const refused = await cairn.run([...theme, '--shadow', 'huge'])
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining('/theme/shadow Must be one of none, soft, strong'),
    ])
    const file = cairn.path('theme.yaml')
    await Bun.write(file, 'preset: calm\nfont: { size: big }\n')
    const wrong = await cairn.run([...theme, '--file', file])
    expect([wrong.status, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('theme.yaml:2:15 error'),
    ])
    await Bun.write(file, 'preset: calm\n')
    const byFile = await cairn.json([...theme, '--file', file])
    expect(byFile.theme).toEqual({
      ...{ accent: null, background: null, text: null, radius: null, preset: 'calm' },
    })
    expect(await cairn.json([...theme, '--reset'])).toMatchObject({ theme: null })
  })

  test('origins reports all that are wrong, and sets none', async () => {
    await withHarbor(cairn)
    const list = ['https://a.example', 'nonsense', 'https://b.example/x']
    const { stdout, stderr, status } = await cairn.run(['org', 'origins', 'harbor', ...list])
    expect([stdout, status]).toEqual(['', 1])
    expect(stderr.split('\n')).toEqual([
      'cairn: nothing was changed: 2 origins are wrong',
      '  "nonsense" is no origin: write scheme://host, such as https://app.example.com',
      '  "https://b.example/x" is no origin: an origin has no path: write https://b.example',
      '',
    ])
    expect(await cairn.json(['org', 'origins', 'harbor'])).toMatchObject({ origins: [] })
  })
})

describe('--org', () => {
  test('must be given where there are more, and the error names them', async () => {
    await cairn.json(['org', 'create', 'A'])
    await cairn.json(['org', 'create', 'B'])
    const { stderr, status } = await cairn.run(['key', 'show'])
    expect([status, stderr]).toEqual([2, 'cairn: say which organisation with --org: a, b\n'])
  })

  test('is a failure if there is no such organisation', async () => {
    await cairn.json(['org', 'create', 'A'])
    const { stderr, status } = await cairn.run(['key', 'show', '--org', 'nobody'])
    expect([status, stderr.includes('there is no organisation "nobody"')]).toEqual([1, true])
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
      'cairn: session tokens are made by https://id.example, the configured issuer: ask it for one with the audience "tours" and the organisation in the claim "org"\n',
    )
  })
})
