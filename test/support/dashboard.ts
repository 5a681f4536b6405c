import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { Role } from '../../src/core/organisation/access.ts'
import type { Locator } from '../browser/playwright.ts'
import { apiOf, type ListedFlow, type Server, Workplace } from './binary.ts'
import { type Noticed, type Page, still, TestBrowser } from './browser.ts'
import { ownPage } from './dashboard-visitor.ts'
import { settleBeforeActions } from './settling.ts'
import { placeOverStore } from './store.ts'

/** The binary with an organisation, runs that were sent to it, and a browser that looks at the dashboard. */

export const flows = `key: welcome
name: Welcome tour
steps:
  - { key: hello, kind: modal, title: Hello }
  - { key: create, title: Start a project, target: { selector: "#new" } }
  - { key: invite, title: Invite your team, target: { selector: "#invite" } }
---
key: news
name: Spring news
kind: announcement
steps:
  - { key: news, kind: modal, title: News }
`

const dayMs = 86_400_000

const highLimits = { manage: 100_000, analytics: 100_000, export: 100_000 }

interface SentEvent {
  kind: string
  flowId: string
  stepId?: string
  userId: string
  runId: string
  occurredAt: string
  traits?: Record<string, string>
}

/** Three in four say their plan. */
const plans = ['free', 'pro'] as const

/** Forty runs over two weeks: of every five, two are completed, one is dismissed, and two go on. */
function runsOf({ id, steps }: ListedFlow, now: number): SentEvent[] {
  return Array.from({ length: 40 }, (_, i) => {
    const startedAt = now - (i % 14) * dayMs - 3_600_000
    const event = (kind: string, seconds: number, step?: number): SentEvent => ({
      kind,
      flowId: id,
      ...(step !== undefined && { stepId: steps[step]!.id }),
      userId: `person-${i}`,
      runId: `run-${i}`,
      occurredAt: new Date(startedAt + seconds * 1_000).toISOString(),
    })
    const way = i % 5
    return [
      { ...event('flow_started', 0), ...(i % 4 > 0 && { traits: { plan: plans[i % 2]! } }) },
      event('step_viewed', 1, 0),
      ...(way === 4 ? [] : [event('step_completed', 5 + i, 0), event('step_viewed', 6 + i, 1)]),
      ...(way < 3 ? [event('step_completed', 20 + i, 1), event('step_viewed', 21 + i, 2)] : []),
      ...(way < 2 ? [event('step_completed', 40 + i, 2), event('flow_completed', 41 + i)] : []),
      ...(way === 2 ? [event('flow_dismissed', 50 + i)] : []),
    ]
  }).flat()
}

export type Manage = <T>(
  method: string,
  path: string,
  body?: object,
  ifMatch?: string,
) => Promise<T>

/** One person has one role. */
const nameOf = (role: Role) => (role === 'owner' ? 'Ann' : `Ann, ${role}`)

type VisitOptions = { role?: Role } & Parameters<TestBrowser['page']>[0]

interface Visit {
  page: Page
  noticed: Noticed
}

export class DashboardHouse {
  private readonly openedAt = Date.now()
  server!: Server
  snippetKey = ''
  /** Cookies of the people who are signed in, by role. */
  private readonly signedIn = new Map<Role, Awaited<ReturnType<DashboardHouse['session']>>>()

  private constructor(
    readonly place: Workplace,
    readonly browser: TestBrowser,
  ) {}

  /** @param env of the server, besides its own */
  static async open(env: Record<string, string> = {}): Promise<DashboardHouse> {
    const house = new DashboardHouse(
      await placeOverStore(),
      await TestBrowser.open({}, settleBeforeActions),
    )
    const { place } = house
    house.server = await place.serve([], env)
    const made = await place.json<{ snippetKey: string }>(['org', 'create', 'Harbor'])
    house.snippetKey = made.snippetKey
    await Bun.write(join(place.folder, 'flows.yaml'), flows)
    const pushed = await place.run(['flows', 'push', 'flows.yaml', '--publish'])
    if (pushed.status !== 0) throw new Error(pushed.stderr)
    // High limits, because the tests are one organisation with many screens.
    const settings = JSON.stringify({ limits: highLimits, traits: ['plan', 'role'] })
    await place.run(['api', 'PATCH', '/settings', '--body', settings])
    await house.send(runsOf(await house.flow('welcome'), house.openedAt))
    return house
  }

  /** An organisation in which nobody has done anything yet, on a server of its own. */
  static async empty({ browser }: DashboardHouse): Promise<DashboardHouse> {
    const house = new DashboardHouse(await placeOverStore(), browser)
    house.server = await house.place.serve()
    const made = await house.place.json<{ snippetKey: string }>(['org', 'create', 'Harbor'])
    house.snippetKey = made.snippetKey
    return house
  }

  /** The demo with its month, as whoever starts it gets it. */
  static async demo(): Promise<DashboardHouse> {
    const browser = await TestBrowser.open({}, settleBeforeActions)
    const house = new DashboardHouse(new Workplace(), browser)
    const { place } = house
    const ports = ['--port', '0', '--management-port', '0', '--site-port', '0']
    const child = await place.command(['demo', '--data', place.dataDir, ...ports])
    let printed = ''
    for await (const chunk of child.stdout) {
      printed += Buffer.from(chunk).toString()
      if (printed.includes('Ctrl-C to stop')) break
    }
    const url = /API +(http:\S+)\/api\/v1/.exec(printed)?.[1]
    if (url === undefined) throw new Error(`The demo did not start: ${printed}`)
    house.server = { url } as Server
    house.snippetKey = /snippet key +(\S+)/.exec(printed)![1]!
    const settings = JSON.stringify({ limits: highLimits })
    await place.run(['api', 'PATCH', '/settings', '--body', settings])
    return house
  }

  /** The UTC day of the latest runs, an hour before the dashboard opened, such as `2026-11-28`. */
  get lastDay(): string {
    return new Date(this.openedAt - 3_600_000).toISOString().slice(0, 10)
  }

  /** Sends a request to the pages' API, with the snippet key. */
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Response> {
    return apiOf(this.server, this.snippetKey)(method, path, body)
  }

  /** A published flow, with the ids of its steps. */
  async flow(key: string): Promise<ListedFlow> {
    const { flows } = (await (await this.ask('GET', '/flows')).json()) as {
      flows: (ListedFlow & { key: string })[]
    }
    return flows.find(flow => flow.key === key)!
  }

  /** Reports events as pages do. @throws if they are rejected */
  async send(events: readonly object[]): Promise<void> {
    for (let at = 0; at < events.length; at += 50) {
      const answer = await this.ask('POST', '/events', { events: events.slice(at, at + 50) })
      if (answer.status !== 202) throw new Error(await answer.text())
    }
  }

  /** A function that asks the management API, with a token of its own with these scopes. @throws if refused */
  async manager(...scopes: string[]): Promise<Manage> {
    const { token } = await this.place.json<{ token: string }>([
      ...['token', 'create', 'Robot', '--expires', '1d', ...scopes.flatMap(s => ['--scope', s])],
    ])
    return async <T>(method: string, path: string, body?: object, ifMatch?: string) => {
      const response = await fetch(`${this.server.url}/api/v1/manage${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as T
    }
  }

  /** A link that signs in once. */
  async link(role: Role = 'owner', name = nameOf(role), org?: string): Promise<string> {
    const made = await this.place.json<{ url: string }>([
      ...['dashboard', 'link', '--role', role, '--name', name, '--public-url', this.server.url],
      ...(org !== undefined ? ['--org', org] : []),
    ])
    return made.url
  }

  /** Asks the API of analysts, beside the dashboard. */
  async analytics<T>(flowId: string, query: string): Promise<T> {
    const { token } = await this.place.json<{ token: string }>(['token', 'issue'])
    const ask = apiOf(this.server, token)
    return (await ask('GET', `/flows/${flowId}/analytics?${query}`)).json() as Promise<T>
  }

  /** The browser of somebody who is signed in, at a page. */
  async visit(path: string, options: VisitOptions = {}): Promise<Visit> {
    const visit = await this.enter(options)
    await visit.page.goto(this.at(path))
    return visit
  }

  /** The address of a page. */
  at(path: string): string {
    return `${this.server.url}/dashboard/harbor${path}`
  }

  /** The browser of somebody who is signed in, not at any address yet. */
  async enter({ role = 'owner', ...options }: VisitOptions = {}): Promise<Visit> {
    const storageState = this.signedIn.get(role) ?? (await this.session(role))
    this.signedIn.set(role, storageState)
    return this.browser.page({ timezoneId: 'Europe/Berlin', storageState, ...options })
  }

  /** The browser of somebody who has just signed in, with a session of their own. */
  async signIn(role: Role = 'owner', name?: string): Promise<Visit> {
    const storageState = await this.session(role, name)
    const visit = await this.browser.page({ timezoneId: 'Europe/Berlin', storageState })
    await visit.page.goto(this.at(''))
    await visit.page.getByRole('heading', { name: 'Overview' }).waitFor()
    return visit
  }

  /** The cookie of a new session, as a browser stores it. */
  private async session(role: Role, name?: string) {
    const { hash } = new URL(await this.link(role, name))
    const response = await fetch(`${this.server.url}/dashboard/session/redeem`, {
      method: 'POST',
      headers: ownPage,
      body: JSON.stringify({ code: hash.slice(1) }),
    })
    const [cookie] = response.headers.getSetCookie()
    if (!cookie) throw new Error(await response.text())
    const [pair = '', ...attributes] = cookie.split('; ')
    const [cookieName = '', value = ''] = pair.split('=')
    const path = attributes.find(one => one.startsWith('Path='))!.slice('Path='.length)
    const { hostname } = new URL(this.server.url)
    const stored = { domain: hostname, path, expires: -1, httpOnly: true, secure: false }
    return {
      cookies: [{ name: cookieName, value, ...stored, sameSite: 'Strict' as const }],
      origins: [],
    }
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.place.close()
  }
}

const axe = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/**
 * What axe-core's rules find hard to use on a page that stands still. Frames have to be checked separately.
 *
 * @param within selects the element to check; by default the dialog that makes the rest of the page inert,
 *   or without one the page
 */
export async function hardToUse(
  page: Pick<Page, 'evaluate'>,
  within = 'dialog:modal',
): Promise<string[]> {
  // A text that fades in lacks contrast until it is there.
  await still(page)
  // A document keeps what it was once given: to read all of axe takes nearly as long as its rules do.
  if (!(await page.evaluate('globalThis.axe?.run !== undefined'))) await page.evaluate(`${axe};0`)
  // Of what passes, most of a page, nothing is described: half of the time would go into it.
  const violations = (await page.evaluate(
    `axe.run([...document.querySelectorAll(${JSON.stringify(within)})].at(-1) ?? document, {
      iframes: false,
      resultTypes: ['violations'],
      rules: { 'target-size': { enabled: true } },
    }).then(({ violations }) => violations)`,
  )) as { id: string; nodes: { html: string; failureSummary: string }[] }[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  )
}

/** Requires that everybody can use a page: axe finds no problem, it fits its window, and nothing failed. */
export async function requireSound(page: Page, { complaints }: Noticed): Promise<void> {
  await requireUsable(page)
  expect(complaints).toEqual([])
}

/**
 * Runs `requireSound` in light mode, and on a phone in dark mode, then restores the window's size and the
 * light mode. The long run also tries dark mode in the window as it is, and light mode on a phone.
 */
export async function requireSoundOnEveryScreen(page: Page, noticed: Noticed): Promise<void> {
  const size = page.viewportSize()!
  const phone = { width: 360, height: 700 }
  const look = async (colorScheme: 'light' | 'dark', window: typeof size) => {
    await page.emulateMedia({ colorScheme })
    await resize(page, window)
    // Where the page was scrolled to, its fixed head may cover half of a link.
    if (window === phone) await page.evaluate('scrollTo(0, 0)')
    await requireUsable(page)
  }
  await look('light', size)
  await look('dark', phone)
  if (process.env.CAIRN_TEST_LONG) {
    await look('light', phone)
    await look('dark', size)
  }
  expect(noticed.complaints).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await resize(page, size)
}

/** Resizes a page's window, and waits for the frame in which the page adapts. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size)
  await page.evaluate(
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
}

async function requireUsable(page: Page): Promise<void> {
  expect(await hardToUse(page)).toEqual([])
  expect(await overflowOf(page)).toBe(0)
}

/** By how many pixels a page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(
    'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
  )

/** The rows of the CSV that a link downloads, the file's name, and the query of its address. */
export async function downloadedCsv(page: Page, link: Locator) {
  const pending = page.waitForEvent('download')
  await link.click()
  const download = await pending
  const rows: Record<string, string>[] = parse(readFileSync(await download.path()), {
    columns: true,
    bom: true,
  })
  const query = new URL(download.url()).search.slice(1)
  return { rows, query, name: download.suggestedFilename() }
}

/** The cells of the table with a caption, one list per row; the texts without what is below a figure. */
export const cellsOf = (page: Page, caption: string): Promise<string[][]> =>
  page.evaluate(`[...document.querySelectorAll('table')]
    .find(table => table.caption?.textContent === ${JSON.stringify(caption)})
    .querySelectorAll('tbody tr')
    .values().map(row => [...row.cells].map(cell => {
      const copy = cell.cloneNode(true)
      for (const small of copy.querySelectorAll('small, .row-note, .step-number, .tip')) small.remove()
      return copy.textContent.trim()
    })).toArray()`)
