import { expect } from 'bun:test'
import { type Page, rest } from '../../support/browser.ts'
import { DashboardHouse, hardToUse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { everyPage } from './every-page.ts'

/**
 * Every page while the server refuses, or is gone. The refusals are the server's own: each request of the
 * page is redirected to an address that the server refuses in that way.
 */

let house: DashboardHouse
let flowId: string
beforeAll(async () => {
  house = await DashboardHouse.open()
  // They sign in now, because from here on nothing can be written.
  for (const role of ['operator', 'viewer'] as const) {
    const { page } = await house.visit('', { role })
    await page.context().close()
  }
  const { port } = new URL(house.server.url)
  await house.server.end('SIGTERM')
  await house.place.run(['org', 'limits', 'harbor', '--export', '1'])
  const list = await house.place.json<{ key: string; id: string }[]>(['flows', 'list'])
  flowId = list.find(({ key }) => key === 'welcome')!.id
  house.server = await house.place.serve(['--port', port], {
    CAIRN_FAILPOINTS: 'before_begin=full',
  })
})
afterAll(() => house.close())

interface Fault {
  /** The path below `/api/v1`; absent if the server is gone. */
  at?: string
  /** The body that is posted there. */
  body?: unknown
  /** What the page says if it has nothing to show. */
  says: string | RegExp
  /** What it says above older data; absent if the fault does not befall a page that works. */
  saysAbove?: string | RegExp
}

const faults = {
  'of a nonsense address': {
    at: '/flows/:flow/analytics?from=yesterday',
    says: 'This address asks for something that does not exist',
  },
  'of what is not there': {
    at: '/manage/flows/no-such-flow/versions',
    says: 'There is nothing at this address',
  },
  'of the limit': {
    at: '/flows/:flow/analytics/export.csv',
    says: /It goes on in \d+ seconds?\./,
    saysAbove: /It goes on in \d+ seconds?\. Showing what was known/,
  },
  'of a storage that is full': {
    at: '/manage/tokens',
    body: { name: 'Full', scopes: ['flows:read'], expiresInDays: 1 },
    says: 'This could not be loaded',
    saysAbove: /Showing what was known/,
  },
  'of a server that is gone': {
    says: 'The server cannot be reached.',
    saysAbove: /The server cannot be reached\. Showing what was known/,
  },
} satisfies Record<string, Fault>

/** Closes a page and drops its pending requests, because a second read is often under way. */
async function leave(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
}

/** Lets a test choose the fault that answers all API requests of a page; null for none. */
async function faulty(page: Page) {
  let current: Fault | null = null
  await page.route('**/api/v1/**', async (route, request) => {
    // That of the time at which the page asks, for the test may go on before the answer has come.
    const fault = current
    if (!fault) return route.continue()
    if (!fault.at) return route.abort('connectionrefused')
    const url = request
      .url()
      .replace(/\/api\/v1\/.*/, `/api/v1${fault.at.replace(':flow', flowId)}`)
    const headers = {
      ...(await request.allHeaders()),
      'content-type': 'application/json',
      origin: new URL(url).origin,
      'sec-fetch-site': 'same-origin',
    }
    const sent = fault.body ? { method: 'POST', headers, postData: JSON.stringify(fault.body) } : {}
    let response = await route.fetch({ url, ...sent })
    // The first request in a minute is below the limit.
    if (response.ok()) response = await route.fetch({ url, ...sent })
    await route.fulfill({ response })
  })
  return (next: Fault | null) => {
    current = next
  }
}

const main = (page: Page) => page.locator('main')

/** The lines on a page, except for those that the clock and the server's work change. */
const shown = async (page: Page) =>
  (await main(page).innerText())
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !changing(page).test(line))

/** The lines that change after a while; a snippet is quiet five minutes after it was last heard from. */
const changing = (page: Page) =>
  page.url().endsWith('/server')
    ? /[\d–]|sends/
    : /ago|just now|second|today, until|\d:\d\d|^(Active|Quiet)$/

const loaded = async (page: Page) => {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  // Figures load later, and the editor has its text checked.
  await page.waitForLoadState('networkidle')
  await page.getByText('Checking…').waitFor({ state: 'detached' })
}

/** As when somebody comes back to the tab, which reloads its data at once. */
const comeBack = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

/** What the browser itself logs about a refusal or a missing answer. */
const isOfFault = /^(failed: |Failed to load resource)/

/** A new flow reads nothing that is stored, so it can be written whatever the server says. */
const readers = everyPage.filter(({ path }) => path !== '/flows/new')

describe.each(readers)('$path', ({ path }) => {
  test('keeps showing its data during a fault, says why and how old it is, and recovers', async () => {
    const { page, noticed } = await house.visit(path, { role: 'operator' })
    const set = await faulty(page)
    await loaded(page)
    const titles = await page.getByRole('heading', { level: 1 }).allInnerTexts()
    const told = await shown(page)
    for (const [name, fault] of Object.entries<Fault>(faults)) {
      if (!fault.saysAbove) continue
      set(fault)
      await comeBack(page)
      await main(page).getByText(fault.saysAbove).first().waitFor()
      // What is still asked would be refused after the fault, too, and then not be asked again for a minute.
      await rest(page)
      // Everything that was shown before still is.
      const now = await shown(page)
      expect([name, told.filter(line => !now.includes(line))]).toEqual([name, []])
      expect(await hardToUse(page)).toEqual([])
      set(null)
      await comeBack(page)
      await main(page)
        .getByText(/Showing what was known/)
        .first()
        .waitFor({ state: 'detached' })
    }
    await page.context().clearCookies()
    await comeBack(page)
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(
      await page.getByRole('heading', { level: 1, includeHidden: true }).allInnerTexts(),
    ).toEqual(titles)
    expect(await hardToUse(page)).toEqual([])
    expect(noticed.complaints.filter(line => !isOfFault.test(line))).toEqual([])
    await leave(page)
  })

  test('says what is wrong if there is nothing to show yet', async () => {
    const { page, noticed } = await house.enter({ role: 'operator' })
    const set = await faulty(page)
    for (const fault of Object.values<Fault>(faults)) {
      set(fault)
      await page.goto(house.at(path))
      await main(page).getByText(fault.says).first().waitFor()
      await page.getByRole('heading', { level: 1 }).waitFor()
      const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(tooWide).toBeLessThanOrEqual(0)
    }
    expect(await hardToUse(page)).toEqual([])
    expect(noticed.complaints.filter(line => !isOfFault.test(line))).toEqual([])
    await leave(page)
  })
})

describe.each(everyPage)('$path', ({ path, needs }) => {
  test('tells people without access what they need', async () => {
    const { page } = await house.enter({ role: 'viewer' })
    const set = await faulty(page)
    // If viewers may see the page, its data is refused as if only owners could read it.
    if (!needs || needs === 'analytics:read') set({ at: '/manage/tokens', says: '' })
    await page.goto(house.at(path))
    await main(page)
      .getByText(/This needs the scope|Ask an owner|for the operator/)
      .first()
      .waitFor()
    await leave(page)
  })
})
