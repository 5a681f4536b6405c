import { expect } from 'bun:test'
import { createHmac } from 'node:crypto'
import { installStub } from '../../src/web/install-code.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, call, forgetFlows, html, Site, shown } from '../support/site.ts'

/** One person on several pages and in several browsers, identified late or by a hash, is counted once. */

const announcement = (key: string, frequency: string) => `
- key: ${key}
  kind: announcement
  frequency: ${frequency}
  targeting:
    urls: [{ match: exact, pattern: /${key} }]
    audience: { match: all, rules: [${key.startsWith('paid') ? '{ attribute: plan, op: neq, value: free }' : ''}] }
  steps: [{ key: one, kind: modal, title: ${key} }]
`
const always = ['paid-free', 'paid-pro', 'paid-late', 'paid-sent', 'paid-start', 'tracked', 'end']
const once = ['once-never', 'once-public', 'once-other', 'once-refused', 'once-consented']

const tour = (key: string, frequency = 'once') => `
- key: ${key}
  frequency: ${frequency}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }, { match: exact, pattern: /${key} }] }
  steps:
    - { key: one, kind: modal, title: ${key} one }
    - { key: two, kind: modal, title: ${key} two }
`
const tours = ['dismissed', 'open', 'slow', 'stuck', 'busy', 'midway', 'seen', 'proven', 'unproven']
const list = (key: string, pattern: string) => `
- key: ${key}
  kind: checklist
  frequency: until_completed
  targeting: { urls: [{ match: exact, pattern: "${pattern}" }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }, { key: c, title: C }, { key: d, title: D }] }
`

const flows = `
${always.map(key => announcement(key, 'always')).join('')}
${once.map(key => announcement(key, 'once')).join('')}
${tours.map(key => tour(key)).join('')}
${tour('tour', 'until_completed')}
${tour('again', 'until_completed')}
${list('ticked', '/projects?case=ticked')}
${list('progress', '/projects?case=progress')}
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  // The page keeps a list of the steps shown.
  const listen = `seen = []; cairn.on('step_viewed', ({ flowKey }) => seen.push(flowKey))
    cairn.on('flow_dismissed', () => seen.push('dismissed'))`
  pages = site.serve(({ searchParams }) => {
    const script = `${installStub};${listen};${searchParams.get('first') ?? ''}`
    return html(`<script>${script}</script>${site.tag(searchParams.get('tag') ?? '')}`)
  })
})
afterAll(() => site.close())

const waits = ' data-identify="wait" data-identify-timeout="600000"'

interface Visit {
  tag?: string
  /** Calls of the page before the script has loaded. */
  first?: string
  /** An open page, for a visit in the same browser. */
  page?: Page
}

/** Visits a page with these attributes of its tag and these first calls. */
async function visit(path: string, { tag = waits, first = '', page }: Visit = {}) {
  const own = page ?? (await site.browser.page()).page
  const bodies: Record<string, unknown>[] = []
  own.on('request', request => {
    if (!request.url().includes('/events')) return
    bodies.push(...JSON.parse(request.postData() ?? '{"events":[]}').events)
  })
  await own.goto(`${pages}${path}?${new URLSearchParams({ tag, first })}`)
  return { page: own, bodies, ...shown(own) }
}

const seen = (page: Page) => page.evaluate('seen') as Promise<string[]>

/** Goes to a last page and waits for its flow. Whatever was due before has been shown by then. */
async function atTheEnd(page: Page): Promise<string[]> {
  await page.evaluate("history.pushState(null, '', '/end')")
  await shown(page).says('end')
  return (await seen(page)).filter(key => key !== 'end')
}

const isOfUser = /\/flows\?userId/
const userResponse = (page: Page) => page.waitForResponse(isOfUser)

/** Identifies a user, and waits for the server's history of them. */
async function identify(page: Page, ...args: unknown[]): Promise<void> {
  const answered = userResponse(page)
  await call(page, 'identify', ...args)
  await answered
}

const totalsOf = async (page: Page, key: string) => {
  await allSent(page)
  const { starts, dismissals, inProgress } = (await site.numbers(key)).totals
  return { starts, dismissals, inProgress }
}

/** Waits until the page rests, and expects nothing to be shown. */
const isNotShown = async (page: Page, held?: RegExp) => {
  await rest(page, held)
  expect(await page.locator('[data-cairn] .card, [data-cairn] .launcher').count()).toBe(0)
}

describe('a page that identifies its user late', () => {
  test('shows a flow to a user of its audience only', async () => {
    const { page } = await visit('/paid-free')
    await isNotShown(page)
    await identify(page, 'free-1', { plan: 'free' })
    expect(await atTheEnd(page)).toEqual([])
    expect(await totalsOf(page, 'paid-free')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
    const other = await visit('/paid-pro')
    await isNotShown(other.page)
    await identify(other.page, 'pro-1', { plan: 'pro' })
    await other.says('paid-pro')
    // A user who is identified again stays in their run.
    await other.card.evaluate(element => element.setAttribute('data-same', ''))
    await call(other.page, 'identify', 'pro-1', { plan: 'pro' })
    await call(other.page, 'identify', 'pro-1', { plan: 'free' })
    await other.page.evaluate("history.replaceState(null, '', '/paid-pro?more')")
    expect(await other.page.locator('[data-cairn] .card[data-same]').count()).toBe(1)
    expect(await seen(other.page)).toEqual(['paid-pro'])
  })

  test('shows everything at once to a user identified before the script has loaded', async () => {
    const { says } = await visit('/paid-pro', { first: "cairn.identify('pro-2', { plan: 'pro' })" })
    await says('paid-pro')
  })

  test('shows everything after three seconds if it identifies nobody', async () => {
    const { page } = await site.browser.page({ clock: true })
    const now = 'performance.now()'
    const { says } = await visit('/once-never', {
      tag: ' data-identify="wait"',
      first: `begun = ${now}; cairn.on('step_viewed', () => { waited = ${now} - begun })`,
      page,
    })
    await pass(page, 3_000)
    await says('once-never')
    expect(await page.evaluate('waited')).toBeGreaterThanOrEqual(3_000)
  })

  test('shows everything after its own timeout, and hides again what the user may not see', async () => {
    const tag = ' data-identify="wait" data-identify-timeout="200"'
    const { page, says, title } = await visit('/paid-late', { tag })
    await says('paid-late')
    await identify(page, 'free-2', { plan: 'free' })
    await title.waitFor({ state: 'detached' })
    expect(await atTheEnd(page)).toEqual(['paid-late'])
    expect(await totalsOf(page, 'paid-late')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
  })

  test('keeps a run in progress that it has sent for the visitor, and does not count it as dismissed', async () => {
    const { page, title, says, bodies } = await visit('/paid-sent', { tag: '' })
    await says('paid-sent')
    await allSent(page)
    await identify(page, 'free-4', { plan: 'free' })
    await title.waitFor({ state: 'detached' })
    expect(await atTheEnd(page)).toEqual(['paid-sent'])
    expect(await totalsOf(page, 'paid-sent')).toEqual({ starts: 1, dismissals: 0, inProgress: 1 })
    const flowId = site.flowId('paid-sent')
    expect(bodies.filter(event => event.flowId === flowId && 'userId' in event)).toEqual([])
  })

  test('hides what the user has seen as soon as it knows, if it does not wait', async () => {
    const first = await visit('/once-public', { tag: '', first: "cairn.identify('twice')" })
    await first.button('Close').click()
    await allSent(first.page)
    const { page, title, says } = await visit('/once-public', { tag: '' })
    await says('once-public')
    await identify(page, 'twice')
    await title.waitFor({ state: 'detached' })
    expect(await atTheEnd(page)).toEqual(['once-public'])
    expect(await totalsOf(page, 'once-public')).toEqual({ starts: 1, dismissals: 1, inProgress: 0 })
  })

  test('attributes earlier events to its user, and reports them if it is closed while it waits', async () => {
    const { page, bodies } = await visit('/tracked', { first: "cairn.track('signed_in')" })
    await shown(page).says('tracked')
    await identify(page, 'tess')
    await shown(page).button('Done').click()
    await allSent(page)
    const ofFlow = bodies.filter(event => event.flowId === site.flowId('tracked'))
    expect(ofFlow.map(({ kind }) => kind)).toEqual([
      'flow_started',
      'step_viewed',
      'step_completed',
      'flow_completed',
    ])
    // Events of a run that a visitor has started name the user and the visitor.
    const [{ anonymousId } = {}] = ofFlow
    expect(anonymousId).toBeString()
    for (const event of ofFlow) expect(event).toMatchObject({ userId: 'tess', anonymousId })
    const tracked = bodies.filter(({ name }) => name === 'signed_in')
    expect(tracked).toEqual([expect.objectContaining({ userId: 'tess' })])
    expect(bodies.filter(({ userId }) => userId !== 'tess')).toEqual([])
    const left = await visit('/tracked')
    await left.says('tracked')
    await left.page.goto('about:blank')
    const { totals } = await site.until('tracked', ({ totals }) => totals.starts === 2)
    expect(totals).toMatchObject({ uniqueUsers: 2, completions: 1 })
  })

  test('does not wait once consent is denied; given consent does not end the wait, because it identifies nobody', async () => {
    const refused = await visit('/once-refused', { first: 'cairn.consent(false)' })
    await refused.says('once-refused')
    const { page, says } = await visit('/once-consented', { first: 'cairn.consent(true)' })
    await isNotShown(page)
    await identify(page, 'fay')
    await says('once-consented')
  })

  test('shows a flow that it starts itself at once', async () => {
    const { page, says, title } = await visit('/paid-start')
    await call(page, 'start', 'paid-start')
    await says('paid-start')
    await identify(page, 'free-5', { plan: 'free' })
    expect(await title.innerText()).toBe('paid-start')
  })

  test('reports a wrong attribute of its tag in the console', async () => {
    const { page, noticed } = await site.browser.page()
    const tag = ' data-identify="wiat" data-identify-timeout="soon"'
    await visit('/end', { page, tag })
    await shown(page).says('end')
    expect(noticed.complaints.join()).toContain('data-identify knows "wait" alone, not "wiat"')
  })
})

describe('if the page identifies another user', () => {
  test('nothing of the previous user is shown, until that user returns', async () => {
    const first = await visit('/tour', { first: "cairn.identify('ann')" })
    await first.button('Next').click()
    await first.says('tour two')
    const { page, says } = await visit('/tour', { page: first.page })
    await isNotShown(page)
    expect(await seen(page)).toEqual([])
    await identify(page, 'bob')
    await says('tour one')
    await allSent(page)
    await visit('/tour', { page })
    await identify(page, 'ann')
    await says('tour two')
    await allSent(page)
    const { totals } = await site.numbers('tour')
    expect(totals).toMatchObject({ starts: 2, uniqueUsers: 2, dismissals: 0 })
  })

  test('a run of the previous user does not count for the new one', async () => {
    const first = await visit('/end', { tag: '', first: "cairn.identify('carl')" })
    await first.button('Done').click()
    await allSent(first.page)
    const { page, says } = await visit('/once-other', { page: first.page, tag: '' })
    await says('once-other')
    await identify(page, 'dora')
    await says('once-other')
    await shown(page).button('Close').click()
    expect(await totalsOf(page, 'once-other')).toEqual({ starts: 1, dismissals: 1, inProgress: 0 })
  })
})

/** Opens a browser whose person is identified before the snippet loads. By default neither waits for the other. */
const open = async (key: string, person: string, options = {}) => {
  const visitor = await site.browser.page({ person, ...options })
  const { page } = visitor
  await page.route(
    '**/snippet.js',
    async route => {
      await page.waitForFunction(() => {
        const { cairn } = window as never as { cairn?: { q?: [name: string][] } }
        return cairn?.q?.some(([name]) => name === 'identify')
      })
      await route.continue()
    },
    { times: 1 },
  )
  await page.goto(`${site.url}/projects?case=${key}`)
  return { ...visitor, ...shown(page) }
}

/** Opens a page without a user, at an address that has no tour. */
const openAsStranger = async (prepare: (page: Page) => Promise<unknown> = async () => {}) => {
  const { page, noticed } = await site.browser.page({ clock: true })
  await page.route('**/app.js', route => route.fulfill({ contentType: 'text/javascript' }))
  await prepare(page)
  await page.goto(`${site.url}/home`)
  await page.waitForFunction(() => 'track' in ((window as never as { cairn?: object }).cairn ?? {}))
  return { page, noticed, ...shown(page) }
}
/** From then on, time passes on a page only if the test lets it. */
const stopClock = async (page: Page) => {
  // A jump in time would time out a pending request.
  await rest(page)
  await page.clock.pauseAt(Date.now() + 60_000)
}
const goTo = (page: Page, key: string) =>
  page.evaluate(`history.pushState(null, '', '/projects?case=${key}')`)

const askAgain = async (page: Page) => {
  await forgetFlows(page)
  await page.reload()
}

describe('in several browsers', () => {
  test('a tour dismissed in one is not shown to the same person in another', async () => {
    const first = await open('dismissed', 'ann')
    await first.button('Close').click()
    await allSent(first.page)
    const second = await open('dismissed', 'ann')
    await isNotShown(second.page)
    const other = await open('dismissed', 'bob')
    await other.says('dismissed one')
    await allSent(other.page)
    const { totals } = await site.until('dismissed', ({ totals }) => totals.starts === 2)
    expect(totals).toMatchObject({ starts: 2, dismissals: 1, uniqueUsers: 2 })
  })

  test('a run is shared, and ends in all once it ends in one', async () => {
    const first = await open('open', 'ann')
    await first.button('Next').click()
    await first.says('open two')
    await allSent(first.page)
    const second = await open('open', 'ann')
    await second.says('open one')
    await second.button('Next').click()
    await second.button('Done').click()
    await allSent(second.page)
    const { totals } = await site.until('open', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
    await askAgain(first.page)
    await isNotShown(first.page)
    const third = await open('open', 'ann')
    await isNotShown(third.page)
    expect((await site.numbers('open')).totals).toMatchObject({ starts: 1, inProgress: 0 })
  })

  test('a flow that is shown again after it ended in another starts a new run', async () => {
    const { page, button, says } = await open('again', 'ann')
    await button('Next').click()
    await says('again two')
    await allSent(page)
    await askAgain(page)
    await says('again two')
    const second = await open('again', 'ann')
    await second.button('Close').click()
    await allSent(second.page)
    await askAgain(page)
    await says('again one')
    await allSent(page)
    const { totals } = await site.until('again', ({ totals }) => totals.starts === 2)
    expect(totals).toMatchObject({ dismissals: 1, inProgress: 1 })
  })

  test('a checklist is one run, and is completed in all once it is completed', async () => {
    const first = await open('ticked', 'ann')
    await first.panel.getByText('A', { exact: true }).click()
    await allSent(first.page)
    const second = await open('ticked', 'ann')
    for (const item of ['B', 'C', 'D']) await second.panel.getByText(item, { exact: true }).click()
    await second.launcher.waitFor({ state: 'detached' })
    await allSent(second.page)
    await askAgain(first.page)
    await isNotShown(first.page)
    const { totals } = await site.until('ticked', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
  })
})

describe('the flows of a user', () => {
  test('delay every start, if the user is identified after the flows of a visitor have loaded', async () => {
    const first = await open('slow', 'ann')
    await first.button('Close').click()
    await allSent(first.page)
    const moved = Promise.withResolvers<void>()
    const { page, noticed } = await openAsStranger(page =>
      page.route(isOfUser, async route => {
        await moved.promise
        await route.continue()
      }),
    )
    await stopClock(page)
    const answered = userResponse(page)
    await call(page, 'identify', 'ann')
    await goTo(page, 'slow')
    await page.clock.runFor(1_500)
    moved.resolve()
    expect((await answered).status()).toBe(200)
    await page.waitForFunction(() =>
      Object.entries(localStorage).some(
        ([name, text]) => /:past$/.test(name) && text.includes('"uann"'),
      ),
    )
    await page.clock.resume()
    await isNotShown(page)
    expect(noticed.requests.filter(url => url.includes('renderer'))).toEqual([])
  })

  test('delay a start by at most three seconds', async () => {
    const { page, noticed, says } = await openAsStranger(page => page.route(isOfUser, () => {}))
    await stopClock(page)
    await call(page, 'identify', 'eve')
    await goTo(page, 'stuck')
    await page.clock.runFor(2_900)
    await page.evaluate('navigator.locks.query()')
    expect(noticed.requests.filter(url => url.includes('renderer'))).toEqual([])
    await page.clock.runFor(200)
    await page.clock.resume()
    await says('stuck one')
  })

  test('delay a start no longer if the first flows loaded late', async () => {
    const late = Promise.withResolvers<void>()
    const { page, title } = await openAsStranger(async page => {
      await page.route(/\/flows/, async route => {
        await late.promise
        await route.continue()
      })
      await page.route(isOfUser, () => {})
    })
    await pass(page, 4_000, /\/flows/)
    await call(page, 'identify', 'fay')
    await goTo(page, 'stuck')
    const requested = page.waitForRequest(isOfUser)
    late.resolve()
    await requested
    await pass(page, 3_100, isOfUser)
    // Without a response the request itself times out after half a minute.
    await title.getByText('stuck one').waitFor({ timeout: 15_000 })
  })

  test('delay nothing if the server is busy: the browser decides', async () => {
    const { page, says } = await openAsStranger(page =>
      page.route(isOfUser, route =>
        route.fulfill({
          status: 503,
          headers: { 'Retry-After': '60', 'Access-Control-Allow-Origin': '*' },
          contentType: 'application/json',
          body: '{"error":"Overloaded","code":"overloaded"}',
        }),
      ),
    )
    await call(page, 'identify', 'eve')
    await goTo(page, 'busy')
    await says('busy one')
  })

  test('are requested once for many pages, and with their id even if a page identifies them late', async () => {
    const { page, noticed, says } = await open('seen', 'yara')
    const queries = () =>
      noticed.requests
        .filter(url => /\/api\/v1\/flows(\?|$)/.test(url))
        .map(url => new URL(url).search)
    await says('seen one')
    for (const path of ['/home', '/projects', '/settings/people']) await page.goto(site.url + path)
    await rest(page)
    expect(queries()).toEqual(['?userId=yara'])
    const named = Promise.withResolvers<void>()
    await page.route('**/app.js', async route => {
      await named.promise
      await route.continue()
    })
    const answered = userResponse(page)
    await forgetFlows(page)
    await page.goto(`${site.url}/home`, { waitUntil: 'commit' })
    expect((await answered).status()).toBe(200)
    named.resolve()
    await page.waitForLoadState('load')
    await rest(page)
    expect(queries()).toEqual(['?userId=yara', '?userId=yara'])
  })

  test('are requested by the next page if a page is closed during the request', async () => {
    const { page } = await openAsStranger()
    await page.waitForFunction(() => Object.keys(localStorage).some(name => /:flows$/.test(name)))
    await page.route('**/flows?userId*', () => {}, { times: 1 })
    const asking = page.waitForRequest(isOfUser)
    await call(page, 'identify', 'traveller')
    await asking
    const flowsResponse = userResponse(page)
    await page.goto(`${site.url}/settings/people`)
    expect((await flowsResponse).status()).toBe(200)
  })
})

test('a visitor who signs in during a tour stays at their step, in the same run', async () => {
  const { page, card, button, says } = await openAsStranger()
  await goTo(page, 'midway')
  await says('midway one')
  await button('Next').click()
  await says('midway two')
  await card.evaluate(element => element.setAttribute('data-same', ''))
  await identify(page, 'mia')
  await rest(page)
  // The card is the same element, not a new one.
  expect(await page.locator('[data-cairn] .card[data-same] h2').innerText()).toBe('midway two')
  await button('Done').click()
  await allSent(page)
  const { totals } = await site.until('midway', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, uniqueUsers: 1, inProgress: 0, dismissals: 0 })
})

test('rate limit headers of a gateway do not cause repeated requests', async () => {
  let requests = 0
  const { page } = await openAsStranger(async page => {
    await page.route('**/api/v1/flows', async route => {
      if (route.request().method() === 'OPTIONS') return route.continue()
      requests++
      const response = await route.fetch()
      const headers = { ...response.headers(), 'x-ratelimit-remaining': '10000000' }
      await route.fulfill({ response, headers })
    })
  })
  await pass(page, 20_000)
  expect(requests).toBe(1)
})

describe('a page that shows a checklist', () => {
  /** The maximum time for a stored tick to reach an open page, on that page's clock, in milliseconds. */
  const maxMs = 15_000
  const path = () => `/api/v1/flows/${site.flowId('progress')}/checklist-progress`

  /** Ticks an item as a back end does. */
  async function tick(userId: string, key: string, more = {}): Promise<void> {
    const response = await fetch(site.server.url + path(), {
      method: 'POST',
      headers: { authorization: `Bearer ${site.snippetKey}` },
      body: JSON.stringify({ userId, items: [{ key, completed: true }], ...more }),
    })
    expect(response.status).toBe(200)
  }

  const item = (page: Page, title: string) =>
    shown(page).panel.locator('li.ticked').getByText(title, { exact: true })

  /** Lets time pass until the page shows the tick, at most `maxMs`. */
  async function hears(page: Page, title: string): Promise<void> {
    const ticked = item(page, title)
    for (let ms = 0; ms < maxMs && !(await ticked.isVisible()); ms += 1_000) {
      await pass(page, 1_000)
    }
    expect(await ticked.isVisible()).toBe(true)
  }

  const beats = (requests: readonly string[]) => requests.filter(url => url.includes('/heartbeat'))

  test('shows in all tabs what a back end has ticked, by the heartbeats of one tab', async () => {
    const { page, noticed, panel } = await site.browser
      .page({ person: 'ann', clock: true })
      .then(visitor => ({ ...visitor, ...shown(visitor.page) }))
    const progressResponse = page.waitForResponse(response => response.url().includes(path()))
    await page.goto(`${site.url}/projects?case=progress`)
    await progressResponse
    await panel.waitFor()
    await tick('ann', 'a')
    await hears(page, 'A')
    const second = await page.context().newPage()
    second.on('request', request => noticed.requests.push(request.url()))
    await second.goto(page.url())
    await shown(second).panel.waitFor()
    await tick('ann', 'b')
    // Time passes in both tabs.
    await hears(page, 'B')
    await item(second, 'B').waitFor()
    // Heartbeats are sent as often as the server allows.
    expect(beats(noticed.requests).length).toBeLessThanOrEqual(5)
    // A reload requests the progress at once.
    await second.close()
    await tick('ann', 'c')
    const again = page.waitForResponse(response => response.url().includes(path()))
    await page.reload()
    await again
    await item(page, 'C').waitFor()
  })

  test('shows a person who signs in what they have ticked elsewhere', async () => {
    await tick('dora', 'c')
    const { page } = await openAsStranger()
    await goTo(page, 'progress')
    await shown(page).panel.waitFor()
    const progressResponse = page.waitForResponse(response =>
      response.url().includes(`${path()}?userId=dora`),
    )
    await call(page, 'identify', 'dora')
    await progressResponse
    await item(page, 'C').waitFor()
  })

  describe('if identity verification is enforced', () => {
    let secret = ''
    beforeAll(async () => {
      await site.place.run(['org', 'set', 'identityMode', 'enforce'])
      const { stdout } = await site.place.run(['org', 'identity', 'show', '--secrets', '--json'])
      secret = JSON.parse(stdout).secrets[0].secret
    })
    afterAll(async () => {
      await site.place.run(['org', 'set', 'identityMode', 'off'])
    })
    const hashOf = (person: string) => createHmac('sha256', secret).update(person).digest('hex')

    test('sends the hash with events, progress and heartbeats, also on the next page', async () => {
      const { page, noticed, says, button } = await openAsStranger()
      await goTo(page, 'proven')
      await says('proven one')
      const rejected: string[] = []
      page.on('response', response => {
        if (response.status() >= 400) rejected.push(response.url())
      })
      // Events from before the page knew the hash are sent with it.
      await button('Next').click()
      await identify(page, 'eve', {}, hashOf('eve'))
      await button('Done').click()
      await allSent(page)
      const { totals } = await site.until('proven', ({ totals }) => totals.completions === 1)
      expect(totals).toMatchObject({ starts: 1, completions: 1 })
      const progressResponse = page.waitForResponse(/progress.*userHash/)
      await page.goto(`${site.url}/projects?case=progress`)
      expect(new URL((await progressResponse).url()).searchParams.get('userHash')).toBe(
        hashOf('eve'),
      )
      await shown(page).panel.waitFor()
      await tick('eve', 'a', { userHash: hashOf('eve') })
      await hears(page, 'A')
      expect(beats(noticed.requests).some(url => url.includes(hashOf('eve')))).toBe(true)
      expect(rejected).toEqual([])
      // The browser keeps nothing of a person who has signed out.
      await call(page, 'reset')
      expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(
        hashOf('eve'),
      )
    })

    test('counts nothing with a wrong hash, says so in the console, and still shows tours', async () => {
      const { page, noticed, person } = await site.visit('/projects?case=unproven', { clock: true })
      const { title, says, button } = shown(page)
      await says('unproven one')
      await call(page, 'identify', person, {}, 'f'.repeat(64))
      const messages = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
      await button('Next').click()
      await button('Done').click()
      await title.waitFor({ state: 'detached' })
      const answered = page.waitForResponse(response => response.url().endsWith('/events'))
      await pass(page, 6_000)
      expect((await answered).status()).toBe(401)
      expect((await site.numbers('unproven')).totals.starts).toBe(0)
      // The flows can still be loaded, without the user, because their bucket is not paused.
      await page.goto(`${site.url}/projects?case=progress`)
      await shown(page).panel.waitFor()
      expect(new Set(messages())).toEqual(
        new Set([
          'cairn: refused (401): the user hash is missing or wrong ("cairn org identity show")',
        ]),
      )
    })
  })
})
