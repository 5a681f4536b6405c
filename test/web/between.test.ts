import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Nothing gets lost to what is between page and server, or to whatever else runs or is kept in the browser. */

const keys = ['portal', 'retry', 'poison', 'alien', 'tabs', 'clock', 'rotated', 'leave']

const flows = keys
  .map(
    key => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: one, kind: modal, title: One }
    - { key: two, kind: modal, title: Two }
`,
  )
  .join('')

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

type Call = (...args: unknown[]) => void

const call = (page: Page, name: string, ...args: unknown[]) =>
  page.evaluate(
    ([name, args]) => (window as never as { cairn: Record<string, Call> }).cairn[name]?.(...args),
    [name, args] as const,
  )

const blank = async (prepare = '') => {
  const { page, noticed } = await site.browser.page({ clock: true })
  if (prepare) await page.addInitScript(prepare)
  return { page, noticed, ...shown(page) }
}

/** The headers by which pages may read Cairn's own answers. */
const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }

/** Turns beacons off, because `route` does not see them. The snippet takes a proxy for the browser's own. */
const noBeacons =
  'Navigator.prototype.sendBeacon = new Proxy(Navigator.prototype.sendBeacon, { apply: () => false })'

const waiting = (page: Page) =>
  page.evaluate(() => {
    const names = Object.keys(localStorage).filter(name => name.includes(':out:'))
    return names.flatMap(name => JSON.parse(localStorage.getItem(name) ?? '{}').events).length
  })

test('an answer that is not Cairn’s does not count as a receipt', async () => {
  const { page, title } = await blank(noBeacons)
  await page.route('**/api/v1/events', route =>
    route.fulfill({
      status: 200,
      contentType: 'text/html',
      body: '<h1>Sign in</h1>',
      headers: cors,
    }),
  )
  await page.goto(`${site.url}/projects?case=portal`)
  await title.waitFor()
  const answered = page.waitForResponse(response => response.url().endsWith('/events'))
  await pass(page, 6_000)
  await answered
  expect(await waiting(page)).toBeGreaterThan(0)
  await page.unroute('**/api/v1/events')
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
  await site.until('portal', ({ totals }) => totals.starts === 1)
})

test.each(['-5', '99999999', 'soon'])(
  'a Retry-After of %p causes no storm of requests or of timers',
  async retryAfter => {
    const { page, title } = await blank(
      `${noBeacons}; let count = 0; const own = window.setTimeout; window.setTimeout = (...args) => { count++; return own(...args) }; window.timers = () => count`,
    )
    let asked = 0
    await page.route('**/api/v1/events', route => {
      asked++
      return route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: '{}',
        headers: { ...cors, 'Retry-After': retryAfter },
      })
    })
    await page.goto(`${site.url}/projects?case=retry`)
    await title.waitFor()
    for (let i = 0; i < 25; i++) await call(page, 'track', `event_${i}`)
    await pass(page, 500)
    const before = (await page.evaluate('timers()')) as number
    await pass(page, 1_500)
    const timers = ((await page.evaluate('timers()')) as number) - before
    expect(asked).toBe(1)
    expect(timers).toBeLessThan(20)
  },
)

test('after an event that is too large, the others are sent in batches again', async () => {
  const { page, title, noticed } = await blank(noBeacons)
  await page.goto(`${site.url}/projects?case=poison`)
  await title.waitFor()
  await page.context().setOffline(true)
  await page.evaluate(() => {
    const { cairn } = window as never as { cairn: Record<string, Call> }
    cairn.track?.('large', { text: 'x'.repeat(1_200_000) })
    for (let i = 0; i < 200; i++) cairn.track?.(`event_${i}`)
  })
  await pass(page, 500)
  const asked = () => noticed.requests.filter(url => url.endsWith('/events')).length
  const before = asked()
  await page.context().setOffline(false)
  await allSent(page)
  expect(asked() - before).toBeLessThan(25)
})

test('foreign data in the storage stops nothing', async () => {
  const { page, noticed } = await blank()
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
  const prefix = await page.evaluate(() => {
    const name = Object.keys(localStorage).find(name => name.endsWith(':person')) ?? ''
    return name.slice(0, -'person'.length)
  })
  await page.goto('about:blank')
  await page.addInitScript(prefix => {
    if (location.search !== '?case=alien') return
    const set = (name: string, value: unknown) =>
      localStorage.setItem(prefix + name, JSON.stringify(value))
    set('out:x', { savedAt: 0, isLeft: true, events: [null, 7, { id: 3 }, 'text', { id: 'bad' }] })
    set('out:y', { savedAt: 0, isLeft: true, events: 'none' })
    set('out:z', 7)
    set('past', { not: 'a list' })
    set('looks', 'none')
    set('session', 3)
    set('person', { userId: 5 })
    set('flows', { flows: 'none', askedAt: Date.now() })
  }, prefix)
  noticed.complaints.length = 0
  await page.goto(`${site.url}/projects?case=alien`)
  await shown(page).title.waitFor()
  await pass(page, 6_000)
  await site.until('alien', ({ totals }) => totals.starts === 1)
  // The server answers 422 to data that only looks like an event.
  expect(noticed.complaints.filter(text => !text.includes('422'))).toEqual([])
})

test('a refusal of consent in one tab applies to all tabs', async () => {
  const { page, title } = await blank()
  await page.goto(`${site.url}/settings/people`)
  const second = await page.context().newPage()
  await second.goto(`${site.url}/projects?case=tabs`)
  await shown(second).title.waitFor()
  await second.evaluate(() => {
    addEventListener('storage', () => Object.assign(globalThis, { hasHeard: true }))
  })
  await call(page, 'consent', false)
  await second.waitForFunction(() => 'hasHeard' in globalThis)
  await call(second, 'track', 'unwanted')
  await shown(second).button('Next').click()
  await pass(second, 10_000)
  const stored = await page.evaluate(() => Object.keys(localStorage))
  expect(stored).toEqual([expect.stringMatching(/:consent$/)])
  await title.count()
})

test('a clock that was years ahead does not hold anything up when it is right again', async () => {
  const { page, title, noticed } = await blank()
  await page.goto(`${site.url}/settings/people`)
  await page.waitForFunction(() =>
    Object.keys(localStorage).some(name => name.endsWith(':heartbeat')),
  )
  await allSent(page)
  await page.evaluate(() => {
    const ahead = Date.now() + 10 * 365 * 86_400_000
    const prefix = Object.keys(localStorage)
      .find(name => name.endsWith(':person'))
      ?.slice(0, -6)
    const set = (name: string, value: unknown) =>
      localStorage.setItem(prefix + name, JSON.stringify(value))
    const flows = JSON.parse(localStorage.getItem(`${prefix}flows`) ?? '{}')
    set('flows', { ...flows, askedAt: ahead })
    set('heartbeat', ahead)
    set('out:killed', { savedAt: ahead, isLeft: false, events: [] })
  })
  noticed.requests.length = 0
  await page.goto(`${site.url}/projects?case=clock`)
  await title.waitFor()
  await allSent(page)
  const hasAsked = (path: string) => noticed.requests.some(url => url.includes(path))
  await until(() => hasAsked('/api/v1/flows?') && hasAsked('/heartbeat'))
})

test('a page that is left sends each event once', async () => {
  const { page, title, button } = await blank(
    'const apply = (own, page, sent) => { sessionStorage.beacons = Number(sessionStorage.beacons ?? 0) + 1; return Reflect.apply(own, page, sent) }; Navigator.prototype.sendBeacon = new Proxy(Navigator.prototype.sendBeacon, { apply })',
  )
  await page.goto(`${site.url}/projects?case=leave`)
  await title.waitFor()
  await button('Next').click()
  await page.goto(`${site.url}/settings/people`)
  expect(await page.evaluate(() => Number(sessionStorage.beacons))).toBe(1)
})

test('a rotated key finds what people have seen and said under the old one, and their queued events', async () => {
  const { page, title, button } = await blank()
  await page.goto(`${site.url}/projects?case=rotated`)
  await title.waitFor()
  await button('Close').click()
  await title.waitFor({ state: 'detached' })
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
  const personOf = () =>
    page.evaluate(() => {
      const names = Object.keys(localStorage).filter(name => name.endsWith(':person'))
      return names.map(name => localStorage.getItem(name))
    })
  const before = await personOf()
  await page.evaluate(() => {
    const name = Object.keys(localStorage).find(name => name.endsWith(':person')) ?? ''
    const event = { id: crypto.randomUUID(), kind: 'custom', name: 'waiting', anonymousId: 'x' }
    const queue = { savedAt: 0, isLeft: true, events: [event] }
    localStorage.setItem(name.replace(/person$/, 'out:left'), JSON.stringify(queue))
  })
  await page.goto('about:blank')
  const { snippetKey } = await site.place.json<{ snippetKey: string }>(['key', 'rotate'])
  await page.addInitScript(
    key =>
      new MutationObserver(() =>
        document.querySelector('script[data-key]')?.setAttribute('data-key', key),
      ).observe(document, { childList: true, subtree: true }),
    snippetKey,
  )
  await page.goto(`${site.url}/projects?case=rotated`)
  await allSent(page)
  await rest(page)
  expect(await title.count()).toBe(0)
  expect(await personOf()).toEqual(before)
})
