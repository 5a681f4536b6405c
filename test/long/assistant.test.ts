import { expect } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { until } from '../../scripts/support/until.ts'
import { Workplace } from '../support/binary.ts'
import { TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'

/** "People miss the export button": an assistant makes the tour by calls alone, on the demo's site. */

const cairn = new Workplace()
let browser: TestBrowser
let site: string
let client: Client

/** What the demo prints once it is ready. */
async function printed(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const part of stream.pipeThrough(new TextDecoderStream() as never)) {
    text += part
    if (text.includes('Ctrl-C to stop')) return text
  }
  throw new Error(`The demo ended: ${text}`)
}

beforeAll(async () => {
  const ports = ['--port', '0', '--management-port', '0', '--site-port', '0']
  const demo = await cairn.command(['demo', ...ports])
  const text = await printed(demo.stdout)
  site = /site +(http\S+)/.exec(text)![1]!
  const server = /dashboard +(http:\/\/[^/]+)/.exec(text)![1]!
  const scopes = ['flows:read', 'flows:write', 'flows:publish', 'analytics:read']
  const { token } = await cairn.json([
    ...['token', 'create', 'Assistant', '--data', 'cairn-demo-data'],
    ...scopes.flatMap(scope => ['--scope', scope]),
  ])
  client = new Client({ name: 'assistant', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  browser = await TestBrowser.open()
})
afterAll(async () => {
  await client.close()
  await browser.close()
  await cairn.close()
})

async function call(name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: given })
  const texts = (result.content as { text: string }[]).map(({ text }) => text)
  return { isError: result.isError === true, texts, json: () => JSON.parse(texts.at(-1)!) }
}

const step = (key: string, title: string, selector: string) => ({
  ...{ key, title, body: `Here is **${title.toLowerCase()}**.` },
  target: { selector },
})

test('an assistant makes a tour of the export button, and it runs on the page', async () => {
  expect((await call('check_installation')).json().state).toBe('active')
  const html = await (await fetch(`${site}/projects`)).text()
  const selectors = ['add-task', 'export', 'help'].map(name => `[data-action="${name}"]`)
  for (const selector of selectors) expect(html).toContain(selector.slice(1, -1))
  const [add, exported, help] = selectors as [string, string, string]
  const flow = {
    key: 'export-hint',
    name: 'Export hint',
    priority: 900,
    targeting: { urls: [{ match: 'exact', pattern: `${site}/projects` }] },
    steps: [
      step('tasks', 'Your tasks', add),
      step('export', 'Export them', exported),
      step('help', 'Get help', help),
    ],
  }

  // A mistake is named with its place, and mended.
  const wrong = { ...flow, steps: [{ ...flow.steps[0], target: { selector: '[data-action=' } }] }
  const judged = (await call('validate_flow', { text: JSON.stringify(wrong) })).json()
  expect(judged).toMatchObject({
    valid: false,
    problems: [{ path: '/steps/0/target/selector' }],
  })
  const { valid, problems } = (await call('validate_flow', { text: JSON.stringify(flow) })).json()
  expect([valid, problems]).toEqual([true, []])
  const { etag } = (await call('save_draft', { key: flow.key, flow })).json()

  const url = `${site}/projects?as=somebody-new`
  const { link } = (await call('preview_flow', { flow: flow.key, url })).json()
  const preview = await browser.page()
  await preview.page.goto(link)
  for (const { title } of flow.steps) {
    const shown = preview.page.getByRole('dialog', { name: title })
    await shown.waitFor()
    await shown.getByRole('button', { name: /^(Next|Done)$/ }).click()
  }

  expect((await call('publish_flow', { key: flow.key, etag })).isError).toBe(false)
  const visitor = await browser.page()
  await visitor.page.goto(url)
  for (const { title } of flow.steps) {
    const shown = visitor.page.getByRole('dialog', { name: title })
    await shown.waitFor()
    await shown.getByRole('button', { name: /^(Next|Done)$/ }).click()
  }
  const words = await until(
    async () => (await call('get_results', { key: flow.key })).texts[0]!,
    text => text.includes('1 were completed'),
  )
  expect(words).toContain('1 run started, by 1 person.')
})
