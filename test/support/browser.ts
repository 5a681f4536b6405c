import { until } from '../../scripts/support/until.ts'
import type { Browser, BrowserContext, Page, Request } from '../browser/playwright.ts'
import { noBrowser, program } from '../browser/program.ts'

export type { Page } from '../browser/playwright.ts'

/** What a page did that a test may mind. */
export interface Noticed {
  /** Every address that was asked for. */
  requests: string[]
  /** Errors and warnings of the console, refusals of its content policy among them. */
  complaints: string[]
}

type PageOptions = Parameters<Browser['newContext']>[0]

/** What the pages of a context have asked for and not been answered yet. */
const underWay = new WeakMap<BrowserContext, Set<Request>>()

/** Another document, which its server may hold back, and what is sent as a page goes, of which no end is told. */
const isOfPage = (request: Request) =>
  !request.isNavigationRequest() && request.resourceType() !== 'ping'

/**
 * Waits until the pages of a context have come to rest: they have all answers, and have done what
 * followed from them. Their timers are not waited for: `pass` lets those go off.
 *
 * @param held what the test leaves unanswered
 */
export async function rest(page: Page, held = /^$/): Promise<void> {
  const asked = () =>
    [...underWay.get(page.context())!].map(request => request.url()).filter(url => !held.test(url))
  const isQuiet = (urls: string[]) => urls.length === 0
  // What has been answered may ask for more, in frames to come or once another tab has let go.
  for (let rounds = 0; rounds < 2; rounds = isQuiet(asked()) ? rounds + 1 : 0) {
    await until(asked, isQuiet)
    await page.evaluate(async () => {
      const { document, requestAnimationFrame, navigator } = globalThis as never as {
        document: { body: unknown }
        requestAnimationFrame(next: () => void): void
        navigator: { locks?: { query(): Promise<unknown> } }
      }
      // Without a body nothing is drawn.
      if (document.body) {
        await new Promise<void>(resolve =>
          requestAnimationFrame(() => requestAnimationFrame(() => resolve())),
        )
      }
      await navigator.locks?.query()
    })
  }
}

/** Lets so much time pass on pages that were opened with a clock, and waits until they rest. */
export async function pass(page: Page, ms: number, held?: RegExp): Promise<void> {
  await page.clock.runFor(ms)
  await rest(page, held)
}

/**
 * A real browser, without a window, as its users have it: its own rules on origins and content
 * policies hold. Close it when the tests are done.
 */
export class TestBrowser {
  private people = 0

  private constructor(private readonly browser: Browser) {}

  /** @param env what the browser's environment has, which is else empty */
  static async open(env: Record<string, string> = {}): Promise<TestBrowser> {
    if (!program) throw new Error(noBrowser)
    const { launch } = await import('../browser/playwright.ts')
    return new TestBrowser(await launch({ ...program, env: { ...program.env, ...env } }))
  }

  /**
   * A page with a profile of its own.
   *
   * @param options `person` is who sits there, as the site knows them, somebody new unless given; with
   *   a `clock` the test can let time pass on its pages
   */
  async page({
    person = `person ${++this.people}`,
    clock = false,
    ...options
  }: PageOptions & { person?: string; clock?: boolean } = {}): Promise<{
    page: Page
    noticed: Noticed
    person: string
  }> {
    const context: BrowserContext = await this.browser.newContext(options)
    if (clock) await context.clock.install()
    const requests = new Set<Request>()
    underWay.set(context, requests)
    context.on('request', request => isOfPage(request) && requests.add(request))
    context.on('requestfinished', request => requests.delete(request))
    context.on('requestfailed', request => requests.delete(request))
    // Nobody reads what a report or a refusal is answered with, and so its end is not told.
    context.on('response', response => {
      const request = response.request()
      if (!response.ok() || request.method() !== 'GET') requests.delete(request)
    })
    // A window's name is no global of its own, and outlasts page loads.
    await context.addInitScript(`name ||= ${JSON.stringify(person)}`)
    const page = await context.newPage()
    const noticed: Noticed = { requests: [], complaints: [] }
    page.on('request', request => noticed.requests.push(request.url()))
    page.on('requestfailed', request => {
      // What a page itself gave up, as with a frame that it took away, is no fault of it.
      const wasGivenUp = request.failure()?.errorText === 'net::ERR_ABORTED'
      if (!wasGivenUp) noticed.complaints.push(`failed: ${request.url()}`)
    })
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
