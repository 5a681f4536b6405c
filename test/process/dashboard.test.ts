import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { prepared } from '../support/prepared.ts'

/** Who is signed in to the dashboard, across restarts, restores and settings. */

const place = new CommandLine()
const withData = prepared(withTour)
beforeAll(() => withData(place))
afterAll(() => place.close())

const ownPage = {
  'sec-fetch-site': 'same-origin',
  'cairn-dashboard': '1',
  'content-type': 'application/json',
}

/** Asks as a page of the dashboard does, over a new connection, which another thread may get each time. */
const ask = (server: Server, action: string, body: unknown = {}, cookie = '') =>
  fetch(`${server.url}/dashboard/session/${action}`, {
    method: 'POST',
    headers: { ...ownPage, ...(cookie && { cookie }) },
    body: JSON.stringify(body),
    keepalive: false,
  })

const newLink = (...words: string[]) =>
  place.json<{ url: string; role: string; name: string }>(['dashboard', 'link', ...words])

const isIn = async (server: Server, cookie: string) =>
  (await ask(server, 'token', {}, cookie)).status === 200

test('a link is printed with the address at which browsers reach the server', async () => {
  const { url, ...link } = await newLink('--public-url', 'https://cairn.example.com/below/')
  expect(url).toMatch(/^https:\/\/cairn\.example\.com\/below\/dashboard\/sign-in#[\w-]{43}$/)
  expect(link).toMatchObject({
    role: 'viewer',
    name: expect.stringMatching(/^Sign-in link \(made on the server by .+\)$/),
  })
  const server = await place.serve()
  const { stdout } = await place.run(['dashboard', 'link', '--role', 'owner', '--name', 'Ann'])
  expect(stdout).toMatch(
    new RegExp(`^http://localhost:${new URL(server.url).port}/dashboard/sign-in#`),
  )
  const env = { CAIRN_PUBLIC_URL: 'https://cairn.test' }
  const configured = await place.run(['dashboard', 'link'], env)
  expect(configured.stdout).toStartWith('https://cairn.test/dashboard/sign-in#')
  const invited = await place.run(['members', 'invite', 'editor'])
  const code = invited.stdout.trim().split('#')[1]!
  expect((await ask(server, 'redeem', { code })).status).toBe(200)
  await server.end('SIGTERM')
  for (const code of [stdout, configured.stdout, invited.stdout]) {
    expect(server.stdout + server.stderr).not.toContain(code.trim().split('#')[1]!)
  }
})

test.each([
  [['--role', 'admin'], 2, /admin/],
  [['--public-url', 'cairn.example.com'], 2, /--public-url/],
  [['--org', 'nobody'], 1, /organisation "nobody" not found/],
])('a link with %j is refused', async (words, status, says) => {
  const run = await place.run(['dashboard', 'link', ...words])
  expect([run.status, run.stdout]).toEqual([status, ''])
  expect(run.stderr).toMatch(says)
})

test('a link signs in one browser, whose session survives a kill and ends at once', async () => {
  let server = await place.serve()
  const times = Array.from({ length: 24 })
  const { url } = await newLink()
  const code = new URL(url).hash.slice(1)
  const answers = await Promise.all(times.map(() => ask(server, 'redeem', { code })))
  const [welcome, ...others] = answers.filter(({ status }) => status === 200)
  expect(others).toEqual([])
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(23)
  const cookie = welcome!.headers.get('set-cookie')!.split(';')[0]!
  await server.end('SIGKILL')
  server = await place.serve()
  const all = async () => new Set(await Promise.all(times.map(() => isIn(server, cookie))))
  expect(await all()).toEqual(new Set([true]))
  expect((await ask(server, 'sign-out', { everywhere: false }, cookie)).status).toBe(200)
  expect(await all()).toEqual(new Set([false]))
  await server.end('SIGTERM')
})

test('neither a backup nor a database that a restore replaced signs anybody in once restored; members stay', async () => {
  let server = await place.serve()
  const { url: used } = await newLink()
  const welcome = await ask(server, 'redeem', { code: new URL(used).hash.slice(1) })
  const cookie = welcome.headers.get('set-cookie')!.split(';')[0]!
  expect(await isIn(server, cookie)).toBe(true)
  const membersNow = () => place.json<{ id: string }[]>(['members', 'list'])
  const ids = (await membersNow()).map(({ id }) => id)
  expect(ids).not.toBeEmpty()
  const { stdout: invitation } = await place.run(['members', 'invite', 'editor'])
  const backup = join(place.folder, 'backup.db')
  const { url } = await newLink()
  expect((await place.runBinary(['backup', backup])).status).toBe(0)
  await server.end('SIGTERM')
  // Commands that ran in this process may hold the file until their statements are collected.
  Bun.gc(true)
  const aside = () => readdirSync(place.dataDir).find(name => name.startsWith('cairn.db.before-'))!
  for (const file of [() => backup, () => join(place.dataDir, aside())]) {
    const restored = await place.runBinary(['restore', file()])
    expect(restored.status).toBe(0)
    server = await place.serve()
    expect(await isIn(server, cookie)).toBe(false)
    for (const link of [url, invitation.trim()]) {
      const answer = await ask(server, 'redeem', { code: new URL(link).hash.slice(1) })
      expect(answer.status).toBe(401)
    }
    expect((await membersNow()).map(({ id }) => id)).toEqual(ids)
    await server.end('SIGTERM')
  }
})

test('with CAIRN_DASHBOARD=off there is no dashboard, and no link to it', async () => {
  const off = { CAIRN_DASHBOARD: 'off' }
  const server = await place.serve([], off)
  expect((await ask(server, 'redeem')).status).toBe(404)
  expect((await fetch(`${server.url}/dashboard/sign-in/provider`)).status).toBe(404)
  const refused = await place.run(['dashboard', 'link'], off)
  expect([refused.status, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain('CAIRN_DASHBOARD is "off"')
  // Without that setting the command asks the server, which has no such route.
  expect((await place.run(['dashboard', 'link'])).status).toBe(1)
})
