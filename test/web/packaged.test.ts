import { expect } from 'bun:test'
import { join } from 'node:path'
import { createCairn } from '../../src/sdk/browser/index.ts'
import { TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'

/** @cairn/browser with a server's script that is not its own version, or that does not load. */

/** A script from before calls had answers: it makes the calls that have waited, and knows no others. */
const older = `{
  const calls = window.cairn.q, made = window.made = []
  const old = { q: undefined }
  for (const name of ['identify', 'track', 'start', 'stop', 'reset', 'consent']) {
    old[name] = (...args) => { made.push([name, ...args]) }
  }
  old.on = (name, listener) => { made.push(['on', name]); return () => {} }
  Object.assign(window.cairn, old)
  for (const [name, ...args] of calls) old[name]?.(...args)
}`

let browser: TestBrowser
let server: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  browser = await TestBrowser.open()
  const entry = join(import.meta.dir, '../../src/sdk/browser/index.ts')
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser' })
  const text = await outputs[0]!.text()
  const scripts: Record<string, string> = {
    '/sdk.js': text,
    '/older/snippet.js': older,
    '/wrong/snippet.js': 'window.other = 1',
  }
  server = Bun.serve({
    hostname: 'localhost',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const script = scripts[pathname]
      if (script) return new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
      if (pathname !== '/') return new Response('', { status: 404 })
      const html = '<!doctype html><html lang="en"><title>Page</title><h1>Page</h1>'
      return new Response(html, { headers: { 'Content-Type': 'text/html' } })
    },
  })
})
afterAll(async () => {
  server.stop(true)
  await browser.close()
})

/** What a script returns in a page with a client for a folder of the server, and the page's complaints. */
async function page<Answer>(
  folder: string,
  script: string,
  more = '',
): Promise<[Answer, string[]]> {
  const { page, noticed } = await browser.page()
  await page.goto(`http://localhost:${server.port}/`)
  const options = `{ url: location.origin + '/${folder}', key: 'k', ${more} }`
  const answer = await page.evaluate(
    `import('/sdk.js').then(async ({ createCairn }) => {
      let failure = null
      const cairn = createCairn(${options})
      ${script}
    })`,
  )
  await page.context().close()
  return [answer as Answer, noticed.complaints]
}

test('an older script gets the calls it knows, and the others answer as if nothing were there', async () => {
  const [answer, complaints] = await page<unknown>(
    'older',
    `const met = cairn.identify('ann')
    cairn.group('acme')
    cairn.track('early')
    const isThere = await cairn.ready
    cairn.track('late')
    const off = cairn.on('step_viewed', () => {})
    return [isThere, await met, await cairn.identify('bob'), cairn.isActive('x'), cairn.progress('x'),
      await cairn.flows(), await cairn.why('x'), typeof off, made]`,
    'headless: true',
  )
  expect(answer).toEqual([
    ...[true, 'alone', 'alone', false, null, [], null, 'function'],
    [
      ['identify', 'ann'],
      ['track', 'early'],
      ['track', 'late'],
      ['on', 'step_viewed'],
      ['identify', 'bob'],
    ],
  ])
  expect(complaints).toContain(
    'cairn: the server is older than headless mode, and draws flows itself',
  )
  expect(complaints).toContain("cairn: the server's script is older, and has no flows()")
})

test.each(['none', 'wrong'])(
  'if the script is not there (%s), the page is told, and nothing hangs',
  async folder => {
    const [answer, complaints] = await page<unknown>(
      folder,
      `const met = cairn.identify('ann')
    cairn.start('tour')
    return [await cairn.ready, await met, await cairn.flows(), failure !== null]`,
      'onLoadFailure: error => { failure = error }',
    ).catch(error => [error, []] as [unknown, string[]])
    expect(answer).toEqual([false, 'alone', [], true])
    expect(complaints.some(text => text.startsWith('cairn: '))).toBe(true)
  },
)

test('called twice, it loads one script, with the nonce and the options of the page', async () => {
  const [answer, complaints] = await page<unknown>(
    'older',
    `const same = cairn === createCairn(${"{ url: location.origin + '/older/', key: 'k' }"})
    const other = cairn === createCairn({ url: location.origin, key: 'other' })
    const [script, ...more] = document.querySelectorAll('script[data-key]')
    return [same, other, more.length, script.nonce, { ...script.dataset }]`,
    "nonce: 'abc', identify: 'wait', identifyTimeoutMs: 9",
  )
  const data = { key: 'k', identify: 'wait', identifyTimeout: '9' }
  expect(answer).toEqual([true, true, 0, 'abc', data])
  expect(complaints).toContain('cairn: this page asks for two servers or keys: one is used')
})

test('during rendering on a server nothing happens, and awaited calls are answered', async () => {
  const cairn = createCairn({ url: 'https://cairn.example.com', key: 'k' })
  expect(await cairn.identify('ann')).toBe('alone')
  expect([await cairn.flows(), await cairn.why('x'), cairn.isActive()]).toEqual([[], null, false])
  cairn.on('flow_started', () => {})()
  cairn.track('x')
})
