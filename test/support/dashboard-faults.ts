import { expect } from 'bun:test'
import { type Page, rest } from './browser.ts'
import { DashboardHouse, hardToUse, overflowOf } from './dashboard.ts'

/**
 * Pages while the server refuses, or is gone. The refusals are the server's own: each request of a page is
 * redirected to an address that the server refuses in that way.
 */

/** A list, results, the editor and a setting, which stand for all pages in the quick run. */
export const quickPages = ['/flows', '/flows/welcome', '/flows/welcome/edit', '/settings/limits']

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

const faults: readonly Fault[] = [
  {
    at: '/flows/:flow/analytics?from=yesterday',
    says: 'This address asks for something that does not exist',
  },
  {
    at: '/manage/flows/no-such-flow/versions',
    says: 'There is nothing at this address',
  },
  // The limit.
  {
    at: '/flows/:flow/analytics/export.csv',
    says: /It goes on in \d+ seconds?\./,
    saysAbove: /It goes on in \d+ seconds?\. Showing what was known/,
  },
  // A storage that is full.
  {
    at: '/manage/tokens',
    body: { name: 'Full', scopes: ['flows:read'], expiresInDays: 1 },
    says: 'This could not be loaded',
    saysAbove: /Showing what was known/,
  },
  {
    says: 'The server cannot be reached.',
    saysAbove: /The server cannot be reached\. Showing what was known/,
  },
]

/** As if only owners could read a page's data. */
const forOwners: Fault = { at: '/manage/tokens', says: '' }

/** What the browser itself logs about a refusal or a missing answer. */
const isOfFault = /^(failed: |Failed to load resource)/

/** A house whose storage takes nothing more, with an operator and a viewer who are signed in. */
export class FaultyHouse {
  private constructor(
    readonly house: DashboardHouse,
    private readonly flowId: string,
  ) {}

  static async open(): Promise<FaultyHouse> {
    const house = await DashboardHouse.open()
    // They sign in now, because from here on nothing can be written.
    for (const role of ['operator', 'viewer'] as const) await house.enter({ role })
    const { port } = new URL(house.server.url)
    await house.server.end('SIGTERM')
    await house.place.run(['org', 'limits', 'harbor', '--export', '1'])
    const list = await house.place.json<{ key: string; id: string }[]>(['flows', 'list'])
    const env = { CAIRN_FAILPOINTS: 'before_begin=full' }
    house.server = await house.place.serve(['--port', port], env)
    return new FaultyHouse(house, list.find(({ key }) => key === 'welcome')!.id)
  }

  /** Lets a test choose the fault that answers all API requests of a page; null for none. */
  private async faulty(page: Page) {
    let current: Fault | null = null
    await page.route('**/api/v1/**', async (route, request) => {
      // That of the time at which the page asks, for the test may go on before the answer has come.
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

  /** Requires that a page keeps its data during a fault, says why and how old it is, and recovers. */
  async requireDataKept(path: string): Promise<void> {
    const { page, noticed } = await this.house.visit(path, { role: 'operator' })
    const set = await this.faulty(page)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    // Figures load later, and the editor has its text checked.
    await rest(page)
    await page.getByText('Checking…').waitFor({ state: 'detached' })
    const titles = await page.getByRole('heading', { level: 1 }).allInnerTexts()
    const before = await shown(page)
    for (const fault of faults) {
      if (!fault.saysAbove) continue
      set(fault)
      await comeBack(page)
      await main(page).getByText(fault.saysAbove).first().waitFor()
      // What is still asked would be refused after the fault, too, and then not be asked again for a minute.
      await rest(page)
      const now = await shown(page)
      const gone = before.filter(line => !now.includes(line))
      expect([fault.says, gone]).toEqual([fault.says, []])
      set(null)
      await comeBack(page)
      const older = main(page).getByText(/Showing what was known/)
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

  /** Requires that a page which has nothing to show yet says what is wrong. */
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

  /** Requires that a page tells a viewer what its data needs. */
  async requireAccessExplained(path: string, needs: string | undefined): Promise<void> {
    const { page } = await this.house.enter({ role: 'viewer' })
    const set = await this.faulty(page)
    if (!needs || needs === 'analytics:read') set(forOwners)
    await page.goto(this.house.at(path))
    const access = /This needs the scope|Ask an owner|for the operator/
    await main(page).getByText(access).first().waitFor()
  }

  close(): Promise<void> {
    return this.house.close()
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

/** As when somebody comes back to the tab, which reloads its data at once. */
export const comeBack = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
