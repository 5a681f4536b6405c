import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { until } from '../../scripts/support/until.ts'
import {
  apiOf,
  builtBinary,
  firstFlowOf,
  type Server,
  tourFile,
  Workplace,
} from '../support/binary.ts'
import { ownPage } from '../support/dashboard-visitor.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

/** Servers that share a database, and commands on it: in a node's directory, and in one of their own. */
describe('nodes and commands over one database', () => {
  let server: PostgresServer
  let place: Workplace
  let url: string
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    url = await server.emptyDatabase()
    const named = url.replace('cairn@', 'cairn:hush%20hush@')
    place = new Workplace(builtBinary, undefined, { CAIRN_DATABASE_URL: named })
  })
  afterEach(() => place.close())
  afterAll(() => server?.close())

  const run = (...args: string[]) => place.run(args)
  const ok = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    if (status !== 0) throw new Error(`cairn ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const json = (...args: string[]) => place.json(args)
  const node = (name: string) => place.serve(['--data', place.path(name)])

  const statusOf = async (one: Server, key: string) =>
    (await apiOf(one, key)('GET', '/flows')).status
  const redeem = async (one: Server, link: string) => {
    const answer = await fetch(`${one.url}/dashboard/session/redeem`, {
      method: 'POST',
      headers: ownPage,
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    })
    return answer.status
  }

  test('a newcomer creates an organisation and a flow, and each node serves all of it', async () => {
    const { slug, snippetKey } = await json('org', 'create', 'Acme')
    await Bun.write(place.path('tour.yaml'), tourFile)
    await ok('flows', 'push', 'tour.yaml', '--publish')
    const [a, b] = await Promise.all([node('a'), node('b')])
    const flow = await firstFlowOf(apiOf(a, snippetKey))
    const event = { id: 'e1', kind: 'flow_started', flowId: flow.id, userId: 'ada', runId: 'r1' }
    const sent = await apiOf(a, snippetKey)('POST', '/events', { events: [event] })
    expect(await sent.json()).toMatchObject({ accepted: 1 })

    // Signed with the key that nodes share, although this directory belongs to no node.
    const { token } = await json('token', 'issue')
    for (const one of [a, b]) {
      const answer = await apiOf(one, token)('GET', `/flows/${flow.id}/analytics`)
      expect(await answer.json()).toMatchObject({ totals: { starts: 1 } })
    }
    const { url: link } = await json('dashboard', 'link')
    await b.until(async () => (await redeem(b, link)) === 200)
    expect(await redeem(a, link)).toBe(401)

    // A running node is asked through its socket, even if the database is not named.
    const unnamed = await place.run(['org', 'list', '--data', 'a'], { CAIRN_DATABASE_URL: '' })
    expect(unnamed.stdout).toContain(slug)
    expect(await ok('audit')).toContain('publish')

    const { snippetKey: newKey } = await json('key', 'rotate', '--now')
    expect(await ok('key', 'show', '--data', 'a')).toContain(newKey)
    for (const one of [a, b]) {
      expect(await statusOf(one, newKey)).toBe(200)
      expect(await statusOf(one, snippetKey)).toBe(401)
    }

    expect(await ok('rebuild')).toBe('Rebuilt 1 flow from 1 event. Nothing changed.\n')
    const stored = JSON.parse(await ok('person', 'export', 'ada', '--org', slug))
    expect(stored.events).toMatchObject([{ id: 'e1' }])
    const receipt = await json('person', 'erase', 'ada', '--org', slug, '--yes')
    expect(receipt.erased).toMatchObject({ events: 1 })
    const gone = await run('person', 'export', 'ada', '--org', slug, '--data', 'b')
    expect([gone.status, gone.stderr]).toEqual([
      1,
      expect.stringContaining('no data for this person'),
    ])

    const output = [a, b].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(output).not.toContain('hush')
    for (const { child } of [a, b]) {
      expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain('hush')
    }
    expect(await Promise.all([a.end(), b.end()])).toEqual([0, 0])
  })

  test('cairn nodes lists which nodes run, which are silent, and what each does alone', async () => {
    expect(await run('nodes')).toMatchObject({
      status: 1,
      stdout: 'No node is running. Start one with "cairn serve".\n',
    })
    await json('org', 'create', 'Acme')
    const [a, b] = await Promise.all([node('a'), node('b')])
    // One of them takes up the retention job after some seconds.
    await until(async () => (await ok('nodes')).includes('retention'))
    const { isShared, change, nodes } = await json('nodes')
    expect(isShared).toBe(true)
    const ports = [a, b].map(one => new URL(one.url).port).sort()
    const known = nodes.map(({ name }: { name: string }) => name.split(':').at(-1)).sort()
    expect(known).toEqual(ports)
    for (const one of nodes) expect(one).toMatchObject({ state: 'running', change })

    await b.end('SIGKILL')
    // As if its lease had run out by now.
    const at = `name like '%:${new URL(b.url).port}'`
    const expire = (ago: string) =>
      server.ask(`update cairn_nodes set lease_until = now() - interval '${ago}' where ${at}`, url)
    await expire('1 second')
    const silent = await run('nodes', '--data', 'a')
    expect(silent.status).toBe(1)
    expect(silent.stdout).toMatch(/ silent +1[67] s ago /)
    // A node that is gone for good is no trouble.
    await expire('1 hour')
    expect(await ok('nodes')).toMatch(/ gone +1 hour ago /)
    await a.end()
  })
})
