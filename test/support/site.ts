import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { demoSite } from '../../src/cli/demo/site.ts'
import type { Flow } from '../../src/core/flow/flow.ts'
import type { Server, Workplace } from './binary.ts'
import { type Page, TestBrowser } from './browser.ts'
import { placeOverStore } from './store.ts'

/** A customer's site with the snippet, a browser that visits it, and the binary that it talks to. */

interface Totals {
  uniqueUsers: number
  uniqueCompleters: number
  starts: number
  completions: number
  dismissals: number
  inProgress: number
}

export interface StepNumbers {
  key: string
  reached: number
  completed: number
  skipped: number
  targetMissing: number
}

/** The analytics of a flow, as far as these tests look at them. */
export interface Numbers {
  totals: Totals
  steps: StepNumbers[]
  checklist: { items: { key: string; completions: number }[]; completedAll: number } | null
  segments?: { value: string | null; starts: number }[]
}

/** All of these; close it when the tests are done. */
export class Site {
  private flowIds = new Map<string, string>()
  private site: ReturnType<typeof Bun.serve> | null = null
  private readonly ownPages: ReturnType<typeof Bun.serve>[] = []
  private token = ''
  server!: Server
  snippetKey = ''

  private constructor(
    readonly place: Workplace,
    readonly browser: TestBrowser,
  ) {}

  /** @param flows the published flows, as in a flow file */
  static async open(flows: string, args: string[] = []): Promise<Site> {
    const site = new Site(await placeOverStore(), await TestBrowser.open())
    const { place } = site
    site.server = await place.serve(args)
    const made = await place.json<{ snippetKey: string }>(['org', 'create', 'Harbor'])
    site.snippetKey = made.snippetKey
    // High limits, because the tests are one browser with many visitors.
    const buckets = ['events', 'flows', 'fingerprint', 'health', 'heartbeat', 'status', 'analytics']
    const limits = Object.fromEntries(buckets.map(name => [name, 100_000]))
    const [{ token }] = await Promise.all([
      place.json<{ token: string }>(['token', 'issue']),
      place.run(['api', 'PATCH', '/settings', '--body', JSON.stringify({ limits })]),
      site.publish(flows),
    ])
    site.token = token
    site.serveDemo()
    return site
  }

  private serveDemo(): void {
    const { url } = this.server
    // Another host than the API's, so that to a browser it is another origin and another site.
    const cairnUrl = url.replace('localhost', '127.0.0.1')
    const demo = demoSite({ cairnUrl, snippetKey: this.snippetKey })
    const fetch = async (request: Request) => {
      const response = demo(request)
      if (new URL(request.url).pathname !== '/app.js') return response
      // Each browser belongs to one person, whom `TestBrowser.page` sets.
      const user = "new URLSearchParams(location.search).get('as') ?? name"
      const script = (await response.text()).replace('userId = signedIn()', `userId = ${user}`)
      return new Response(script, response)
    }
    this.site = Bun.serve({ hostname: 'localhost', port: 0, fetch })
  }

  get url(): string {
    return `http://localhost:${this.site?.port}`
  }

  async publish(flows: string): Promise<void> {
    await Bun.write(join(this.place.folder, 'flows.yaml'), flows)
    const pushed = await this.place.run(['flows', 'push', 'flows.yaml', '--publish'])
    if (pushed.status !== 0) throw new Error(pushed.stderr)
    const list = await this.place.json<{ key: string; id: string }[]>(['flows', 'list'])
    this.flowIds = new Map(list.map(({ key, id }) => [key, id]))
  }

  flowId(key: string): string {
    return this.flowIds.get(key) ?? ''
  }

  /** The snippet's tag, with more attributes. */
  tag(more = ''): string {
    return `<script async src="${this.server.url}/snippet.js" data-key="${this.snippetKey}"${more}></script>`
  }

  /** Serves a test's own pages on a new origin, and returns that origin. */
  serve(answer: (url: URL, request: Request) => Response | Promise<Response>): string {
    const fetch = (request: Request) => answer(new URL(request.url), request)
    const server = Bun.serve({ hostname: 'localhost', port: 0, idleTimeout: 0, fetch })
    this.ownPages.push(server)
    return `http://localhost:${server.port}`
  }

  /** Opens `path` as a new visitor with nothing stored. */
  async visit(path: string, options: Parameters<TestBrowser['page']>[0] = {}) {
    const visitor = await this.browser.page(options)
    await visitor.page.goto(this.url + path)
    return visitor
  }

  /**
   * A browser in which people take turns; `?as=` says who. Each finds nothing stored, as in a profile of
   * their own, which would take longer to open than most visits. `forget` empties its cache.
   */
  async shared(options: Parameters<TestBrowser['page']>[0] = {}) {
    const { page } = await this.browser.page(options)
    await page.context().addInitScript(() => {
      const { localStorage, sessionStorage, location } = globalThis as unknown as {
        localStorage: { person?: string; clear(): void }
        sessionStorage: { clear(): void }
        location: { search: string }
      }
      const person = new URLSearchParams(location.search).get('as')
      if (person === null || localStorage.person === person) return
      localStorage.clear()
      sessionStorage.clear()
      localStorage.person = person
    })
    const devtools = await page.context().newCDPSession(page)
    return { page, forget: () => devtools.send('Network.clearBrowserCache') }
  }

  /** The published flows, as pages get them. */
  async flows(): Promise<Flow[]> {
    const headers = { authorization: `Bearer ${this.snippetKey}` }
    const response = await fetch(`${this.server.url}/api/v1/flows`, { headers })
    return ((await response.json()) as { flows: Flow[] }).flows
  }

  /** The current analytics of a flow. @param query of the API, with its question mark */
  async numbers(flowKey: string, query = ''): Promise<Numbers> {
    const path = `/api/v1/flows/${this.flowId(flowKey)}/analytics${query}`
    const headers = { authorization: `Bearer ${this.token}` }
    const response = await fetch(this.server.url + path, { headers })
    if (!response.ok) throw new Error(`analytics: ${response.status} ${await response.text()}`)
    return (await response.json()) as Numbers
  }

  /** Waits until the analytics hold: a page sends its events five seconds after the first, or when it goes. */
  until(flowKey: string, holds: (numbers: Numbers) => boolean): Promise<Numbers> {
    return until(() => this.numbers(flowKey), holds)
  }

  /** How many runs were started by what, once that many are counted. */
  async startedBy(flowKey: string, runs: number): Promise<Record<string, number>> {
    await this.until(flowKey, ({ totals }) => totals.starts >= runs)
    const { segments = [] } = await this.numbers(flowKey, '?segment=$start_reason')
    return Object.fromEntries(segments.map(({ value, starts }) => [value ?? 'none', starts]))
  }

  async close(): Promise<void> {
    for (const server of [this.site, ...this.ownPages]) server?.stop(true)
    await this.browser.close()
    await this.place.close()
  }
}

/**
 * Waits until everything that happened in this browser is sent. A page whose connection has come back
 * sends what waits at once, so the test does not have to wait for the batch.
 */
export const allSent = async (page: Page): Promise<void> => {
  await page.evaluate("dispatchEvent(new Event('online'))")
  await page.waitForFunction(() => {
    const { localStorage } = globalThis as unknown as { localStorage: object }
    return !Object.keys(localStorage).some(name => name.includes(':out:'))
  })
}

/** Makes it look as if what this browser has begun was last on a page half an hour ago. */
export const leftLongAgo = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { localStorage } = globalThis as unknown as { localStorage: Record<string, string> }
    const name = Object.keys(localStorage).find(name => name.includes(':runs:steps:')) ?? ''
    const runs = JSON.parse(localStorage[name] ?? '[]') as { seenAt: number }[]
    const longAgo = runs.map(run => ({ ...run, seenAt: run.seenAt - 30 * 60_000 }))
    localStorage[name] = JSON.stringify(longAgo)
  })

/** A page with a heading and this body. */
export const html = (body: string, headers: Record<string, string> = {}): Response =>
  new Response(
    `<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,"><h1>Own</h1>${body}`,
    { headers: { 'Content-Type': 'text/html', ...headers } },
  )

/** Calls a method of `window.cairn` without waiting for its result. */
export const call = (page: Page, name: string, ...args: unknown[]): Promise<unknown> =>
  page.evaluate(`void cairn.${name}(...${JSON.stringify(args)})`)

/** The parts of a flow on a page. */
/** Makes the next page request its flows, as after a long time. */
export const forgetFlows = (page: Page) =>
  page.evaluate(() => {
    for (const name of Object.keys(localStorage)) {
      if (name.endsWith(':flows')) localStorage.removeItem(name)
    }
  })

export const shown = (page: Page) => {
  const title = page.locator('[data-cairn] .card h2')
  return {
    card: page.locator('[data-cairn] .card'),
    title,
    /** Waits until a step with this title is shown. */
    says: (text: string) => title.getByText(text, { exact: true }).waitFor(),
    place: () => page.locator('[data-cairn] .place').textContent(),
    elsewhere: page.locator('[data-cairn] .elsewhere'),
    link: page.locator('[data-cairn] .elsewhere a'),
    launcher: page.locator('[data-cairn] .launcher'),
    panel: page.locator('[data-cairn] .panel'),
    button: (name: string) =>
      page.locator('[data-cairn]').getByRole('button', { name, exact: true }),
  }
}
