import { until } from '../../scripts/support/until.ts'
import { moveClock, movedBy } from '../../src/test-clock.ts'
import type { Browser, BrowserContext, Page, Request } from '../browser/playwright.ts'
import { noBrowser, program } from '../browser/program.ts'
import { explainTimeouts } from './settling.ts'

export type { Page } from '../browser/playwright.ts'

/** What a page did that a test may object to. */
export interface Noticed {
  /** Every address that was requested. */
  requests: string[]
  /** Errors and warnings of the console, including refusals by its content policy. */
  complaints: string[]
}

type PageOptions = Parameters<Browser['newContext']>[0]

/** How long a test waits for what it expects on a page, in milliseconds. */
const waitMs = 20_000

/** The requests of a context's pages that are not answered yet. */
const underWay = new WeakMap<BrowserContext, Set<Request>>()

/** The profiles whose pages are open. */
const profiles = new Set<BrowserContext>()

/** What is open now, for `closePages`. */
export const openPages = (): ReadonlySet<BrowserContext> => new Set(profiles)

/** How long the browser may take to close a profile, milliseconds. What it leaves open ends with it. */
const closeMs = 30_000

/** Closes all pages but those of `kept`, and drops what they are still waiting for. */
export async function closePages(kept: ReadonlySet<BrowserContext>): Promise<void> {
  for (const profile of openPages().difference(kept)) {
    for (const page of profile.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await Promise.race([profile.close().catch(() => {}), Bun.sleep(closeMs)])
  }
}

/** Excludes documents, which their server may hold back, and pings of a leaving page, whose end is not reported. */
const isOfPage = (request: Request) =>
  !request.isNavigationRequest() && request.resourceType() !== 'ping'

/**
 * Waits until the pages of a context have come to rest: they have all answers, and have done what follows
 * from them. Does not wait for their timers, which `pass` lets go off.
 *
 * @param held what the test leaves unanswered
 */
export async function rest(page: Page, held = /^$/): Promise<void> {
  const requested = () =>
    [...underWay.get(page.context())!].map(request => request.url()).filter(url => !held.test(url))
  const isQuiet = (urls: string[]) => urls.length === 0
  // An answer may lead to more requests, in later frames or once another tab has released its lock.
  for (let rounds = 0; rounds < 2; rounds = isQuiet(requested()) ? rounds + 1 : 0) {
    await until(requested, isQuiet)
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

/**
 * Waits until everything on a page that fades, slides or changes its colour has come to its end, also in
 * open shadow trees. What moves without an end is left out.
 */
export async function still(page: Pick<Page, 'evaluate'>): Promise<void> {
  await page.evaluate(`(async () => {
    // A page follows another colour scheme or size in its next frame.
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    const treesOf = tree => [
      tree,
      ...[...tree.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ? treesOf(shadowRoot) : []),
    ]
    const moving = () => treesOf(document)
      .flatMap(tree => tree.getAnimations())
      .filter(one => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity)
    for (let left = moving(); left.length > 0; left = moving()) {
      await Promise.allSettled(left.map(one => one.finished))
    }
  })()`)
}

/** Lets so much time pass on pages that were opened with a clock, and waits until they rest. */
export async function pass(page: Page, ms: number, held?: RegExp): Promise<void> {
  await page.clock.runFor(ms)
  await rest(page, held)
}

/**
 * A real browser without a window. As for its users, its own rules on origins and content policies apply.
 * Close it when the tests are done.
 */
export class TestBrowser {
  private people = 0

  private constructor(
    private readonly browser: Browser,
    private readonly prepare: (page: Page) => void,
  ) {}

  /**
   * @param env goes into the browser's environment, which is otherwise empty
   * @param prepare runs for each page that opens
   */
  static async open(
    env: Record<string, string> = {},
    prepare: (page: Page) => void = () => {},
  ): Promise<TestBrowser> {
    if (!program) throw new Error(noBrowser)
    const { launch } = await import('../browser/playwright.ts')
    const browser = await launch({ ...program, env: { ...program.env, ...env } })
    return new TestBrowser(browser, prepare)
  }

  /**
   * A page with a profile of its own.
   *
   * @param options `person` is the user, as the site knows them, by default a new one; with a `clock` the
   *   test can let time pass on its pages
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
    context.setDefaultTimeout(waitMs)
    context.on('page', this.prepare)
    if (movedBy !== 0) await context.addInitScript(`(${moveClock})(globalThis, ${movedBy})`)
    if (clock) await context.clock.install({ time: Date.now() })
    profiles.add(context)
    context.on('close', () => profiles.delete(context))
    const requests = new Set<Request>()
    underWay.set(context, requests)
    context.on('request', request => isOfPage(request) && requests.add(request))
    context.on('requestfinished', request => requests.delete(request))
    context.on('requestfailed', request => requests.delete(request))
    // Nobody reads the answer to a report or a refusal, so its end is not reported.
    context.on('response', response => {
      const request = response.request()
      if (!response.ok() || request.method() !== 'GET') requests.delete(request)
    })
    // Kept in the window's name, because that needs no new global and outlasts page loads.
    await context.addInitScript(`name ||= ${JSON.stringify(person)}`)
    const page = await context.newPage()
    explainTimeouts(page)
    const noticed: Noticed = { requests: [], complaints: [] }
    page.on('request', request => noticed.requests.push(request.url()))
    page.on('requestfailed', request => {
      // A request that the page itself gave up, as for a frame that it removed, is not its fault.
      const wasGivenUp = request.failure()?.errorText === 'net::ERR_ABORTED'
      if (!wasGivenUp) noticed.complaints.push(`failed: ${request.url()}`)
    })
    page.on('pageerror', error => noticed.complaints.push(String(error)))
    page.on('console', message => {
      // CodeMirror estimates the heights of lines that it has not drawn. After a change of width it may take
      // more than the five rounds that it allows itself in one frame, and goes on in the next.
      const isMeasuring = message.text() === 'Measure loop restarted more than 5 times'
      const isComplaint = ['error', 'warning'].includes(message.type()) && !isMeasuring
      if (isComplaint) noticed.complaints.push(message.text())
    })
    return { page, noticed, person }
  }

  async close(): Promise<void> {
    await this.browser.close()
  }
}
