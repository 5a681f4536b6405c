import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { freePort } from '../../scripts/support/ports.ts'
import { historyOfDay } from '../../src/cli/demo/history.ts'
import type { Flow } from '../../src/core/flow/flow.ts'
import { dayMs } from '../../src/core/time/durations.ts'
import type { Analytics } from '../../src/modules/analytics/schema.ts'
import type { StepCheck } from '../../src/modules/steps/schema.ts'
import { Workplace } from '../support/binary.ts'

const cairn = new Workplace()
afterAll(() => cairn.close())

/** Sends a call that the demo prints, as a shell parses it, but without curl, which not every machine has. */
async function copied(line: string) {
  const shell = Bun.spawn(['sh', '-c', `curl() { printf '%s\\0' "$@"; }\n${line}`])
  const words = (await new Response(shell.stdout).text()).split('\0').slice(0, -1)
  const after = (flag: string) => words.flatMap((word, i) => (words[i - 1] === flag ? [word] : []))
  const headers = after('-H').map(header => header.split(': ') as [string, string])
  const [body] = after('-d')
  const response = await fetch(words.at(-1) ?? '', {
    headers,
    ...(body === undefined ? {} : { method: 'POST', body }),
  })
  return { status: response.status, body: await response.text() }
}

/** Starts the demo, which runs until it is stopped. Resolves once its output contains a text. */
async function started(args: string[], expected: string, env: Record<string, string> = {}) {
  const child = await cairn.command(args, { BUN_JSC_useDFGJIT: '1', ...env })
  let output = ''
  const ready = Promise.withResolvers<void>()
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      output += Buffer.from(chunk).toString()
      if (output.includes(expected)) ready.resolve()
    }
  }
  Promise.all([read(child.stdout), read(child.stderr)]).then(() =>
    ready.reject(new Error(`ended without "${expected}": ${output}`)),
  )
  await ready.promise
  return { child, output: () => output }
}

test('the demo has a month of history, example calls that work, and steps whose element is missing', async () => {
  const args = ['demo', '--host', '127.0.0.1', '--data', 'past']
  const { child, output } = await started(args, 'Ctrl-C to stop')
  const lines = output()
    .split('\n')
    .filter(line => line.startsWith('curl '))
  const api = /API +(\S+),/.exec(output())?.[1]
  const analytics = lines.find(call => call.includes("/analytics'"))
  const { totals, daily, versions } = JSON.parse((await copied(analytics ?? '')).body)
  expect(daily).toHaveLength(30)
  const days = daily.filter(({ starts }: { starts: number }) => starts > 0)
  expect(days.length).toBeGreaterThanOrEqual(29)
  const { starts, completions } = totals
  const [first, second] = versions.toSorted(
    (a: { version: number }, b: { version: number }) => a.version - b.version,
  )
  expect([first.version, second.version]).toEqual([1, 2])
  expect([first.starts + second.starts, first.completions + second.completions]).toEqual([
    starts,
    completions,
  ])
  expect(first.completionRate).toBeLessThan(second.completionRate)
  // The flow was published before anyone saw it.
  expect(first.publishedAt < daily[0].date).toBe(true)
  expect(totals.uniqueUsers).toBeGreaterThan(300)
  expect(starts).toBeGreaterThan(totals.uniqueUsers)
  expect(totals.completionRate).toBeGreaterThan(0.3)
  expect(totals.completionRate).toBeLessThan(0.8)

  const { organisations } = (await overSocket('GET /organisations')) as {
    organisations: { id: string }[]
  }
  const organisation = organisations[0]!.id
  const query = 'GET /health?flow=welcome&history=1'
  const { steps } = (await overSocket(query, organisation)) as StepCheck
  // A day with fewer than five people, such as a weekend day or one just after midnight, is unknown.
  const states = (key: string) =>
    steps
      .find(({ step }) => step === key)!
      .history!.map(({ state }) => state)
      .filter(state => state !== 'unknown')
  expect(states('hello').length).toBeGreaterThan(15)
  expect(states('hello')).not.toContain('broken')
  // On the day of the release, and perhaps the day after, many people still find the element.
  const ofTask = states('add-task')
  const lostOn = ofTask.findIndex(state => state !== 'healthy')
  expect(ofTask.length - lostOn).toBeWithin(1, 7)
  expect(ofTask.slice(lostOn)).not.toContain('healthy')
  expect(ofTask.slice(lostOn)).toContain('broken')
  expect(states('find-help').at(-1)).toBe('drifting')

  expect(await overSocket('GET /settings', organisation)).toMatchObject({
    traits: ['plan', 'role'],
  })
  const { flows } = (await overSocket('GET /flows', organisation)) as {
    flows: { id: string; key: string }[]
  }
  const token = /session token +(\S+)/.exec(output())?.[1] ?? ''
  const resultsOf = async (flow: string) => {
    const { id } = flows.find(({ key }) => key === flow)!
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${api}/flows/${id}/analytics?segment=plan:team`, { headers })
    return (await response.json()) as Analytics
  }
  const release = await resultsOf('spring-release')
  expect(release.totals.starts).toBeGreaterThan(20)
  const questions = new Map(release.steps.map(({ key, question }) => [key, question]))
  expect(questions.get('recommend')!.nps!.score).toBeWithin(-100, 101)
  expect(questions.get('reason')!.answers).toBeGreaterThan(5)
  const stalled = (await resultsOf('saved-views')).daily.map(({ starts }) => starts)
  expect(stalled.some(starts => starts > 0)).toBe(true)
  expect(stalled.slice(-7)).toEqual(Array(7).fill(0))

  for (const line of lines) {
    const { status, body } = await copied(line)
    expect({ line, body, ok: status === 200 || status === 202 }).toMatchObject({ ok: true })
  }
  child.kill('SIGINT')
  expect(await child.exited).toBe(0)
}, 300_000)

/** Asks as the operator, at the socket in the data directory. */
async function overSocket(what: string, organisation?: string): Promise<unknown> {
  const [method, path] = what.split(' ')
  const response = await fetch(`http://cairn/api/v1/manage${path}`, {
    method,
    headers: organisation ? { 'cairn-organisation': organisation } : {},
    unix: join(cairn.folder, 'past', 'cairn.sock'),
  } as RequestInit)
  return response.json()
}

test('a demo that is stopped while it is filled ends with status 0, and later ones go on from there', async () => {
  const args = ['demo', '--host', '127.0.0.1', '--data', 'midway', '--log-level', 'info']
  const daysAgo = { CAIRN_TEST_NOW: new Date(Date.now() - 4 * dayMs).toISOString() }
  const { child, output } = await started(args, 'example data in midway', daysAgo)
  child.kill('SIGINT')
  expect(await child.exited).toBe(0)
  expect(output()).not.toMatch(/ready|error|Harbor/i)
  const startsOf = async (printed: string) => {
    const line = printed.split('\n').find(line => line.includes("/analytics'"))
    const { daily } = JSON.parse((await copied(line ?? '')).body)
    return (daily as { starts: number }[]).map(({ starts }) => starts)
  }
  const before = await started(args, 'Ctrl-C to stop', daysAgo)
  expect(await startsOf(before.output())).toHaveLength(30)
  const second = await cairn.run(args)
  expect([second.status, second.stderr]).toEqual([
    1,
    expect.stringContaining('a server is running on midway: stop it, or choose another'),
  ])
  before.child.kill('SIGINT')
  expect(await before.child.exited).toBe(0)
  const after = await started(args, 'Ctrl-C to stop')
  // Today may have none yet.
  const days = (await startsOf(after.output())).filter(starts => starts > 0)
  expect(days.length).toBeGreaterThanOrEqual(29)
  after.child.kill('SIGINT')
  expect(await after.child.exited).toBe(0)
})

test('a port that is in use or named twice is rejected before the demo serves anything', async () => {
  const port = String(await freePort())
  const expectRejected = async (flag: string, ...more: string[]) => {
    const { status, stderr } = await cairn.run(['demo', '--data', 'twice', ...more, flag, port])
    expect([status, stderr]).toEqual([
      1,
      `cairn: Port ${port} on 127.0.0.1 is taken: choose another by ${flag}\n`,
    ])
  }
  for (const flag of ['--site-port', '--management-port'])
    await expectRejected(flag, '--port', port)
  const taken = Bun.listen({ hostname: '127.0.0.1', port: Number(port), socket: { data() {} } })
  try {
    const { stderr, status } = await cairn.run(['demo', '--host', '127.0.0.1', '--port', port])
    expect(status).toBe(1)
    expect(stderr).toContain('--port')
  } finally {
    taken.stop(true)
  }
})

/** Holds a port of this machine, unless another program does already. */
function occupied(port: number): { [Symbol.dispose](): void } {
  try {
    const listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
    return { [Symbol.dispose]: () => listener.stop(true) }
  } catch {
    return { [Symbol.dispose]() {} }
  }
}

test('a demo keeps to a short retention and its own directory, finds ports beside taken ones, and listens on this machine alone by default', async () => {
  using _taken = occupied(8_080)
  const args = ['demo', '--data', 'local', '--retention-days', '2', '--management-port', '0']
  const database = { CAIRN_DATABASE_URL: 'postgres://cairn@127.0.0.1:1/cairn' }
  const { child, output } = await started(args, 'Ctrl-C to stop', database)
  expect(output()).toContain('stores its data in local and ignores CAIRN_DATABASE_URL')
  const [api, site] = [/API +http:\/\/127.0.0.1:(\d+)/, / site +http:\/\/127.0.0.1:(\d+)/].map(
    pattern => Number(pattern.exec(output())?.[1]),
  )
  expect(api).toBeGreaterThan(8_080)
  expect(site).toBeGreaterThan(8_080)
  expect(site).not.toBe(api)
  expect(output()).toContain(`http://127.0.0.1:${site}/home?as=ben is another person`)
  const home = await fetch(`http://127.0.0.1:${site}/home`)
  expect(await home.text()).toContain('cairn-stub.js')
  const url = /API\s+(\S+)\/api\/v1/.exec(output())?.[1] ?? ''
  const { hostname, port } = new URL(url)
  child.kill('SIGTERM')
  expect(hostname).toBe('127.0.0.1')
  expect(await child.exited).toBe(0)
  const told = await started([...args, '--host', '0.0.0.0', '--port', port], 'Ctrl-C to stop')
  expect(told.output()).toContain(`http://localhost:${port}/api/v1`)
  told.child.kill('SIGTERM')
  expect(await told.child.exited).toBe(0)
})

describe('the history', () => {
  const flows = ['welcome', 'getting-started', 'spring-release', 'saved-views', 'help'].map(
    key =>
      ({
        id: key,
        key,
        steps: [{ id: 's1', key: 'hello', target: null }],
        checklist:
          key === 'getting-started' ? { items: [{ id: 'i1', key: 'x', completeOn: null }] } : null,
      }) as unknown as Flow,
  )
  const today = 20_700
  const options = { flows, firstDay: today - 29 }
  const month = Array.from({ length: 30 }, (_, i) => historyOfDay(today - 29 + i, options))

  test('has no two events with the same id, and every day begins on its date', () => {
    const events = month.flat()
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    for (const [i, day] of month.entries()) {
      expect(day[0]!.occurredAt).toBeGreaterThanOrEqual((today - 29 + i) * dayMs)
    }
  })

  test('is quieter at the weekend than on working days', () => {
    const starts = (weekday: number) =>
      month
        .filter((_, i) => (today - 29 + i + 4) % 7 === weekday)
        .flat()
        .filter(({ kind }) => kind === 'flow_started').length
    expect(starts(0) + starts(6)).toBeLessThan(starts(2))
  })

  test('names every person, and has ids of the form of a UUIDv7', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    for (const { id, userId, anonymousId } of month.flat()) {
      expect(id).toMatch(uuid)
      expect(userId ?? anonymousId).toBeTruthy()
    }
  })
})
