import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Finished } from '../../scripts/support/finished.ts'
import { hasUnseen } from '../../src/core/text/unseen.ts'
import { apiOf, type Server } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { cure, poison } from '../support/ledger.ts'

/**
 * The command line prints texts from pages, from anybody who has the public key, and from other people's
 * files. None of them may move a terminal's cursor, reverse a line or forge one.
 */

const controls = '\u001b]0;title\u0007\u001b[2J\b\r\u007f\u009b31m'
const turning = '\u202e\u2066\u200f\u061c\u2028\u2029\ufeff\u{e0041}\u200b'
/** Every text contains all of these, and a line that would pass for one of Cairn's. */
const hostile = (name: string) => `${name}${controls}${turning}\nFORGED`

let place: CommandLine
let server: Server
let api: ReturnType<typeof apiOf>
let flow: {
  id: string
  steps: { id: string; key: string }[]
  checklist: { items: { id: string }[] }
}

const fields = (kind: string, names: string[]) =>
  Object.fromEntries(names.map(name => [name, hostile(`${kind}.${name}`)]))

/** A flow with such a text in every field that accepts it. */
function hostileFlow(key: string) {
  const say = (name: string) => hostile(`${key}.${name}`)
  return {
    key,
    name: say('name'),
    targeting: {
      audience: {
        match: 'all',
        rules: [{ attribute: say('attribute'), op: 'eq', value: say('value') }],
      },
    },
    steps: [
      {
        key: 'one',
        title: say('title'),
        body: say('body'),
        target: { selector: `[title="${'\u202e\u200f\u{e0041}'}"], #a`, text: say('text') },
        buttons: [{ label: say('label'), action: 'complete' }],
      },
      {
        key: 'two',
        title: 'Two',
        target: { selector: '#two' },
        advance: { on: 'event', event: say('event') },
      },
    ],
    checklist: {
      items: [
        {
          key: 'item',
          title: say('item'),
          description: say('description'),
          completeOn: { event: say('done') },
        },
      ],
    },
  }
}

const write = (name: string, value: unknown) =>
  Bun.write(join(place.folder, name), typeof value === 'string' ? value : JSON.stringify(value))

beforeAll(async () => {
  place = new CommandLine()
  const made = await place.json<{ snippetKey: string }>(['org', 'create', 'Acme'])
  await place.run(['org', 'create', hostile('org')])
  await write('flow.json', hostileFlow('hostile'))
  await place.run(['flows', 'push', 'flow.json', '--publish', '--org', 'acme'])
  const changed = hostileFlow('hostile')
  await write('changed.json', {
    ...changed,
    name: 'Other',
    checklist: { items: [{ key: 'x', title: hostile('x') }] },
  })
  server = await place.serve()
  api = apiOf(server, made.snippetKey)
  flow = ((await (await api('GET', '/flows')).json()) as { flows: [typeof flow] }).flows[0]
  const events = [
    ...['flow_started', 'flow_dismissed', 'flow_completed'].map(kind => ({
      kind,
      flowId: flow.id,
    })),
    { kind: 'step_viewed', flowId: flow.id, stepId: flow.steps[0]!.id },
    { kind: 'target_missing', flowId: flow.id, stepId: flow.steps[1]!.id },
    { kind: 'item_completed', flowId: flow.id, itemId: flow.checklist.items[0]!.id },
    { kind: 'custom' },
  ].map((event, i) => ({
    ...event,
    ...fields('e', ['anonymousId', 'sessionId', 'runId', 'url', 'name', 'reason']),
    userId: hostile('user'),
    id: hostile(`id${i}`),
    properties: { [hostile('p')]: hostile('v') },
  }))
  const database = new Database(join(place.folder, 'cairn-data/cairn.db'))
  database.run('pragma busy_timeout = 5000')
  const answers = [await api('POST', '/events', { events })]
  poison(database, hostile('bad'))
  await api('POST', '/events', { events: [{ ...events[0], id: hostile('bad') }] })
  cure(database)
  database.close()
  const userId = hostile('user')
  const print = {
    ...fields('fp', ['selector', 'tag', 'id', 'name', 'role', 'ariaLabel', 'text']),
    matchCount: 1,
    classes: [hostile('class')],
    attributes: { title: hostile('title') },
    ancestors: [{ tag: hostile('tag'), id: hostile('aid') }],
  }
  for (const { id } of flow.steps) {
    const report = fields('h', ['url', 'selector', 'snippetVersion', 'message'])
    for (let i = 0; i < 6; i++) {
      const outcome = i % 2 ? 'not_found' : 'found_by_alternate'
      answers.push(
        await api('POST', `/steps/${id}/health`, { ...report, outcome, userId: userId + i }),
      )
    }
    const about = fields('f', ['url', 'locale', 'snippetVersion'])
    for (const selector of [undefined, hostile('moved'), hostile('moved')]) {
      const seen = selector ? null : print
      const candidates = [{ ...print, ...(selector ? { selector } : {}) }]
      answers.push(
        await api('POST', `/steps/${id}/fingerprint`, { fingerprint: seen, candidates, ...about }),
      )
    }
  }
  answers.push(await api('POST', `/flows/${flow.id}/complete`, { userId, runId: hostile('run') }))
  const items = [{ key: 'item', completed: true }]
  answers.push(await api('POST', `/flows/${flow.id}/checklist-progress`, { userId, items }))
  const requested = new URLSearchParams({
    v: hostile('v'),
    url: hostile('url'),
    sid: hostile('sid'),
  })
  answers.push(await api('GET', `/heartbeat?${requested}`))
  // Everything has to be accepted, otherwise its texts would never be printed.
  const refused = answers.filter(({ status }) => status >= 300)
  expect(await Promise.all(refused.map(answer => answer.text()))).toEqual([])
}, 300_000)
afterAll(() => place.close())

/** Expects no invisible characters, and no line that somebody has forged. */
function requireClean({ stdout, stderr }: Finished): void {
  for (const text of [stdout, stderr]) {
    expect(hasUnseen(text) ? JSON.stringify(text) : '').toBe('')
  }
  const isForged = (line: string) => line.startsWith('FORGED')
  expect(stdout.split('\n').filter(line => isForged(line.trim()))).toEqual([])
  // Further lines of a message are indented, so only a line that is not indented is forged.
  expect(stderr.split('\n').filter(isForged)).toEqual([])
}

const page = `https://app.example/${encodeURIComponent(controls)}?x=${turning}`

const named = hostile('x')
const commands: string[][] = [
  ['org', 'list'],
  ['org', 'status', '--org', 'acme'],
  ['org', 'settings', '--org', 'acme'],
  ['org', 'identity', 'show', '--org', 'acme'],
  ['api', 'GET', '/flows?definitions=1', '--org', 'acme'],
  ['key', 'show', '--org', 'acme'],
  ['flows', 'list', '--org', 'acme'],
  ['flows', 'diff', 'changed.json', '--org', 'acme', '--all'],
  ['flows', 'validate', 'changed.json'],
  ['steps', 'check', '--org', 'acme'],
  ['steps', 'check'],
  ['steps', 'pin', '--org', 'acme', '--dry-run'],
  ['explain', 'hostile', '--org', 'acme', '--page', page, '--user', hostile('user')],
  [
    'explain',
    'hostile',
    '--org',
    'acme',
    '--page',
    page,
    '--traits',
    JSON.stringify({ [named]: named }),
  ],
  ['person', 'export', hostile('user'), '--org', 'acme'],
  ['dead-letters', 'list', '--org', 'acme'],
  ['doctor'],
  // What somebody was tricked into typing, or a script has taken from elsewhere.
  [named],
  ['flows', named],
  ['flows', 'list', `--${named}`],
  ['flows', 'publish', named, '--org', 'acme'],
  ['flows', 'pull', named, '--org', 'acme'],
  ['flows', 'validate', `${turning}.yaml`],
  ['flows', 'list', '--org', named],
  ['org', 'status', '--org', named],
  ['org', 'set', 'origins', named, '--org', 'acme'],
  ['org', 'set', named, named, '--org', 'acme'],
  ['api', 'GET', named, '--org', 'acme'],
  ['org', 'create', ''],
  ['steps', 'check', '--flow', named],
  ['explain', named, '--org', 'acme', '--page', page],
  ['explain', 'hostile', '--org', 'acme', '--page', named],
  ['person', 'export', named, '--org', named],
  ['person', 'allow', named, '--org', 'acme'],
  ['person', 'erase', named, '--org', 'acme'],
  ['dead-letters', 'drop', named, '--org', 'acme'],
  ['key', 'show', '--org', 'acme', '--public-url', named],
  ['serve', '--port', named],
  ['serve', '--public-url', named],
  ['backup', `./${named}/x/y`],
  ['restore', named],
  ['token', 'issue', '--org', named],
  ['token', 'issue', '--org', 'acme', '--ttl', named],
  ['token', 'create', named, '--org', 'acme', '--scope', 'flows:read'],
  ['token', 'list', '--org', 'acme'],
  ['token', 'revoke', named, '--org', 'acme'],
  ['key', 'rotate', '--org', named],
  ['steps', 'repair', 'hostile', named, '--org', 'acme'],
  ['snippet', 'write', `/dev/null/${named}`],
  ['service', 'show', '--data', named],
  ['healthcheck', '--data', named],
  ['org', 'list', '--data', named],
]

test.each(commands)('%p', async (...command) => {
  requireClean(await place.run(command))
  const asJson = await place.run([...command, '--json'])
  requireClean(asJson)
  if (asJson.status === 0) JSON.parse(asJson.stdout)
})

test('the binary prints what the command line prints in these tests', async () => {
  const command = ['dead-letters', 'list', '--org', 'acme']
  expect(await place.runBinary(command)).toEqual(await place.run(command))
})

test('JSON keeps the value, and texts for people show hidden characters escaped', async () => {
  const letters = await place.json<{ eventId: string }[]>(['dead-letters', 'list', '--org', 'acme'])
  expect(letters.map(({ eventId }) => eventId)).toEqual([hostile('bad')])
  const { stdout } = await place.run(['person', 'export', hostile('user'), '--org', 'acme'])
  expect(JSON.parse(stdout).person).toEqual({ userId: hostile('user') })
  const listed = await place.run(['dead-letters', 'list', '--org', 'acme'])
  expect(listed.stdout).toContain('bad\\u001b]0;title')
})

test('a flow that is pulled has nothing raw, and is the same flow', async () => {
  const pulled = await place.run(['flows', 'pull', 'hostile', '--org', 'acme'])
  requireClean(pulled)
  await write('pulled.yaml', pulled.stdout)
  const same = await place.run(['flows', 'diff', 'pulled.yaml', '--org', 'acme'])
  requireClean(same)
  expect(same.status).toBe(0)
  const asJson = await place.run(['flows', 'pull', 'hostile', '--org', 'acme', '--format', 'json'])
  requireClean(asJson)
  expect(JSON.parse(asJson.stdout)[0].name).toBe(hostile('hostile.name'))
  const written = await place.run([
    'flows',
    'pull',
    '--out',
    'flows',
    '--org',
    'acme',
    '--format',
    'json',
  ])
  requireClean(written)
  expect(hasUnseen(await Bun.file(join(place.folder, 'flows/hostile.json')).text())).toBe(false)
})

/** Flows with an invalid text in every place that takes a text. */
const wrongFlows = (text: string) => [
  { key: 'a', [text]: text, steps: [{ key: 'a' }] },
  { key: text, steps: [{ key: text }] },
  { key: 'b', kind: text, frequency: text, priority: text },
  { key: 'c', steps: [{ key: 'a', target: { selector: `#a${text}` } }] },
  { key: 'd', steps: [{ key: 'a', buttons: [{ label: 'a', action: 'link', href: text }] }] },
  { key: 'e', steps: [{ key: 'a', body: `[a](javascript:${text}) <b>${text}</b>` }] },
  { key: 'f', targeting: { urls: [{ match: 'glob', pattern: text }] } },
  { key: 'g', targeting: { audience: { rules: [{ attribute: text, op: text, value: text }] } } },
  { key: 'h', theme: { accent: text } },
  { key: 'i', checklist: { items: [{ key: text, completeOn: { event: text }, href: text }] } },
]

test('problems in a flow file are reported without its invisible characters', async () => {
  for (const text of [controls, turning].map(odd => `${odd}\nFORGED`)) {
    const files = wrongFlows(text).map((flow, i) => [`wrong-${i}.json`, flow] as const)
    for (const [name, flow] of files) await write(name, flow)
    await write('wrong.yaml', `key: ${text}: [${text}`)
    const names = [...files.map(([name]) => name), 'wrong.yaml']
    requireClean(await place.run(['flows', 'validate', ...names]))
    requireClean(await place.run(['flows', 'push', ...names, '--org', 'acme', '--json']))
    for (const name of names) {
      const validated = await place.run(['flows', 'validate', '--strict', name])
      expect([name, validated.status]).toEqual([name, 1])
      requireClean(validated)
    }
  }
})

test('the log of a server has nothing invisible or forged', () => {
  requireClean({ stdout: server.stdout, stderr: server.stderr, status: 0 } as Finished)
})
