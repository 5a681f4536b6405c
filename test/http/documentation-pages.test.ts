import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { program } from '../browser/program.ts'
import { type Page, rest, TestBrowser } from '../support/browser.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/**
 * The manual and the API page, requested by every spelling of their address, directly and through a proxy
 * that adds a path prefix. Each response is the complete page or a 404.
 */

const world = new World()
let key: string
let own: string
let proxy: Bun.Server<undefined>
const proxyPath = '/tours/cairn'

beforeAll(async () => {
  const tenant = await Tenant.of(world)
  key = tenant.key
  tenant.publish({ key: 'tour', steps: [{ key: 'hello', title: 'Hello' }] })
  world.app.listen({ port: 0 })
  own = `http://localhost:${world.app.server!.port}`
  proxy = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(proxyPath)) return new Response('not ours', { status: 404 })
      const target = own + pathname.slice(proxyPath.length) + search
      const headers = new Headers(request.headers)
      headers.set('accept-encoding', 'identity')
      return fetch(target, { method: request.method, headers, redirect: 'manual' })
    },
  })
})

afterAll(async () => {
  await proxy.stop(true)
  await world.app.stop(true)
  await world.close()
})

const page = '/api/v1/docs'
const spellings = [
  page,
  `${page}/`,
  `${page}?x=1`,
  `${page}/?x=%2F&y=/`,
  `${page}#top`,
  '/api/v1/./docs',
  '/api/v1/docs/.',
  '/api/v1/docs/../docs/',
  '/api/%2e/v1/docs',
  '/docs',
  '/docs/',
  '/docs?x=1',
  '/docs/deploy',
  '/docs/deploy/',
  '/docs/./deploy/?x=%2F#as-a-systemd-service',
]
/** Paths with two leading slashes are tested in `socket.test.ts`, because fetch would drop one of them. */
const none = [
  `${page}//`,
  '/api//v1/docs',
  '/api/v1//docs/',
  '/api/v1/%64ocs',
  '/api/v1/%44OCS',
  '/api/v1/Docs',
  '/api/v1%2Fdocs',
  '/api/v1/docs%2f',
  '/api/v1/docs;x',
  '/api/v1/docs%00',
  '/api/v1/docs/icon.svg/x',
  '/api/v1/openapi.json//',
  '/snippet.js/',
  '/%73nippet.js',
  '/docs//',
  '/Docs',
  '/%64ocs',
  '/docs/Deploy',
  '/docs/deploy.md',
  '/docs/deploy/x',
  '/docs/deploy%2f',
  '/docs/manual.js/',
  '/docs/..%2fsnippet.js',
]

const origins = () => [own, `http://localhost:${proxy.port}${proxyPath}`]

test('each picture of the manual has a text and a dark form, and loads', async () => {
  const html = await (await fetch(`${own}/docs/dashboard`)).text()
  const found = [...html.matchAll(/<img class="in-(\w+)" src="([^"]+)" alt="([^"]+)"/g)]
  expect(found).not.toBeEmpty()
  expect(found.length).toBe([...html.matchAll(/<img class/g)].length)
  expect(found.map(([, form]) => form)).toEqual(found.map((_, at) => (at % 2 ? 'dark' : 'light')))
  for (const [, , name] of found) {
    const { status, headers } = await fetch(`${own}/docs/${name}`)
    expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'image/webp'])
  }
})

test.each(spellings)('%s is the page, and everything that it links to loads', async spelling => {
  for (const origin of origins()) {
    const response = await fetch(origin + spelling)
    expect([spelling, response.status, response.headers.get('content-type')]).toEqual([
      spelling,
      200,
      'text/html; charset=utf-8',
    ])
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const text = await response.text()
    const named = [...text.matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(5)
    for (const name of named) {
      const { href } = new URL(name, response.url)
      expect([href, (await fetch(href)).status]).toEqual([href, 200])
    }
    const head = await fetch(origin + spelling, { method: 'HEAD' })
    expect([head.status, head.url, await head.text()]).toEqual([200, response.url, ''])
  }
})

test.each(['/api/v1/openapi.json', '/api/v1/openapi.json/', '/api/v1/openapi.json/?x'])(
  '%s names the server that it was fetched from',
  async spelling => {
    for (const origin of origins()) {
      const response = await fetch(origin + spelling)
      const { servers } = (await response.json()) as { servers: { url: string }[] }
      const { href } = new URL(`${servers[0]!.url}/flows`, response.url)
      expect([href, (await fetch(href)).status]).toEqual([`${origin}/api/v1/flows`, 401])
    }
  },
)

test.each(none)('%s is no page, and is answered with a 404', async spelling => {
  for (const origin of origins()) {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(origin + spelling, { method })
      expect([spelling, response.status]).toEqual([spelling, 404])
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('x-request-id')).not.toBeNull()
    }
  }
})

test('no redirect leads to another host', async () => {
  for (const spelling of [
    `${page}/evil.example/`,
    `${page}/%2f%2fevil.example/`,
    `${page}/javascript:0/`,
  ]) {
    const { status, headers } = await fetch(own + spelling, { redirect: 'manual' })
    expect(status).toBe(308)
    const to = new URL(headers.get('location')!, own + spelling)
    expect([to.origin, to.pathname.startsWith(`${page}/`)]).toEqual([own, true])
  }
})

const liveResponse = '.live-responses-table .response'

/** Opens an operation of the API page, ready to be executed. */
async function tryOut(shown: Page, operation: string) {
  const opened = shown.locator(`#operations-${operation}`)
  await opened.locator('.opblock-summary-control').click()
  const isReady = () => opened.locator('.execute').isVisible()
  // The page scrolls to what was opened, and a press meanwhile may miss the button.
  const start = opened.locator('.try-out__btn:not(.cancel)')
  await until(async () => {
    if (!(await isReady())) await start.click({ timeout: 2_000 }).catch(() => {})
    return isReady()
  })
  return opened
}

describe.skipIf(!program)('in a browser', () => {
  const dark = 'rgb(17, 17, 19)'
  let browser: TestBrowser
  beforeAll(async () => {
    browser = await TestBrowser.open()
  })
  afterAll(() => browser?.close())

  test('searching the manual works below a proxy path, nothing loads from elsewhere, and it fits a phone', async () => {
    for (const origin of origins()) {
      const { page: shown, noticed } = await browser.page({ viewport: { width: 360, height: 800 } })
      await shown.goto(`${origin}/docs/`)
      await rest(shown)
      await shown.locator('input[type=search]').fill('replicate litestream')
      await shown.keyboard.press('Enter')
      await shown.waitForURL(`${origin}/docs/backup#replicate-with-litestream`)
      await rest(shown)
      // Each page is opened once, and only through the proxy, because there a link may lead past it.
      const index = origin === own ? '' : await (await fetch(`${origin}/docs`)).text()
      for (const [, name] of index.matchAll(/<li><a href="(docs\/[a-z-]+)"/g)) {
        await shown.goto(`${origin}/${name}`)
        const isWide = 'document.documentElement.scrollWidth > 360'
        expect([name, await shown.evaluate(isWide)]).toEqual([name, false])
        const cut = await shown.evaluate(
          `[...document.querySelectorAll('.wide')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`,
        )
        expect([name, cut]).toEqual([name, 0])
        await rest(shown)
      }
      expect(noticed.complaints).toEqual([])
      expect(noticed.requests.filter(url => !url.startsWith(origin))).toEqual([])
    }
  }, 300_000)

  test('a word finds the two that it is written as elsewhere', async () => {
    const { page: shown } = await browser.page()
    await shown.goto(`${own}/docs`)
    await shown.locator('input[type=search]').fill('rollback')
    const found = shown.locator('#found a[href$="/docs/dashboard#a-flows-versions"] mark')
    await found.getByText('Roll back', { exact: true }).waitFor()
  }, 300_000)

  test('the manual is dark by preference, until the visitor switches it', async () => {
    const { page: shown } = await browser.page({ colorScheme: 'dark' })
    const theme = () => shown.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    await shown.goto(`${own}/docs`)
    expect(await theme()).toBe(dark)
    await shown.locator('#theme').click()
    await shown.goto(`${own}/docs/deploy`)
    expect(await theme()).toBe('rgb(255, 255, 255)')
  }, 300_000)

  test('the API page sends a request with a pasted key, and does not store the key', async () => {
    const { page: shown, noticed } = await browser.page({ viewport: { width: 1280, height: 900 } })
    await shown.goto(own + page)
    await shown.locator('#authorize').click()
    await shown.locator('#auth-bearer-value').first().fill(key)
    await shown.locator('.auth-container .authorize').first().click()
    await shown.locator('.auth-container .btn-done').first().click()
    const flows = await tryOut(shown, 'Flows-listFlows')
    await flows.locator('.execute').click()
    const live = flows.locator(liveResponse)
    expect(await live.locator('.response-col_status').textContent()).toStartWith('200')
    expect(await live.locator('.response-col_description').textContent()).toContain('"tour"')

    // A parameter has an example, which is not sent unless it is filled in.
    const beat = await tryOut(shown, 'Liveness-sendHeartbeat')
    const user = beat.locator('.parameters input').first()
    expect([await user.getAttribute('placeholder'), await user.inputValue()]).toEqual([
      'e.g. ann',
      '',
    ])
    await beat.locator('.execute').click()
    await beat.locator(liveResponse).waitFor()
    const requests = noticed.requests.filter(url => !url.startsWith('data:'))
    expect(requests.at(-1)).toBe(`${own}/api/v1/heartbeat`)
    expect(requests.filter(url => !url.startsWith(own))).toEqual([])
    expect(noticed.complaints).toEqual([])

    const ending = "getComputedStyle(document.querySelector('#authorize'), '::after').content"
    expect(await shown.evaluate(ending)).toBe('"d"')
    const stored = `indexedDB.databases().then(databases =>
      [...databases, ...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie])`
    expect(await shown.evaluate(stored)).toEqual([''])
  }, 300_000)

  test('the API page fits a phone, follows the dark colour scheme, and works below a proxy path', async () => {
    const { page: shown, noticed } = await browser.page({
      viewport: { width: 375, height: 800 },
      isMobile: true,
      colorScheme: 'dark',
    })
    const origin = origins()[1]!
    await shown.goto(`${origin}${page}/`)
    await shown.locator('.opblock').first().waitFor()
    expect(shown.url()).toBe(origin + page)
    expect(await shown.evaluate('document.documentElement.scrollWidth')).toBe(375)
    const background = 'getComputedStyle(document.documentElement).backgroundColor'
    expect(await shown.evaluate(background)).toBe(dark)
    const docs = await tryOut(shown, 'Description-getDocumentation')
    await docs.locator('.execute').click()
    const live = docs.locator(liveResponse)
    expect(await live.locator('.response-col_status').textContent()).toStartWith('200')
    const requests = noticed.requests.filter(url => !url.startsWith('data:'))
    expect(requests.filter(url => !url.startsWith(`${origin}/`))).toEqual([])
    expect(noticed.complaints).toEqual([])
  }, 300_000)
})
