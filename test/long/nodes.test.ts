import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { until } from '../../scripts/support/until.ts'
import { apiOf, firstFlowOf, type Server, tourFile, Workplace } from '../support/binary.ts'
import { ownPage } from '../support/dashboard-visitor.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

/** Servers that share a database, and commands on it, from a machine that runs a server and from any other. */
describe('nodes and commands over one database', () => {
  let server: PostgresServer
  let place: Workplace
  let url: string
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    place = new Workplace()
    url = await server.emptyDatabase()
  })
  afterEach(() => place.close())
  afterAll(() => server?.close())

  const password = 'hush%20hush'
  const named = () => ({
    CAIRN_DATABASE_URL: url.replace('cairn@', `cairn:${password}@`),
    CAIRN_LIMITS_AWAY: 'share',
  })
  const run = (...args: string[]) => place.run(args, named())
  const ok = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    if (status !== 0) throw new Error(`cairn ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const json = (...args: string[]) => place.json(args, named())
  const node = (name: string) => place.serve(['--data', place.path(name)], named())

  async function withTour() {
    await ok('migrate')
    const organisation = await json('org', 'create', 'Acme')
    await Bun.write(place.path('tour.yaml'), tourFile)
    await ok('flows', 'push', 'tour.yaml')
    await ok('flows', 'publish', 'tour')
    return organisation as { id: string; slug: string; snippetKey: string }
  }

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

  test('a newcomer makes tables, an organisation and a flow, and each node serves all of it', async () => {
    const { slug, snippetKey } = await withTour()
    // Nothing of it is on this machine.
    expect(readdirSync(place.folder)).toEqual(['tour.yaml'])
    const [a, b] = await Promise.all([node('a'), node('b')])
    expect(await statusOf(a, snippetKey)).toBe(200)
    expect(existsSync(place.path('a/cairn.db'))).toBe(false)

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
    expect((await place.run(['org', 'list', '--data', 'a'])).stdout).toContain(slug)
    expect(await ok('org', 'list', '--data', 'a')).toContain(slug)
    expect(JSON.parse(await ok('alerts', 'webhook', 'list', '--json'))).toEqual([])
    expect(await ok('audit')).toContain('publish')

    const { snippetKey: newKey } = await json('key', 'rotate', '--now')
    expect(await ok('key', 'show')).toContain(newKey)
    for (const one of [a, b]) {
      await one.until(async () => (await statusOf(one, newKey)) === 200)
      await one.until(async () => (await statusOf(one, snippetKey)) === 401)
    }

    expect(await ok('rebuild')).toBe('rebuilt 1 flow from 1 event: nothing changed\n')
    const stored = JSON.parse(await ok('person', 'export', slug, 'ada'))
    expect(stored.events).toMatchObject([{ id: 'e1' }])
    const receipt = await json('person', 'erase', slug, 'ada', '--yes')
    expect(receipt.erased).toMatchObject({ events: 1 })
    const gone = await run('person', 'export', slug, 'ada')
    expect([gone.status, gone.stderr]).toEqual([1, expect.stringContaining('nothing is stored')])

    const told = [a, b].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(told).not.toContain('hush')
    for (const { child } of [a, b]) {
      expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain('hush')
    }
    expect(await Promise.all([a.end(), b.end()])).toEqual([0, 0])
  })

  test('cairn nodes tells which nodes run, which are silent, and what each does alone', async () => {
    await withTour()
    expect(await run('nodes')).toMatchObject({
      status: 1,
      stdout: 'no node runs on this database: start one, "cairn serve"\n',
    })
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
    await server.ask(`update nodes set lease_until = now() - interval '1 second' where ${at}`, url)
    const one = await run('nodes', '--data', 'a')
    expect(one.status).toBe(1)
    expect(one.stdout).toMatch(/ silent +1[67] s ago /)
    expect(one.stderr).toBe('cairn: 1 node silent\n')
    // A node that is gone for good is no trouble.
    await server.ask(`update nodes set lease_until = now() - interval '1 hour' where ${at}`, url)
    expect(await ok('nodes')).toMatch(/ gone +60 min ago /)
    await a.end()
  })

  test('commands for the files of a directory fail, and name what to use instead', async () => {
    await withTour()
    for (const [args, ...names] of [
      [['backup', 'x.db'], 'pg_dump', 'pgBackRest'],
      [['restore', 'x.db'], 'pg_restore', 'pgBackRest'],
      [['restore', '--undo'], 'pg_restore'],
      [['compact'], 'VACUUM FULL', 'pg_repack'],
      [['person', 'erase', 'acme', 'ada', '--yes', '--compact'], 'VACUUM FULL'],
      [['flows', 'preview', 'tour'], 'no server runs'],
    ] as [string[], ...string[]][]) {
      const { status, stderr, stdout } = await run(...args)
      expect([args, status, stdout]).toEqual([args, 1, ''])
      for (const name of names) expect(stderr).toContain(name)
    }
    for (const more of <Record<string, string>[]>[
      { CAIRN_BACKUP_EVERY: '6h', CAIRN_BACKUP_DIR: place.path('backups') },
      { CAIRN_CHECKPOINTS: 'litestream' },
    ]) {
      const { status, stderr } = await place.run(['serve'], { ...named(), ...more })
      expect(status).toBe(2)
      expect(stderr).toContain('pgBackRest')
    }
    expect(readdirSync(place.folder)).toEqual(['tour.yaml'])
  })

  test('a directory of the other kind is neither served from nor written to', async () => {
    await withTour()
    const a = await node('a')
    await a.end()
    for (const args of [['serve'], ['org', 'create', 'X'], ['org', 'list']]) {
      const { status, stderr } = await place.run([...args, '--data', 'a'])
      expect([args, status]).toEqual([args, 1])
      expect(stderr).toContain('is the directory of a node')
    }
    expect(existsSync(place.path('a/cairn.db'))).toBe(false)

    // An operator who forgot to move its data is told.
    await place.json(['org', 'create', 'Solo', '--data', 'solo'])
    const refused = await place.run(['serve', '--data', 'solo'], named())
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('run "cairn move"')
    const listed = await run('org', 'list', '--data', 'solo')
    expect(listed).toMatchObject({ status: 0, stderr: expect.stringContaining('cairn move') })
    expect(listed.stdout).not.toContain('solo')
  })

  test('a directory that was moved may stay, with a warning if it was used again', async () => {
    await place.json(['org', 'create', 'Solo', '--data', 'solo'])
    await ok('migrate')
    await ok('move', '--data', 'solo')
    const first = await place.serve(['--data', 'solo'], named())
    expect(first.stderr).not.toContain('warning')
    await first.end()
    // As whoever serves from the directory again is told to.
    rmSync(place.path('solo/moved-to'))
    await place.json(['org', 'create', 'Another', '--data', 'solo'])
    const second = await place.serve(['--data', 'solo'], named())
    expect(second.stderr).toContain('was opened again after it was moved')
    await second.end()
  })

  test('an unfinished move keeps nodes and commands away', async () => {
    await withTour()
    await server.ask("insert into moves (directory, mark, began_at) values ('d', 'm', 0)", url)
    for (const args of [
      ['serve', '--port', '0', '--management-port', '0'],
      ['org', 'list'],
    ]) {
      const { status, stderr } = await run(...args)
      expect(status).toBe(1)
      expect(stderr).toContain('is not done')
    }
  })

  test('every command rejects an unusable database with the same message, which says what to do', async () => {
    const serve = ['serve', '--port', '0', '--management-port', '0', '--data', place.path('n')]
    mkdirSync(place.path('n'))
    const refusals = async (env: Record<string, string>) => {
      const all = await Promise.all(
        [serve, ['org', 'list'], ['org', 'create', 'X'], ['doctor']].map(args =>
          place.run(args, env),
        ),
      )
      for (const { status, stdout, stderr } of all) {
        expect(status).not.toBe(0)
        expect(stdout + stderr).not.toContain('hush')
      }
      expect(new Set(all.slice(0, 3).map(({ stderr }) => stderr)).size).toBe(1)
      return all[0]!.stderr
    }
    const wrong = (change: (url: URL) => void) => {
      const other = new URL(named().CAIRN_DATABASE_URL)
      change(other)
      return { CAIRN_DATABASE_URL: other.href }
    }
    expect(await refusals(named())).toContain('run "cairn migrate"')
    const none = wrong(other => {
      other.pathname = '/nothing'
    })
    expect(await refusals(none)).toContain('create database nothing')
    expect(await refusals({ CAIRN_DATABASE_URL: 'mysql://cairn:hush@x/y' })).toContain(
      'set the address of a PostgreSQL database',
    )
    await ok('migrate')
    await server.ask('insert into cairn_migrations values (99, $$later$$, 0, 99)', url)
    expect(await refusals(named())).toContain('run that one')
    expect(existsSync(place.path('n/cairn.db'))).toBe(false)
    expect(existsSync(place.dataDir)).toBe(false)
  })

  test('an erased person is erased again from an older database', async () => {
    const { slug, snippetKey } = await withTour()
    const a = await node('a')
    const sent = await apiOf(a, snippetKey)('POST', '/events', {
      events: ['ada', 'bob'].map(userId => ({ id: userId, kind: 'custom', name: 'x', userId })),
    })
    expect(await sent.json()).toMatchObject({ accepted: 2 })
    await a.end()
    const [name, before] = [new URL(url).pathname.slice(1), 'of_before']
    await server.ask(`create database ${before} template ${name}`)

    await ok('person', 'erase', slug, 'ada', '--yes')
    await ok('person', 'list', '--out', 'erased.jsonl')
    expect(statSync(place.path('erased.jsonl')).mode & 0o777).toBe(0o600)
    const list = readFileSync(place.path('erased.jsonl'), 'utf8')
    expect(await ok('person', 'list')).toBe(list)
    expect(list).not.toContain('ada')

    url = server.url(before)
    expect(await ok('person', 'export', slug, 'ada')).toContain('"ada"')
    await Bun.write(place.path('cut.jsonl'), list.slice(0, -1))
    const cut = await run('person', 'reapply', 'cut.jsonl')
    expect([cut.status, cut.stderr]).toEqual([1, expect.stringContaining('cut off')])
    const others = { action: 'erase', at: '2026-01-01T00:00:00.000Z', org: 'org_none', key: 'k' }
    await Bun.write(place.path('bad.jsonl'), `${list}${JSON.stringify(others)}\n`)
    const bad = await run('person', 'reapply', 'bad.jsonl')
    expect([bad.status, bad.stderr]).toEqual([1, expect.stringContaining('damaged in line 2')])

    const again = 'erased 1 person again, of 1 on the list\n'
    expect(await ok('person', 'reapply', 'erased.jsonl')).toBe(again)
    expect((await run('person', 'export', slug, 'ada')).stderr).toContain('nothing is stored')
    expect(await ok('person', 'export', slug, 'bob')).toContain('"bob"')
    expect(await ok('person', 'reapply', 'erased.jsonl')).toStartWith('erased 0 people again')
    const alone = await place.run(['person', 'list'])
    expect([alone.status, alone.stderr]).toEqual([1, expect.stringContaining('erasures.jsonl')])
  })

  test('the demo stays in its directory, and says so', async () => {
    await ok('migrate')
    const child = await place.command(['demo', '--port', '0', '--management-port', '0'], named())
    let said = ''
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += text
      if (said.includes('serving') || said.includes('\n')) break
    }
    expect(said).toContain('ignores CAIRN_DATABASE_URL')
    child.kill('SIGKILL')
    const [row] = await server.ask<{ count: number }>('select count(*) from organisations', url)
    expect(Number(row!.count)).toBe(0)
  })
})
