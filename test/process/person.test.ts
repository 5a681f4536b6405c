import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { apiOf, builtBinary, type Server, Workplace, withTour } from '../support/binary.ts'
import { textsIn } from '../support/erasing.ts'

/** A person's data by the command line, beside a running server. */

let place: Workplace
let server: Server
let organisation: Awaited<ReturnType<typeof withTour>>
let token: string
let flow: { id: string; steps: { id: string }[]; checklist: { items: { id: string }[] } }

const dataDir = () => join(place.folder, 'cairn-data')
const api = () => apiOf(server, organisation.snippetKey)

beforeAll(async () => {
  place = new Workplace()
  organisation = await withTour(place)
  ;({ token } = await place.json<{ token: string }>(['token', 'issue']))
  server = await place.serve()
  const listed = (await (await api()('GET', '/flows')).json()) as { flows: [typeof flow] }
  flow = listed.flows[0]
})
afterAll(() => place.close())

/** Reports all that a person can, under texts that occur nowhere else, and returns those texts. */
async function reportAll(userId: string): Promise<string[]> {
  const own = (name: string) => `${name}-${userId}-7d1f`
  const common = { userId, flowId: flow.id, runId: own('run'), sessionId: own('session') }
  const event = (kind: string, more: object = {}) => ({
    ...common,
    id: own(kind),
    kind,
    url: `https://app.example/${own('page')}`,
    properties: { note: own('property') },
    ...more,
  })
  const answers = [
    await api()('POST', '/events', {
      events: [
        event('flow_started'),
        event('step_viewed', { stepId: flow.steps[0]?.id }),
        event('flow_dismissed', { reason: own('reason') }),
        { ...event('custom', { name: own('custom') }), flowId: undefined },
      ],
    }),
    await api()('POST', `/flows/${flow.id}/complete`, { userId }),
    await api()('POST', `/flows/${flow.id}/checklist-progress`, {
      userId,
      items: [{ key: 'second', completed: true }],
    }),
    await api()('POST', `/steps/${flow.steps[0]?.id}/health`, {
      userId,
      outcome: 'hidden',
      url: `https://app.example/${own('page')}`,
      message: own('message'),
    }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([202, 200, 200, 202])
  const names = ['run', 'session', 'flow_started', 'custom', 'property', 'reason', 'page']
  return [userId, own('message'), ...names.map(own)]
}

/** `alreadyCompleted` of two reports of a completion: always false for a person of whom nothing is kept. */
async function completeTwice(userId: string): Promise<boolean[]> {
  const completed: boolean[] = []
  for (let i = 0; i < 2; i++) {
    const answer = await api()('POST', `/flows/${flow.id}/complete`, { userId })
    expect(answer.status).toBe(200)
    completed.push(((await answer.json()) as { alreadyCompleted: boolean }).alreadyCompleted)
  }
  return completed
}

async function analytics() {
  const answer = await apiOf(server, token)('GET', `/flows/${flow.id}/analytics`)
  const { generatedAt, ...numbers } = (await answer.json()) as Record<string, unknown>
  return numbers
}

async function restart(): Promise<void> {
  await server.end()
  server = await place.serve()
}

const everywhere = (texts: readonly string[]) => [
  ...textsIn(dataDir(), texts),
  ...texts.filter(text => `${server.stdout}${server.stderr}`.includes(text)),
]

/** The export of a person, or null if nothing is stored about them. */
const exported = async (userId: string) => {
  const { stdout, stderr, status } = await place.run(['person', 'export', userId, '--org', 'acme'])
  if (status === 1 && stderr.includes('no data for this person')) return null
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

test('an erasure leaves no trace in any file, keeps every number, and later reports are not kept', async () => {
  const texts = await reportAll('someone-to-erase')
  const before = await analytics()
  expect(everywhere(texts)).toEqual(texts)
  const receipt = await place.json<{ finishedAt: string; erased: Record<string, number> }>([
    'person',
    'erase',
    'someone-to-erase',
    '--yes',
  ])
  expect(everywhere(texts)).toEqual([])
  expect(receipt.erased).toMatchObject({ events: 6, runs: 1, completions: 1, stepReports: 1 })
  expect(receipt.finishedAt).toEndWith('Z')
  const { stdout: audit } = await place.run(['audit', '--json'])
  expect(audit).toContain('person.erase')
  for (const noted of [audit, JSON.stringify(receipt)]) expect(noted).not.toContain('someone')
  expect(await analytics()).toEqual(before)
  expect(await exported('someone-to-erase')).toBeNull()
  expect(await completeTwice(texts[0]!)).toEqual([false, false])
  expect(await place.json(['org', 'status', '--json'])).toMatchObject({ erased24h: 2 })

  const rebuilt = await place.json<{ changed: number }>(['rebuild'])
  expect(rebuilt.changed).toBe(0)
  expect((await place.run(['doctor', '--full'])).stdout).not.toContain('damaged')
  await restart()
  expect(await analytics()).toEqual(before)
  expect(await completeTwice(texts[0]!)).toEqual([false, false])
  expect(everywhere(texts)).toEqual([])

  const allowed = await place.run(['person', 'allow', 'someone-to-erase', '--org', 'acme'])
  expect(allowed.status).toBe(0)
  expect(await completeTwice(texts[0]!)).toEqual([false, true])
  await restart()
  expect(everywhere([texts[0]!])).toEqual([texts[0]!])
})

test('an erasure survives the restore of an older database', async () => {
  const texts = await reportAll('someone-in-a-backup')
  const before = await analytics()
  await server.end()
  copyFileSync(join(dataDir(), 'cairn.db'), join(place.folder, 'older.db'))
  server = await place.serve()
  await place.json(['person', 'erase', 'someone-in-a-backup', '--org', 'acme', '--yes'])
  await server.end()
  for (const end of ['-wal', '-shm']) rmSync(join(dataDir(), `cairn.db${end}`), { force: true })
  copyFileSync(join(place.folder, 'older.db'), join(dataDir(), 'cairn.db'))
  expect(everywhere(texts)).toEqual(texts)
  // Whatever monitors the server must not take it for dead meanwhile.
  const erasing = await place.start([], { CAIRN_FAILPOINTS: 'during_erasure=hang' })
  const readyz = async () => {
    const { managementPort } = JSON.parse(readFileSync(join(dataDir(), 'server.json'), 'utf8'))
    const [alive, ready] = await Promise.all(
      ['healthz', 'readyz'].map(path => fetch(`http://127.0.0.1:${managementPort}/${path}`)),
    )
    return `${alive?.status} ${ready?.status} ${await ready?.text()}`
  }
  await erasing.until(async () => /writing/.test(await readyz().catch(() => '')))
  expect(await readyz()).toMatch(/^200 503 erasing: rewriting the database: wait\n$/)
  expect(await erasing.end()).toBe(0)

  server = await place.serve()
  expect(everywhere(texts)).toEqual([])
  expect(await analytics()).toEqual(before)
  expect(await completeTwice(texts[0]!)).toEqual([false, false])
  expect(everywhere(texts)).toEqual([])
})

const erasing = async (userId: string) =>
  Bun.spawn([await builtBinary(), 'person', 'erase', userId, '--org', 'acme', '--yes'], {
    cwd: place.folder,
    env: {},
    stdout: 'ignore',
    stderr: 'pipe',
  })

test('an erasure whose server is killed is finished at the next start', async () => {
  const userId = 'someone-killed'
  const texts = await reportAll(userId)
  const before = await analytics()
  const child = await erasing(userId)
  await Bun.sleep(120)
  await server.end('SIGKILL')
  await child.exited
  server = await place.serve()
  // The erasure either has not begun or is complete.
  const isBegun = (await exported(userId)) === null
  expect(everywhere(texts)).toEqual(isBegun ? [] : texts)
  expect(await analytics()).toEqual(before)
})

test('an erasure goes on in the server if the command is killed', async () => {
  const userId = 'someone-left-alone'
  const texts = await reportAll(userId)
  const list = () => readFileSync(join(dataDir(), 'erasures.jsonl'), 'utf8')
  const before = list()
  const child = await erasing(userId)
  await server.until(() => list() !== before)
  child.kill('SIGKILL')
  await child.exited
  await server.until(() => everywhere(texts).length === 0)
})

test('an exported file is readable only by its owner, and none is made for an unknown person', async () => {
  await reportAll('someone-else')
  const file = join(place.folder, 'person.json')
  await place.run(['person', 'export', 'someone-else', '--org', 'acme', '--out', file])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { events } = await exported('someone-else')
  expect(JSON.parse(readFileSync(file, 'utf8')).events).toEqual(events)
  const nobody = join(place.folder, 'nobody.json')
  const refused = await place.run(['person', 'export', 'nobody', '--org', 'acme', '--out', nobody])
  expect([refused.status, refused.stdout, existsSync(nobody)]).toEqual([1, '', false])
  expect(refused.stderr).toContain('no data for this person')
})

test('erasing needs a confirmation, and allowing needs a person who was erased', async () => {
  const unsure = await place.run(['person', 'erase', 'someone-else', '--org', 'acme'])
  expect(unsure.status).toBe(2)
  expect(unsure.stderr).toContain('--yes')
  expect((await exported('someone-else')).events.length).toBeGreaterThan(0)
  const unknown = await place.run(['person', 'allow', 'someone-else', '--org', 'acme'])
  expect(unknown).toMatchObject({ status: 1, stdout: '' })
  const long = await place.run(['person', 'export', 'x'.repeat(129), '--org', 'acme'])
  expect(long.status).toBe(1)
})
