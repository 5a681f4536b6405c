import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { CommandLine } from '../support/command-line.ts'

const cairn = new CommandLine()
let url = ''
let snippetKey = ''

beforeAll(async () => {
  snippetKey = (await cairn.json(['org', 'create', 'Acme'])).snippetKey
  writeFileSync(cairn.path('tour.yaml'), 'key: tour\nsteps:\n  - { key: hello, title: Hello }\n')
  url = (await cairn.serve(['--host', '127.0.0.1'])).url
})
afterAll(() => cairn.close())

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${snippetKey}`, ...headers } })

test('the operator sees what the API answers, with status 1 if it is misconfigured', async () => {
  const before = await cairn.run(['org', 'status'])
  expect(before.status).toBe(0)
  expect(before.stdout).toStartWith('acme: never_seen, not installed\n\nSTAGE')
  expect(before.stdout).toContain('\ninfo: snippet_not_seen\n')

  await cairn.json(['org', 'set', 'origins', 'https://app.example'])
  expect((await ask('/flows', { origin: 'https://x.example' })).status).toBe(403)
  const wrong = await cairn.run(['org', 'status', '--org', 'acme'])
  expect(wrong.status).toBe(1)
  expect(wrong.stdout).toStartWith('acme: misconfigured, not installed\n')
  expect(wrong.stdout).toContain('"cairn org settings"')
  expect(wrong.stdout).not.toContain('x.example')

  await cairn.json(['flows', 'push', 'tour.yaml'])
  await cairn.json(['flows', 'publish', 'tour'])
  await ask('/flows')
  const well = await cairn.run(['org', 'status', '--org', 'acme'])
  expect([well.status, well.stderr]).toEqual([0, ''])
  expect(well.stdout).toStartWith('acme: active, installed\n')
  const requested = (await (await ask('/snippet-status')).json()) as object
  const { id, slug, erased24h, publicUrl, snippet, ...told } = await cairn.json(['org', 'status'])
  const dated = told.findings.map(({ since, ...finding }: Dated) => {
    // Refusals are counted by the hour.
    const when = finding.code === 'origin_not_allowed' ? `the hour of ${since}` : since
    expect(well.stdout).toContain(`${finding.severity}: ${finding.code}, since ${when}\n`)
    return finding
  })
  expect({ slug, told: { ...told, findings: dated } }).toEqual({
    slug: 'acme',
    told: { ...requested, snippetKey },
  })
  expect([publicUrl, Object.keys(snippet)]).toEqual([null, ['file', 'integrity']])
  expect(erased24h).toBe(0)
  expect(id).toMatch(/^org_/)
})

interface Dated {
  severity: string
  code: string
  since: string | null
}

test('the status includes what a running server has only noted in memory', async () => {
  const { snippetKey: key } = await cairn.json(['org', 'create', 'Beta'])
  const headers = { authorization: `Bearer ${key}` }
  for (const version of ['1.4.0', '1.5.0']) {
    expect((await ask(`/heartbeat?v=${version}`, headers)).status).toBe(200)
    const status = await cairn.json(['org', 'status', '--org', 'beta'])
    expect(status).toMatchObject({ state: 'active', installed: true, snippetVersion: version })
    expect(status.lastSeenAt).toBe(status.stages[2].lastAt)
  }
  const sentAt = Date.now() - 3_600_000
  const body = JSON.stringify({ sentAt, events: [{ kind: 'custom', name: 'x', userId: 'ann' }] })
  await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body })
  const { skewMsMedian, stages } = await cairn.json(['org', 'status', '--org', 'beta'])
  expect(skewMsMedian).toBeGreaterThanOrEqual(3_600_000)
  expect((await cairn.run(['org', 'status', '--org', 'beta'])).stdout).toMatch(
    /^clock difference +1 hour behind$/m,
  )
  expect(stages[3].lastAt).not.toBeNull()
})
