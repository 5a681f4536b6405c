import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { Cairn } from './cairn.ts'

const cairn = new Cairn()
let url = ''
let snippetKey = ''

beforeAll(async () => {
  snippetKey = (await cairn.json(['org', 'create', 'Acme'])).snippetKey
  writeFileSync(cairn.path('tour.yaml'), 'key: tour\nsteps:\n  - { key: hello, title: Hello }\n')
  const args = ['serve', '--host', '127.0.0.1', '--port', '0', '--management-port', '0']
  const { output } = await cairn.start(args, 'cairn: serving ')
  url = /serving (\S+),/.exec(output())?.[1] ?? ''
})
afterAll(() => cairn.close())

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${snippetKey}`, ...headers } })

/** A server writes what it has seen every two seconds. */
async function until(isSo: (stdout: string) => boolean) {
  const deadline = performance.now() + 10_000
  for (;;) {
    const told = await cairn.run(['org', 'status', 'acme'])
    if (isSo(told.stdout) || performance.now() > deadline) return told
    await Bun.sleep(100)
  }
}

test('what the API answers, for the operator: status 1 where it is misconfigured', async () => {
  const before = await cairn.run(['org', 'status'])
  expect(before.status).toBe(0)
  expect(before.stdout).toStartWith('acme: never_seen, not installed\n\nSTAGE')
  expect(before.stdout).toContain('\ninfo: snippet_not_seen\n')

  await cairn.json(['org', 'origins', 'acme', 'https://app.example'])
  expect((await ask('/flows', { origin: 'https://x.example' })).status).toBe(403)
  const wrong = await until(stdout => stdout.includes('origin_not_allowed'))
  expect(wrong.status).toBe(1)
  expect(wrong.stdout).toStartWith('acme: misconfigured, not installed\n')
  expect(wrong.stdout).toContain('"cairn org origins ORG"')
  expect(wrong.stdout).not.toContain('x.example')

  await cairn.json(['flows', 'push', 'tour.yaml'])
  await cairn.json(['flows', 'publish', 'tour'])
  await ask('/flows')
  const well = await until(stdout => stdout.includes('acme: active, installed'))
  expect(well.status).toBe(0)
  const asked = await (await ask('/snippet-status')).json()
  const { id, slug, ...told } = await cairn.json(['org', 'status'])
  expect({ slug, told }).toEqual({ slug: 'acme', told: asked })
  expect(id).toMatch(/^org_/)
}, 30_000)
