import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, leftLongAgo, Site, shown } from '../support/site.ts'

/** Which flow a page shows, and whose run it is, whenever and in whatever order the page makes its calls. */

const tour = (key: string, more = '') => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  ${more}
  steps:
    - { key: one, kind: modal, title: ${key} one }
    - { key: two, kind: modal, title: ${key} two }
`

const flows = `
${['late', 'traits', 'element', 'chunk', 'both', 'prerender', 'back', 'first', 'second'].map(key => tour(key)).join('')}
${tour('always', 'frequency: always')}
- key: asked-for
  targeting: { urls: [{ match: exact, pattern: /nowhere }] }
  steps:
    - { key: one, kind: modal, title: Asked one }
    - { key: two, kind: modal, title: Asked two }
- key: list
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/projects?case=both" }] }
  checklist: { items: [{ key: a, title: A }] }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

/** Calls `window.cairn` on the page. */
const call = (page: Page, name: string, ...args: unknown[]) =>
  page.evaluate(
    ([name, args]) =>
      (window as never as { cairn: Record<string, (...args: unknown[]) => void> }).cairn[name]?.(
        ...args,
      ),
    [name, args] as const,
  )

const at = (page: Page, text: string) =>
  shown(page).title.getByText(text, { exact: true }).waitFor()

const open = async (path: string, prepare = '') => {
  const { page, noticed } = await site.browser.page({ clock: true })
  if (prepare) await page.addInitScript(prepare)
  await page.goto(site.url + path)
  return { page, noticed, ...shown(page) }
}

/** Leaves a page without the test's own routes, because they may lose what it sends as it is closed. */
const leave = async (page: Page) => {
  await page.unrouteAll()
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
  await page.close()
}

const stub = (...calls: string[]) =>
  `window.cairn = { q: [${calls.join()}] }; for (const m of ['identify', 'track', 'start', 'stop', 'reset', 'on', 'consent']) window.cairn[m] = (...a) => void window.cairn.q?.push([m, ...a])`

test('a flow that was asked for before the script had loaded is shown', async () => {
  const { page } = await open('/settings/people', stub("['start', 'asked-for']"))
  await at(page, 'Asked one')
})

test('a flow that was asked for stays after its tab was hidden, and after a reload', async () => {
  const { page } = await open('/projects?case=first')
  await at(page, 'first one')
  await shown(page).button('Close').click()
  await call(page, 'start', 'asked-for')
  await at(page, 'Asked one')
  await shown(page).button('Next').click()
  await at(page, 'Asked two')
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await rest(page)
  expect(await shown(page).card.count()).toBe(1)
  await page.reload()
  await at(page, 'Asked two')
})

test('a flow that is asked for twice at once has one run; stopped before it is shown, it has none', async () => {
  const before = await site.numbers('asked-for')
  const { page } = await open(
    '/settings/people',
    stub("['start', 'asked-for']", "['start', 'asked-for']"),
  )
  await at(page, 'Asked one')
  await call(page, 'start', 'asked-for')
  await page.close()
  const { totals } = await site.until(
    'asked-for',
    ({ totals }) => totals.starts > before.totals.starts,
  )
  expect(totals.starts).toBe(before.totals.starts + 1)
  const other = await open('/settings/people', stub("['start', 'asked-for']", "['stop']"))
  await rest(other.page)
  expect(await other.card.count()).toBe(0)
})

test('a tour continues where it was, although another one has been shown meanwhile', async () => {
  const before = await site.numbers('first')
  const { page, button } = await open('/projects?case=first')
  await at(page, 'first one')
  await button('Next').click()
  await at(page, 'first two')
  // Otherwise a person in the middle of one tour is not interrupted by another.
  await page.goto(`${site.url}/settings/people`)
  await leftLongAgo(page)
  await page.goto(`${site.url}/projects?case=second`)
  await at(page, 'second one')
  await page.goto(`${site.url}/projects?case=first`)
  await at(page, 'first two')
  await page.goto(`${site.url}/projects?case=second`)
  await at(page, 'second one')
  await page.close()
  const { totals } = await site.until('first', ({ totals }) => totals.starts > before.totals.starts)
  expect(totals.starts).toBe(before.totals.starts + 1)
})

test('traits that are not JSON prevent no flow and no report', async () => {
  const circle = 'const circle = {}; circle.self = circle;'
  const odd = `{ big: 10n, circle, at: new Date(0), not: NaN, fails: { toJSON() { throw 1 } }, plan: 'pro' }`
  const { page, noticed } = await site.browser.page()
  await page.route('**/app.js', route =>
    route.fulfill({ body: '', contentType: 'text/javascript' }),
  )
  const calls = stub(`['identify', 'odd', ${odd}]`, `['track', 'odd', ${odd}]`)
  await page.addInitScript(circle + calls)
  await page.goto(`${site.url}/projects?case=traits`)
  await at(page, 'traits one')
  const traits = await page.evaluate(() => {
    const name = Object.keys(localStorage).find(name => name.endsWith(':person')) ?? ''
    return JSON.parse(localStorage.getItem(name) ?? '{}').traits
  })
  expect(traits).toEqual({ big: 10, at: '1970-01-01T00:00:00.000Z', not: null, plan: 'pro' })
  await leave(page)
  await site.until('traits', ({ totals }) => totals.starts === 1)
  // A page that is being left does not learn what became of its last reports.
  const isReport = (text: string) => /^failed: .*\/api\/v1\/events\b/.test(text)
  expect(noticed.complaints.filter(text => !isReport(text))).toEqual([])
})

test('an element of the page with the id cairn does not keep the script from starting', async () => {
  const { page } = await open(
    '/projects?case=element',
    "new MutationObserver(() => { const tag = document.querySelector('script[data-key]'); if (tag) tag.id = 'cairn' }).observe(document, { childList: true, subtree: true }); Object.defineProperty(window, 'noStub', { value: true })",
  )
  await page.route('**/cairn-stub.js', route =>
    route.fulfill({ body: '', contentType: 'text/javascript' }),
  )
  await page.reload()
  await at(page, 'element one')
})

test('a part of the script that failed to load is loaded again, and the flow is shown once', async () => {
  const { page, noticed } = await site.browser.page({ clock: true })
  let failures = 0
  await page.route('**/snippet-renderer-*', route => {
    if (failures++ === 0) return route.abort()
    return route.continue()
  })
  await page.goto(`${site.url}/projects?case=chunk`)
  await until(() => failures > 0)
  await pass(page, 6_000)
  await at(page, 'chunk one')
  await call(page, 'start', 'chunk')
  await leave(page)
  expect(noticed.complaints.filter(text => !/renderer|ERR_FAILED/.test(text))).toEqual([])
  const { totals } = await site.until('chunk', ({ totals }) => totals.starts > 0)
  expect(totals.starts).toBe(1)
})

test('a tab has its checklist while another one shows a tour', async () => {
  const { page } = await open('/projects?case=both')
  await at(page, 'both one')
  const second = await page.context().newPage()
  await second.goto(`${site.url}/projects?case=both`)
  await shown(second).launcher.or(shown(second).panel).first().waitFor()
  expect(await shown(second).title.getByText('both one').count()).toBe(0)
})

test('a closed announcement does not come back when the page only rewrites its address', async () => {
  const { page, button, card } = await open('/projects?case=always')
  await at(page, 'always one')
  await button('Close').click()
  await page.evaluate(() => history.replaceState(null, '', '#section-2'))
  await rest(page)
  expect(await card.count()).toBe(0)
  await page.evaluate(() => history.pushState(null, '', '/projects/atlas'))
  await page.evaluate(() => history.pushState(null, '', '/projects?case=always'))
  await at(page, 'always one')
})

test('a prerendered page requests, shows and reports nothing before anybody sees it', async () => {
  const { page, noticed } = await open(
    '/projects?case=prerender',
    "let is = true; Object.defineProperty(Document.prototype, 'prerendering', { get: () => is }); window.activate = () => { is = false; document.dispatchEvent(new Event('prerenderingchange')) }",
  )
  await call(page, 'track', 'unseen')
  await pass(page, 120_000)
  expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  await page.evaluate('activate()')
  await at(page, 'prerender one')
})

test('a page that is restored as it was left shows what is due now', async () => {
  const { page, button, card } = await open('/projects?case=back')
  await at(page, 'back one')
  // Meanwhile, on another page of this browser, the tour came to its end.
  const ended = await page.evaluate(() => {
    const names = Object.keys(localStorage).filter(name => /:runs?:/.test(name))
    for (const name of names) localStorage.removeItem(name)
    const past = Object.keys(localStorage).find(name => name.endsWith(':past')) ?? ''
    const text = localStorage.getItem(past) ?? ''
    localStorage.setItem(past, text.replaceAll('"completedAt":null', '"completedAt":1'))
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    return names.length
  })
  expect(ended).toBe(1)
  await card.waitFor({ state: 'detached' })
  await button('Next').waitFor({ state: 'detached' })
})
