import { expect } from 'bun:test'
import { type Page, rest } from './browser.ts'
import { DashboardHouse, hardToUse, overflowOf } from './dashboard.ts'

/**
 * Pages while the server rejects requests or is unreachable. The error responses are the server's own: each
 * request of a page is redirected to an address for which the server returns that error.
 */

/** A list, results, the editor and a setting: the quick run tests these instead of all pages. */
export const quickPages = ['/flows', '/flows/welcome', '/flows/welcome/edit', '/settings/limits']

interface Fault {
  /** The path below `/api/v1`; absent if the server is unreachable. */
  at?: string
  /** The body to post there. */
  body?: unknown
  /** What the page says if it has nothing to show. */
  says: string | RegExp
  /** What it says above older data; absent if a page that has loaded cannot meet the fault. */
  saysAbove?: string | RegExp
}

const faults: readonly Fault[] = [
  {
    at: '/flows/:flow/analytics?from=yesterday',
    says: 'Unknown filter',
  },
  {
    at: '/manage/flows/no-such-flow/versions',
    says: 'Page not found',
  },
  // The rate limit is exceeded.
  {
    at: '/flows/:flow/analytics/export.csv',
    says: /Retrying in \d+ seconds?\./,
    saysAbove: /Retrying in \d+ seconds?\. Showing data from/,
  },
  // Storage is full.
  {
    at: '/manage/tokens',
    body: { name: 'Full', scopes: ['flows:read'], expiresInDays: 1 },
    says: 'Server busy',
    saysAbove: /Showing data from/,
  },
  {
    says: 'Server unreachable',
    saysAbove: /Server unreachable\. Showing data from/,
  },
]

/** Answers as if only owners could read a page's data. */
const forOwners: Fault = { at: '/manage/tokens', says: '' }

/** What the browser itself logs about an error response or a missing response. */
const isOfFault = /^(failed: |Failed to load resource)/

/** A dashboard whose storage is full, with a signed-in operator and a signed-in viewer. */
export class FaultyHouse {
  private constructor(
    readonly house: DashboardHouse,
    private readonly flowId: string,
  ) {}

  static async open(): Promise<FaultyHouse> {
    const house = await DashboardHouse.open()
    // They sign in first, because signing in writes to storage.
    for (const role of ['operator', 'viewer'] as const) await house.enter({ role })
    const { port } = new URL(house.server.url)
    await house.server.end('SIGTERM')
    await house.place.run(['org', 'set', 'limits.export', '1', '--org', 'harbor'])
    const list = await house.place.json<{ key: string; id: string }[]>(['flows', 'list'])
    const env = { CAIRN_FAILPOINTS: 'before_begin=full' }
    house.server = await house.place.serve(['--port', port], env)
    return new FaultyHouse(house, list.find(({ key }) => key === 'welcome')!.id)
  }

  /** Returns a function that sets the fault for all API requests of a page; null for none. */
  private async faulty(page: Page) {
    let current: Fault | null = null
    await page.route('**/api/v1/**', async (route, request) => {
      // Read now, because the test may set another fault before the response arrives.
      const fault = current
      if (!fault) return route.continue()
      if (!fault.at) return route.abort('connectionrefused')
      const at = fault.at.replace(':flow', this.flowId)
      const url = request.url().replace(/\/api\/v1\/.*/, `/api/v1${at}`)
      const headers = {
        ...(await request.allHeaders()),
        'content-type': 'application/json',
        origin: new URL(url).origin,
        'sec-fetch-site': 'same-origin',
      }
      const postData = JSON.stringify(fault.body)
      const sent = fault.body ? { method: 'POST', headers, postData } : {}
      let response = await route.fetch({ url, ...sent })
      // The first request in a minute is below the limit.
      if (response.ok()) response = await route.fetch({ url, ...sent })
      await route.fulfill({ response })
    })
    return (next: Fault | null) => {
      current = next
    }
  }

  /** Requires that a page keeps its data during a fault, shows the reason and the data's age, and recovers. */
  async requireDataKept(path: string): Promise<void> {
    const { page, noticed } = await this.house.visit(path, { role: 'operator' })
    const set = await this.faulty(page)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    // Figures load later, and the editor has its text checked and loads a preview.
    await rest(page)
    for (const text of ['Checking…', 'Loading preview…']) {
      await page.getByText(text).waitFor({ state: 'detached' })
    }
    const titles = await page.getByRole('heading', { level: 1 }).allInnerTexts()
    const before = await shown(page)
    expect(before).not.toBeEmpty()
    for (const fault of faults) {
      if (!fault.saysAbove) continue
      set(fault)
      await comeBack(page)
      await main(page).getByText(fault.saysAbove).first().waitFor()
      // Pending requests would fail after the fault has ended, and the page retries only after a minute.
      await rest(page)
      const now = await shown(page)
      const gone = before.filter(line => !now.includes(line))
      expect([fault.says, gone]).toEqual([fault.says, []])
      set(null)
      await comeBack(page)
      const older = main(page).getByText(/Showing data from/)
      await older.first().waitFor({ state: 'detached' })
    }
    await page.context().clearCookies()
    await comeBack(page)
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    const heading = page.getByRole('heading', { level: 1, includeHidden: true })
    expect(await heading.allInnerTexts()).toEqual(titles)
    expect(await hardToUse(page)).toEqual([])
    expect(noticed.complaints.filter(line => !isOfFault.test(line))).toEqual([])
  }

  /** Requires that a page without data says what is wrong. */
  async requireReason(path: string): Promise<void> {
    const { page, noticed } = await this.house.enter({ role: 'operator' })
    const set = await this.faulty(page)
    for (const fault of faults) {
      set(fault)
      await page.goto(this.house.at(path))
      await main(page).getByText(fault.says).first().waitFor()
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await overflowOf(page)).toBe(0)
    }
    expect(await hardToUse(page)).toEqual([])
    expect(noticed.complaints.filter(line => !isOfFault.test(line))).toEqual([])
  }

  /** Requires that a page tells a viewer which access its data needs. */
  async requireAccessExplained(path: string, needs: string | undefined): Promise<void> {
    const { page } = await this.house.enter({ role: 'viewer' })
    const set = await this.faulty(page)
    if (!needs || needs === 'analytics:read') set(forOwners)
    await page.goto(this.house.at(path))
    const access = /This needs the scope|Ask an owner|for operators/
    await main(page).getByText(access).first().waitFor()
  }

  close(): Promise<void> {
    return this.house.close()
  }
}

const main = (page: Page) => page.locator('main')

/** The lines on a page, except for those that change with time or with the server's load. */
const shown = async (page: Page) =>
  (await main(page).innerText())
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !changing(page).test(line))

/** Matches lines that change with time. A snippet is quiet five minutes after its last request. */
const changing = (page: Page) =>
  page.url().endsWith('/server')
    ? /[\d–]|sends/
    : /ago|just now|second|today, until|\d:\d\d|^(Active|Quiet)$/

/** Acts as a person who returns to the tab: the page reloads its data at once. */
export const comeBack = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
