import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiOf, type Server, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

const place = new CommandLine()
const page = 'https://app.harbor.example/projects/7'
const flows = `key: welcome
priority: 5
targeting:
  urls: [{ match: prefix, pattern: /projects }]
  audience: { rules: [{ attribute: plan, op: eq, value: pro }] }
steps: [{ key: hello, title: Hello, target: { selector: '#search' } }]
---
key: spring
priority: 10
frequency: until_completed
targeting: { urls: [{ match: exact, pattern: /spring }] }
steps: [{ key: hello, title: Hello }]
---
key: later
steps: [{ key: hello, title: Hello }]
`

let server: Server
let snippetKey: string

beforeAll(async () => {
  ;({ snippetKey } = await withTour(place, 'Harbor'))
  await Bun.write(join(place.folder, 'flows.yaml'), flows)
  await place.run(['flows', 'push', 'flows.yaml'])
  await place.run(['flows', 'publish', 'welcome', 'spring'])
  server = await place.serve()
}, 300_000)
afterAll(() => place.close())

const explain = (flow: string, ...args: string[]) => place.run(['explain', flow, ...args])

const pro = ['--traits', '{"plan": "pro"}']

/** The conditions of an answer that do not hold. */
async function failures(flow: string, ...args: string[]): Promise<string[]> {
  const answer = await place.json<{ rules: { rule: string; holds: boolean | null }[] }>([
    'explain',
    flow,
    ...args,
  ])
  return answer.rules.filter(({ holds }) => holds === false).map(({ rule }) => rule)
}

describe('beside a running server', () => {
  test('the first line is the verdict, and every condition has its reason', async () => {
    const { stdout, stderr, status } = await explain('welcome', '--page', page, ...pro)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')[0]).toBe('shown: welcome')
    expect(stdout).toMatch(/✓ +audience +1 of 1 rules holds, all must/)
    expect(stdout).toContain('only the browser knows whether the page has #search')
  })

  test('a flow that is not shown is no failure, and the verdict says why', async () => {
    const { stdout, status } = await explain(
      'welcome',
      '--page',
      page,
      '--traits',
      '{"plan": "free"}',
    )
    expect(status).toBe(0)
    expect(stdout.split('\n')[0]).toBe('not shown: welcome, by audience: plan is "free", not "pro"')
    expect(stdout).toContain('tour is shown there')
  })

  test('the answer tells what a page shows before it has identified the person', async () => {
    await place.run(['flows', 'publish', 'later'])
    const api = apiOf(server, snippetKey)
    const { flows } = (await (await api('GET', '/flows')).json()) as {
      flows: { id: string; key: string }[]
    }
    const flowId = flows.find(({ key }) => key === 'later')?.id
    const events = [{ kind: 'flow_completed', userId: 'cleo', flowId, runId: 'of-cleo' }]
    expect((await api('POST', '/events', { events })).status).toBe(202)
    const identify = async (...args: string[]) => {
      const { stdout } = await explain(...(args as [string]))
      return stdout.split('\n').find(line => line.includes(' identify '))
    }
    const waits = 'pages that wait for the person show it'
    const at = ['--page', page]
    expect(await identify('later', ...at, '--user', 'cleo')).toEndWith(
      `${waits} once they are identified; other pages show it before, as to a new visitor, and hide it then`,
    )
    expect(await identify('later', ...at, '--user', 'dan')).toEndWith('as to a new visitor')
    expect(await identify('welcome', ...at, ...pro, '--user', 'dan')).toEndWith(
      'so do other pages, because a new visitor does not see it',
    )
    expect(await identify('later', ...at)).toEndWith(
      `${waits} after the time-out, because nobody is identified`,
    )
    await place.run(['flows', 'unpublish', 'later'])
  })
})

test('traits come from a file or the standard input too', async () => {
  await Bun.write(join(place.folder, 'pro.json'), '{"plan": "pro"}')
  expect(await failures('welcome', '--page', page, '--traits', '@pro.json')).toEqual([])
  const args = ['explain', 'welcome', '--page', page, '--traits', '@-']
  expect((await place.run(args, {}, '{"plan": "pro"}')).stdout).toStartWith('shown')
})

describe('a question that cannot be answered', () => {
  test.each([
    ['no address', ['tour'], 2, "option '--page <url>' not specified"],
    ['half an address', ['tour', '--page', '/projects'], 2, '--page "/projects" is not a full URL'],
    [
      'traits that are no object',
      ['tour', '--page', page, '--traits', '[1]'],
      2,
      'must be a JSON object',
    ],
    ['traits that are no JSON', ['tour', '--page', page, '--traits', '{'], 2, 'must be JSON'],
    [
      'a file that is not there',
      ['tour', '--page', page, '--traits', '@no'],
      1,
      'no: File not found',
    ],
    ['two people', ['tour', '--page', page, '--user', 'a', '--anonymous', 'b'], 2, 'not both'],
    ['a flow like none', ['xyz', '--page', page], 1, 'see "cairn flows list"'],
  ] as const)('%s', async (_, args, status, message) => {
    const result = await explain(args[0], ...args.slice(1))
    expect(result.status).toBe(status)
    expect(result.stderr).toContain(message)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })
})

test('a flow that was withdrawn is explained by its draft', async () => {
  await Bun.write(
    join(place.folder, 'later.yaml'),
    'key: spring\npriority: 99\nsteps: [{ key: hello }]\n',
  )
  await place.run(['flows', 'push', 'later.yaml'])
  await place.run(['flows', 'unpublish', 'spring'])
  const withdrawn = await explain('spring', '--page', page)
  expect(withdrawn.stdout).toContain('not shown: spring, by published: it is a draft: publish it')
  expect(withdrawn.stdout).toContain('priority 99')
})
