import { expect } from 'bun:test'
import { type Page, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** What is reported about people, and what is not. */

const flows = `
key: hello
targeting: { urls: [{ match: prefix, pattern: /projects }] }
steps:
  - { key: one, title: One, target: { selector: "#address, .task-add" } }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const isReport = (url: string) => /\/(events|heartbeat|health|fingerprint)\b/.test(url)

interface Visit {
  page: Page
  reports: string[]
  bodies: string[]
}

/** A visitor. `prepare` runs before the first page, and can set what the browser asks for its user. */
async function visit(path: string, prepare = ''): Promise<Visit> {
  const { page } = await site.browser.page()
  const reports: string[] = []
  const bodies: string[] = []
  page.on('request', request => {
    if (!isReport(request.url())) return
    reports.push(request.url())
    bodies.push(request.postData() ?? '')
  })
  if (prepare) await page.addInitScript(prepare)
  await page.goto(site.url + path)
  return { page, reports, bodies }
}

const asksNotToBe = (what: 'doNotTrack' | 'globalPrivacyControl') =>
  `Object.defineProperty(Navigator.prototype, '${what}', { get: () => ${what === 'doNotTrack' ? "'1'" : 'true'} })`

const storedNames = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).map(name => name.split(':').at(2)))

const consent = (page: Page, isGiven: boolean) =>
  page.evaluate(
    isGiven =>
      (window as never as { cairn: { consent(is: boolean): void } }).cairn.consent(isGiven),
    isGiven,
  )

/** Leaves the page, so that everything that waits is sent. */
const leave = (page: Page) => page.goto('about:blank')

/** Lets the next page send what waits, because beacons are not seen from here. */
const sent = async (page: Page) => {
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
}

const honour = (how: 'honour' | 'ignore') =>
  site.place.run(['org', 'privacy', '--do-not-track', how])

test.each(['doNotTrack', 'globalPrivacyControl'] as const)(
  '%s is heeded from the first request on, if the organisation says so',
  async wish => {
    await honour('honour')
    const { page, reports } = await visit('/projects', asksNotToBe(wish))
    await shown(page).title.getByText('One').waitFor()
    expect(await storedNames(page)).toEqual([])
    await shown(page).button('Done').click()
    await leave(page)
    expect(reports).toEqual([])
  },
)

test('given consent overrides what the browser asks', async () => {
  await honour('honour')
  const { page, reports } = await visit('/projects', asksNotToBe('doNotTrack'))
  await shown(page).title.waitFor()
  await consent(page, true)
  await shown(page).button('Done').click()
  await sent(page)
  expect(reports.some(url => url.includes('/events'))).toBe(true)
  await page.waitForFunction(() => Object.keys(localStorage).some(name => name.endsWith(':past')))
})

test('if the organisation does not heed it, nothing is lost from before the page knew that', async () => {
  await honour('ignore')
  const before = await site.numbers('hello')
  const { page } = await visit('/projects', asksNotToBe('doNotTrack'))
  await shown(page).button('Done').click()
  await page.close()
  const { totals } = await site.until(
    'hello',
    ({ totals }) => totals.completions > before.totals.completions,
  )
  expect(totals.starts).toBe(before.totals.starts + 1)
})

test('of the traits in identify(), only listed ones leave the browser, with the start of a run', async () => {
  await honour('ignore')
  /** The site gives everybody's role, plan, teamSize and daysSinceSignup. */
  const start = async (person: string) => {
    const { page, bodies } = await visit(`/projects?as=${person}`)
    await shown(page).button('Done').click()
    await sent(page)
    await page.close()
    expect(bodies.join()).not.toMatch(/daysSinceSignup|owner/)
    const { stdout } = await site.place.run(['person', 'export', 'harbor', person])
    const { events, runs } = JSON.parse(stdout) as Record<
      string,
      { kind: string; traits: object }[]
    >
    const ofEvents = events!.filter(({ traits }) => traits !== null)
    return [ofEvents.map(({ kind, traits }) => [kind, traits]), runs!.map(({ traits }) => traits)]
  }
  expect(await start('before')).toEqual([[], [{}]])
  await site.place.run(['org', 'traits', 'harbor', 'plan', 'teamSize', 'absent'])
  const traits = { plan: 'team', teamSize: '3' }
  expect(await start('after')).toEqual([[['flow_started', traits]], [traits]])
  await site.place.run(['org', 'traits', 'harbor', '--none'])
})

test('a refusal of consent that waits for the script comes before all reports', async () => {
  const { page, reports } = await visit(
    '/projects',
    "addEventListener('DOMContentLoaded', () => window.cairn.consent(false)); window.cairn = { q: [['consent', false]] }; for (const m of ['identify', 'track', 'start', 'on', 'consent']) window.cairn[m] = (...a) => void window.cairn.q?.push([m, ...a])",
  )
  await shown(page).title.getByText('One').waitFor()
  await leave(page)
  expect(reports).toEqual([])
  await page.goto(`${site.url}/projects`)
  expect(await storedNames(page)).toEqual(['consent'])
})

test('consent that is given later lets reports through from then on', async () => {
  const { page, reports } = await visit('/projects')
  await shown(page).title.waitFor()
  await consent(page, false)
  reports.length = 0
  await page.reload()
  await shown(page).title.waitFor()
  await page.evaluate("cairn.track('unseen')")
  await consent(page, true)
  await shown(page).button('Done').click()
  await sent(page)
  expect(reports.some(url => url.includes('/events'))).toBe(true)
})

test('an anonymous visitor is the same one on the next page', async () => {
  const { page } = await visit('/projects')
  const idOf = () =>
    page.evaluate(() => {
      const name = Object.keys(localStorage).find(name => name.endsWith(':person'))
      return JSON.parse(localStorage.getItem(name ?? '') ?? '{}').anonymousId as string
    })
  await shown(page).title.waitFor()
  await page.evaluate('cairn.reset()')
  const before = await idOf()
  await page.route('**/app.js', route =>
    route.fulfill({ body: '', contentType: 'text/javascript' }),
  )
  await page.goto(`${site.url}/settings/people`)
  await rest(page)
  expect(await idOf()).toBe(before)
})

test('no query, fragment, value of an input or cookie is reported', async () => {
  const { page, reports, bodies } = await visit('/settings/people?token=hush#secret')
  // By then that page has reported itself.
  await rest(page)
  await page.locator('#address').fill('ann.private@example.com')
  await page.evaluate(() => history.pushState(null, '', '/projects?token=hush#secret'))
  await page.evaluate("cairn.track('looked')")
  await shown(page).title.getByText('One').waitFor()
  await page.locator('#address').count()
  await allSent(page)
  await leave(page)
  const told = decodeURIComponent([...reports, ...bodies].join('\n'))
  expect(told).toContain('/settings/people')
  expect(told).not.toMatch(/hush|secret|ann\.private/)
  expect(await page.context().cookies()).toEqual([])
})

test('data-keep-query keeps what follows the path', async () => {
  const { page, bodies, reports } = await visit(
    '/projects?view=board',
    "new MutationObserver(() => document.querySelector('script[data-key]')?.setAttribute('data-keep-query', '')).observe(document, { childList: true, subtree: true })",
  )
  await shown(page).title.waitFor()
  await sent(page)
  expect(decodeURIComponent([...reports, ...bodies].join('\n'))).toContain('/projects?view=board')
})
