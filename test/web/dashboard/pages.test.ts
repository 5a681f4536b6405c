import { expect } from 'bun:test'
import { leftOpenAfterMs } from '../../../src/web/dashboard/api/attention.ts'
import { type Page, pass, rest } from '../../support/browser.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { testPages } from '../../support/dashboard-pages.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** A list, results, the editor and a setting on every screen; and how pages load and poll. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

testPages(
  () => house,
  [
    {
      ...{ path: '/flows', title: 'Flows', shows: 'Spring news' },
      onPaper: [/Last 30 days\. Days start at midnight in Berlin/],
    },
    {
      ...{ path: '/flows/welcome', title: 'Welcome tour', shows: 'Where people leave' },
      onPaper: [/– .+ \d{4}, Berlin, all versions/, 'Runs neither completed nor dismissed'],
    },
    {
      ...{ path: '/flows/welcome/edit', title: 'Edit · Welcome tour', heading: 'Welcome tour' },
      shows: 'How often a person sees it',
    },
    {
      ...{ path: '/settings/limits', title: 'Rate limits · Settings', heading: 'Settings' },
      shows: 'Element snapshots',
    },
  ],
)

test('the first page loads one font and at most 56 KiB of its own, compressed with gzip, and nothing from another host', async () => {
  const { page, noticed } = await house.visit('')
  await page.getByText('Spring news').waitFor()
  const names = (await page.evaluate(
    "[location.href, ...performance.getEntriesByType('resource').map(entry => entry.name)]",
  )) as string[]
  const isFont = (name: string) => name.endsWith('.woff2')
  // The font is shared with the manual and stays cached for good.
  expect(names.filter(isFont)).toHaveLength(1)
  const files = names.filter(name => !/\/(api|session)\//.test(name) && !isFont(name))
  let bytes = 0
  for (const file of files) {
    const response = await fetch(file, { headers: { 'accept-encoding': 'identity' } })
    bytes += Bun.gzipSync(new Uint8Array(await response.arrayBuffer())).length
  }
  expect(files.length).toBeGreaterThan(3)
  expect(bytes).toBeLessThan(56 * 1024)
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByText('Where people leave').waitFor()
  const hosts = new Set(noticed.requests.map(url => new URL(url).host))
  expect([...hosts]).toEqual([new URL(house.server.url).host])
})

test('every page is as wide and in the same place, however long it is', async () => {
  const { page } = await house.visit('', { viewport: { width: 1_440, height: 900 } })
  await page.getByText('Spring news').first().waitFor()
  const places = new Set<unknown>()
  for (const name of ['Flows', 'People', 'Troubleshoot', 'Installation', 'Settings']) {
    await page.getByRole('link', { name, exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    places.add(
      await page.evaluate(`(() => {
        const { left, top } = document.querySelector('.page h1').getBoundingClientRect()
        const { width: whole } = document.querySelector('.page-head').getBoundingClientRect()
        return [left, top, whole, getComputedStyle(document.documentElement).scrollbarGutter].join()
      })()`),
    )
  }
  expect([...places]).toEqual([...places].slice(0, 1))
  expect([...places][0]).toEndWith('stable')
})

test("the dashboard works behind a proxy's path", async () => {
  const prefix = '/tools/cairn'
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${prefix}/`)) return new Response('elsewhere', { status: 404 })
      const { method, headers, body } = request
      headers.set('accept-encoding', 'identity')
      const to = house.server.url + pathname.slice(prefix.length) + search
      return fetch(to, { method, headers, body, redirect: 'manual' })
    },
  })
  try {
    const { page } = await house.browser.page()
    const { hash } = new URL(await house.link())
    await page.goto(`${proxy.url.origin}${prefix}/dashboard/sign-in${hash}`)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByRole('link', { name: 'Flows', exact: true }).click()
    await page.getByRole('link', { name: 'Welcome tour' }).click()
    await page.getByText('Where people leave').waitFor()
    expect(new URL(page.url()).pathname).toBe(`${prefix}/dashboard/harbor/flows/welcome`)
    await page.reload()
    await page.getByText('Where people leave').waitFor()
  } finally {
    proxy.stop(true)
  }
})

test('a link that is clicked before the page has settled is followed', async () => {
  const { page } = await house.visit('/install')
  // Clicks as soon as the flows are drawn, before the effects of that page have run.
  await page.addInitScript(`new MutationObserver((_, observer) => {
    const settings = [...document.querySelectorAll('nav a')].find(a => a.textContent === 'Settings')
    const flows = [...document.querySelectorAll('h2')].find(h2 => h2.textContent.startsWith('Flows,'))
    if (!settings || !flows) return
    observer.disconnect()
    settings.click()
  }).observe(document, { childList: true, subtree: true })`)
  await page.goto(`${house.server.url}/dashboard/harbor`)
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await rest(page)
  expect(new URL(page.url()).pathname).toBe('/dashboard/harbor/settings')
  expect(new URL(page.url()).search).toBe('')
})

test('a page that is being left writes nothing into the address of the next one', async () => {
  const { page } = await house.visit('')
  await page.waitForURL('**/harbor?tz=*')
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/assets/settings-page-*', async route => {
    await isReleased
    await route.continue()
  })
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.locator('.old').waitFor()
  await rest(page, /settings-page/)
  expect(new URL(page.url()).search).toBe('')
  release()
  await page.getByRole('combobox', { name: 'Time zone' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('after an upgrade, an open tab whose next page lacks its file reloads by itself', async () => {
  const { page, noticed } = await house.visit('/flows?tz=Asia%2FTokyo')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  const file = '**/assets/results-page-*'
  await page.route(file, route => route.fulfill({ status: 404 }), { times: 1 })
  noticed.requests.length = 0
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByText('Where people leave').waitFor()
  const paths = noticed.requests.map(url => new URL(url).pathname)
  expect(paths.filter(path => path === '/dashboard/harbor/flows/welcome')).toHaveLength(1)
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor()
  expect(new URL(page.url()).search).toBe('?tz=Asia%2FTokyo')
})

test('a page whose file stays missing says so after one reload, and offers to reload again', async () => {
  const { page, noticed } = await house.visit('/flows')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await page.route('**/assets/results-page-*', route => route.fulfill({ status: 404 }))
  noticed.requests.length = 0
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByText('Cairn was upgraded').waitFor()
  const paths = noticed.requests.map(url => new URL(url).pathname)
  expect(paths.filter(path => path === '/dashboard/harbor/flows/welcome')).toHaveLength(1)
  await page.unroute('**/assets/results-page-*')
  await page.getByRole('button', { name: 'Reload page' }).click()
  await page.getByText('Where people leave').waitFor()
})

/** The maximum of requests in a minute, by address. A token lives for five minutes. */
const designed = [
  ['', { flows: 4, health: 4, install: 4, alerts: 1, summary: 1, token: 1 }],
  ['/flows/welcome', { flows: 4, analytics: 5, token: 1 }],
  ['/flows/welcome/health', { flows: 4, health: 2, token: 1 }],
] as const

const shownBy = {
  '': 'Spring news',
  '/flows/welcome': 'Where people leave',
  '/flows/welcome/health': 'Of the last 24 hours',
}

/** Opens a page with a controlled clock and waits for its first responses. Records later requests only. */
async function leaveOpen(path: keyof typeof shownBy) {
  const { page, noticed } = await house.visit(path, { clock: true })
  await page.getByText(shownBy[path]).first().waitFor()
  // Includes the requests of the parts that the first responses render.
  await pass(page, 1_000)
  noticed.requests.length = 0
  return { page, noticed }
}

/**
 * Lets so much time pass by the page's own clock, and the page rest after each step. The clock also runs
 * while the page rests, which takes long on a busy machine.
 */
async function passInSteps(page: Page, ms: number, stepMs: number): Promise<void> {
  const now = () => page.evaluate(() => Date.now())
  const end = (await now()) + ms
  for (let left = ms; left > 0; left = end - (await now())) await pass(page, Math.min(left, stepMs))
}

/** The number of requests by the last part of their address. */
function countsOf(requests: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const url of requests) {
    const name = new URL(url).pathname.split('/').at(-1)!
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

test.each(designed)('"%s" sends no more requests in a minute than designed', async (path, max) => {
  const { page, noticed } = await leaveOpen(path)
  await passInSteps(page, 60_000, 1_000)
  const counts = countsOf(noticed.requests)
  for (const [name, times] of Object.entries(counts)) {
    expect([name, times <= ((max as Record<string, number>)[name] ?? 0), times]).toEqual([
      name,
      true,
      times,
    ])
  }
  expect(Object.keys(counts).length).toBeGreaterThan(1)
})

test('an unused page polls once a minute, and polls at once when somebody returns', async () => {
  const { page, noticed } = await leaveOpen('/flows/welcome/health')
  // Requests that are already scheduled are still sent.
  const scheduledMs = 30_000
  await passInSteps(page, leftOpenAfterMs + scheduledMs, 5_000)
  noticed.requests.length = 0
  await passInSteps(page, 180_000, 5_000)
  const { flows, health } = countsOf(noticed.requests)
  expect({ flows, health }).toEqual({ flows: 3, health: 3 })
  noticed.requests.length = 0
  await page.mouse.move(200, 200)
  await pass(page, 0)
  expect(countsOf(noticed.requests)).toMatchObject({ flows: 1, health: 1 })
  noticed.requests.length = 0
  await passInSteps(page, 67_000, 5_000)
  expect(countsOf(noticed.requests)).toMatchObject({ flows: 4, health: 2 })
})

test('a hidden page sends no requests', async () => {
  const { page, noticed } = await leaveOpen('')
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  for (let minutes = 0; minutes < 10; minutes++) await pass(page, 60_000)
  expect(noticed.requests).toEqual([])
})
