import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tags } from '../../src/http/description/tags.ts'
import { program } from '../browser/program.ts'
import { apiOf, type Server, Workplace, withTour } from '../support/binary.ts'
import { type Noticed, type Page, TestBrowser } from '../support/browser.ts'
import { Description, type Document } from '../support/described.ts'

/** The compiled binary serves its description, answers as described, and shows it as a page. */

// A browser starts in seconds, and the machine may be busy.
setDefaultTimeout(300_000)

const place = new Workplace()
let server: Server
let organisation: Awaited<ReturnType<typeof withTour>>
let description: Description
let ask: ReturnType<typeof apiOf>

beforeAll(async () => {
  organisation = await withTour(place)
  server = await place.serve(['--threads', '2'])
  ask = apiOf(server, organisation.snippetKey)
  description = new Description((await (await ask('GET', '/openapi.json')).json()) as Document)
})

afterAll(() => place.close())

describe.skipIf(!program)('the page, in a browser', () => {
  let browser: TestBrowser
  let page: Page
  let noticed: Noticed

  beforeAll(async () => {
    browser = await TestBrowser.open()
    ;({ page, noticed } = await browser.page({ viewport: { width: 1280, height: 900 } }))
    // A trailing slash is removed.
    await page.goto(`${server.url}/api/v1/docs/`)
    await page.locator('.opblock').first().waitFor()
    expect(page.url()).toBe(`${server.url}/api/v1/docs`)
  }, 300_000)

  afterAll(() => browser?.close())

  test('lists every operation under its part', async () => {
    const listed = await page.locator('.opblock').evaluateAll(blocks => blocks.map(({ id }) => id))
    const described = description.all.map(
      ({ operation }) => `operations-${operation.tags[0]}-${operation.operationId}`,
    )
    expect(listed.toSorted()).toEqual(described.toSorted())
    expect(await page.locator('#parts a').allTextContents()).toEqual(Object.keys(tags))
  })

  test('sends a request with a pasted key, and shows the answer', async () => {
    await page.locator('#authorize').click()
    await page.locator('#auth-bearer-value').first().fill(organisation.snippetKey)
    await page.locator('.auth-container .authorize').first().click()
    await page.locator('.auth-container .btn-done').first().click()
    const flows = page.locator('#operations-Flows-listFlows')
    await flows.locator('.opblock-summary-control').click()
    await flows.locator('.try-out__btn').click()
    await flows.locator('.execute').click()
    const live = flows.locator('.live-responses-table .response')
    expect(await live.locator('.response-col_status').textContent()).toStartWith('200')
    expect(await live.locator('.response-col_description').textContent()).toContain('"tour"')
  })

  test('keeps nothing of what was pasted', async () => {
    const sign = "getComputedStyle(document.querySelector('#authorize'), '::after').content"
    expect(await page.evaluate(sign)).toContain('✓')
    const kept = '[localStorage.length, sessionStorage.length, document.cookie]'
    expect(await page.evaluate(kept)).toEqual([0, 0, ''])
    const again = await page.context().newPage()
    await again.goto(`${server.url}/api/v1/docs`)
    await again.locator('.opblock').first().waitFor()
    expect(await again.evaluate(sign)).toBe('none')
    await again.close()
  })

  test('shows what a parameter looks like, and sends nothing but what was filled in', async () => {
    const status = page.locator('#operations-Liveness-sendHeartbeat')
    await status.locator('.opblock-summary-control').click()
    await status.locator('.try-out__btn').click()
    const fields = status.locator('.parameters input')
    const shown = await fields.evaluateAll(inputs =>
      inputs.map(input => {
        const { placeholder, value } = input as unknown as { placeholder: string; value: string }
        return [placeholder, value]
      }),
    )
    expect(shown).toEqual([
      ['e.g. ann', ''],
      ['e.g. anon-5c1f', ''],
      ['userHash', ''],
      ['e.g. 1k2f9x3', ''],
      ['e.g. 1.4.0', ''],
      ['e.g. https://app.example.com/projects', ''],
      ['e.g. s1', ''],
    ])
    await status.locator('.execute').click()
    await status.locator('.live-responses-table .response').waitFor()
    expect(noticed.requests.at(-1)).toBe(`${server.url}/api/v1/heartbeat`)
  })

  test('asks only this server, and its content security policy refuses nothing', () => {
    const origins = noticed.requests
      .filter(url => !url.startsWith('data:'))
      .map(url => new URL(url).origin)
    expect([...new Set(origins)]).toEqual([new URL(server.url).origin])
    expect(noticed.complaints).toEqual([])
  })

  test('fits a phone, is dark where that is preferred, and works behind a proxy that adds a path prefix', async () => {
    const prefix = '/tours'
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch({ url, headers }) {
        const { pathname, search } = new URL(url)
        if (!pathname.startsWith(`${prefix}/`)) return new Response(null, { status: 404 })
        const to = `${server.url}${pathname.slice(prefix.length)}${search}`
        return fetch(to, { headers, decompress: false, redirect: 'manual' })
      },
    })
    try {
      const { page, noticed } = await browser.page({
        viewport: { width: 375, height: 800 },
        isMobile: true,
        colorScheme: 'dark',
      })
      const origin = `${proxy.url.origin}${prefix}`
      await page.goto(`${origin}/api/v1/docs/`)
      await page.locator('.opblock').first().waitFor()
      expect(page.url()).toBe(`${origin}/api/v1/docs`)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
      const buttons = page.locator('.authorize:visible, #authorize:visible')
      expect(await buttons.count()).toBe(1)
      const { x, y, width, height } = (await buttons.boundingBox())!
      expect([x >= 0, y >= 0, x + width <= 375, y + height <= 100]).not.toContain(false)
      const ground = 'getComputedStyle(document.body).backgroundColor'
      expect(await page.evaluate(ground)).toBe('rgb(28, 32, 34)')

      // An operation that anybody may call. Showing the description itself would take half a minute.
      const shown = page.locator('#operations-Description-getDocumentation')
      await shown.locator('.opblock-summary-control').click()
      await shown.locator('.try-out__btn').click()
      await shown.locator('.execute').click()
      const live = shown.locator('.live-responses-table .response')
      expect(await live.locator('.response-col_status').textContent()).toStartWith('200')
      const paths = noticed.requests
        .filter(url => !url.startsWith('data:'))
        .map(url => new URL(url).pathname)
      expect(paths.filter(path => !path.startsWith(`${prefix}/api/v1/`))).toEqual([])
      expect(paths.at(-1)).toBe(`${prefix}/api/v1/docs`)
      expect(noticed.complaints).toEqual([])
    } finally {
      await proxy.stop(true)
    }
  })
})
