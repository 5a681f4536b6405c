import type { Browser, BrowserContext, Page } from '../browser/playwright.ts'
import { program } from '../browser/program.ts'

export type { Page } from '../browser/playwright.ts'

/** What a page did that a test may mind. */
export interface Noticed {
  /** Every address that was asked for. */
  requests: string[]
  /** Errors and warnings of the console, refusals of its content policy among them. */
  complaints: string[]
}

/**
 * What a browser does for itself, which no page sees: asking its maker over the network, and drawing
 * its address bar's lists, which takes a third of a new page's time. It takes the place of
 * Playwright's own list.
 */
const ownBusiness = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
].join()

type PageOptions = Parameters<Browser['newContext']>[0]

/**
 * A real browser, without a window, as its users have it: its own rules on origins and content
 * policies hold. Close it when the tests are done.
 */
export class TestBrowser {
  private people = 0

  private constructor(private readonly browser: Browser) {}

  static async open(): Promise<TestBrowser> {
    const { executablePath, env } = program()
    const { chromium } = await import('../browser/playwright.ts')
    const browser = await chromium.launch({
      executablePath,
      env,
      // Neither a sandbox, which containers do not let it have, nor a graphics card.
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--font-render-hinting=none',
        `--disable-features=${ownBusiness}`,
      ],
    })
    return new TestBrowser(browser)
  }

  /**
   * A page with a profile of its own.
   *
   * @param options `person` is who sits there, as the site knows them; somebody new unless given
   */
  async page({
    person = `person ${++this.people}`,
    ...options
  }: PageOptions & { person?: string } = {}): Promise<{
    page: Page
    noticed: Noticed
    person: string
  }> {
    const context: BrowserContext = await this.browser.newContext(options)
    // A window's name is no global of its own, and outlasts page loads.
    await context.addInitScript(`name ||= ${JSON.stringify(person)}`)
    const page = await context.newPage()
    const noticed: Noticed = { requests: [], complaints: [] }
    page.on('request', request => noticed.requests.push(request.url()))
    page.on('requestfailed', request => noticed.complaints.push(`failed: ${request.url()}`))
    page.on('pageerror', error => noticed.complaints.push(String(error)))
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) noticed.complaints.push(message.text())
    })
    return { page, noticed, person }
  }

  async close(): Promise<void> {
    await this.browser.close()
  }
}
