import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { installStub } from '../../src/web/install-code.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, call, type Numbers, Site, shown } from '../support/site.ts'

/**
 * Events are counted once, whatever happens to the tab, the connection, the storage and the server, and nothing
 * else is reported.
 */

const cases = ['closed', 'offline', 'limited', 'full', 'tabs', 'flood', 'portal', 'alien', 'clock']
const flows = [...cases, 'rotated', 'private']
  .map(
    key => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: one, kind: modal, title: One }
    - { key: two, kind: modal, title: Two }
`,
  )
  .join('')

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

/** Opens a page with a controlled clock. `prepare` runs on it before its own scripts. */
const blank = async (prepare = '') => {
  const { page, noticed, person } = await site.browser.page({ clock: true })
  if (prepare) await page.addInitScript(prepare)
  const reports: string[] = []
  page.on('request', request => {
    if (!/\/(events|heartbeat|health|fingerprint)\b/.test(request.url())) return
    reports.push(decodeURIComponent(`${request.url()} ${request.postData() ?? ''}`))
  })
  const sends = () => noticed.requests.filter(url => url.endsWith('/events')).length
  const goTo = (key: string) => page.goto(`${site.url}/projects?case=${key}`)
  return { page, noticed, person, reports, sends, goTo, ...shown(page) }
}

const open = async (key: string, prepare = '') => {
  const visitor = await blank(prepare)
  await visitor.goTo(key)
  await visitor.title.waitFor()
  return visitor
}

/** Disables beacons, because `route` does not see them. The snippet takes a proxy for the browser's own function. */
const noBeacons =
  'Navigator.prototype.sendBeacon = new Proxy(Navigator.prototype.sendBeacon, { apply: () => false })'

/** The headers that let pages read Cairn's own responses. */
const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }

/** The number of queued events in the browser, and the name of the last one. */
const waiting = (page: Page) =>
  page.evaluate(() => {
    const names = Object.keys(localStorage).filter(name => name.includes(':out:'))
    const events = names.flatMap(name => JSON.parse(localStorage.getItem(name) ?? '{}').events)
    return { count: events.length, last: events.at(-1)?.name as string | undefined }
  })

/** Lets the next page send the queued events, because tests do not see beacons. */
const sent = async (page: Page) => {
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
}

const storedNames = (page: Page) =>
  page.evaluate('Object.keys(localStorage).map(name => name.split(":").at(2))') as Promise<string[]>

/** Counts the beacons that the browser has taken. */
const countBeacons =
  'const apply = (own, page, sent) => { const isTaken = Reflect.apply(own, page, sent); if (isTaken) localStorage.beacons = Number(localStorage.beacons ?? 0) + 1; return isTaken }; Navigator.prototype.sendBeacon = new Proxy(Navigator.prototype.sendBeacon, { apply })'

describe('a tab', () => {
  test('that is closed during a step has reported all of its events', async () => {
    const { page, says, button } = await open('closed', countBeacons)
    await button('Next').click()
    await says('Two')
    await page.close({ runBeforeUnload: false })
    const next = await page.context().newPage()
    await next.goto(`${site.url}/settings/people`)
    expect(await next.evaluate('Number(localStorage.beacons)')).toBe(1)
    // Of some hundred closed tabs, the browser loses the beacon of one, which the next page makes up for.
    await allSent(next)
    const { totals, steps } = await site.until('closed', ({ steps }) => steps[1]!.reached === 1)
    expect(totals).toMatchObject({ starts: 1, inProgress: 1 })
    expect(steps.map(({ reached, completed }) => `${reached} ${completed}`)).toEqual(['1 1', '1 0'])
  })

  test('that goes to another page sends its events once', async () => {
    const { page, button } = await open('closed', countBeacons)
    await button('Next').click()
    await page.goto(`${site.url}/settings/people`)
    expect(await page.evaluate('Number(localStorage.beacons)')).toBe(1)
  })

  test('does not show the step of another tab, and continues that tour once the other tab is closed', async () => {
    const { page, says, button } = await open('tabs')
    const second = await page.context().newPage()
    await second.goto(page.url())
    await rest(second)
    expect(await shown(second).card.count()).toBe(0)
    await button('Next').click()
    await says('Two')
    expect(await shown(second).card.count()).toBe(0)
    await page.close()
    await second.bringToFront()
    await shown(second).says('Two')
    await shown(second).button('Done').click()
    await sent(second)
    const isAll = ({ totals, steps }: Numbers) =>
      totals.completions === 1 && steps[1]!.reached === 1
    const { totals, steps } = await site.until('tabs', isAll)
    expect(totals.starts).toBe(1)
    expect(steps.map(({ reached }) => reached)).toEqual([1, 1])
  })
})

describe('without a connection', () => {
  test('events are sent once when it returns, by the next page if this one is closed', async () => {
    const { page, title, button, says } = await open('offline')
    const context = page.context()
    await context.setOffline(true)
    await button('Next').click()
    const failed = page.waitForEvent('requestfailed', request => request.url().endsWith('/events'))
    await pass(page, 6_000)
    await failed
    expect((await site.numbers('offline')).steps[1]!.reached).toBe(0)
    await context.setOffline(false)
    await site.until('offline', ({ steps }) => steps[1]!.reached === 1)
    await says('Two')
    await context.setOffline(true)
    await button('Done').click()
    await title.waitFor({ state: 'detached' })
    await page.close()
    await context.setOffline(false)
    const next = await context.newPage()
    await next.goto(`${site.url}/settings/people`)
    await site.until('offline', ({ totals }) => totals.completions === 1)
    await next.reload()
    await allSent(next)
    const { totals } = await site.numbers('offline')
    expect(totals).toMatchObject({ starts: 1, completions: 1 })
  })

  test('the newest thousand events are kept and sent in batches, and one that is too large does not block them', async () => {
    const { page, sends } = await open('flood', noBeacons)
    await page.context().setOffline(true)
    await page.evaluate('for (let i = 0; i < 1200; i++) cairn.track("event_" + i)')
    await pass(page, 500)
    expect(await waiting(page)).toEqual({ count: 1_000, last: 'event_1199' })
    await page.evaluate('cairn.track("large", { text: "x".repeat(1200000) })')
    await pass(page, 500)
    const before = sends()
    await page.context().setOffline(false)
    await allSent(page)
    expect(sends() - before).toBeLessThanOrEqual(50)
  })
})

describe('a proxy or a server', () => {
  test('that answers in place of Cairn loses no events', async () => {
    const { page, goTo, title } = await blank(noBeacons)
    await page.route('**/api/v1/events', route =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>', headers: cors }),
    )
    await goTo('portal')
    await title.waitFor()
    const answered = page.waitForResponse(response => response.url().endsWith('/events'))
    await pass(page, 6_000)
    await answered
    expect((await waiting(page)).count).toBeGreaterThan(0)
    await page.unroute('**/api/v1/events')
    await sent(page)
    await site.until('portal', ({ totals }) => totals.starts === 1)
  })

  test('that sends an invalid Retry-After causes no storm of requests or timers', async () => {
    for (const retryAfter of ['-5', '99999999', 'soon']) {
      const { page, goTo, title } = await blank(
        `${noBeacons}; let count = 0; const own = window.setTimeout; window.setTimeout = (...args) => { count++; return own(...args) }; window.timers = () => count`,
      )
      let requests = 0
      await page.route('**/api/v1/events', route => {
        requests++
        return route.fulfill({
          status: 503,
          contentType: 'application/json',
          body: '{}',
          headers: { ...cors, 'Retry-After': retryAfter },
        })
      })
      await goTo('flood')
      await title.waitFor()
      await page.evaluate('for (let i = 0; i < 25; i++) cairn.track("event_" + i)')
      await pass(page, 500)
      const before = (await page.evaluate('timers()')) as number
      await pass(page, 1_500)
      const timers = ((await page.evaluate('timers()')) as number) - before
      // On a busy machine the first pause of five seconds may be over by then.
      expect([retryAfter, requests <= 2, timers < 20]).toEqual([retryAfter, true, true])
    }
  })

  test('that limits the rate gets the events later, and none is lost', async () => {
    await site.place.run(['org', 'set', 'limits.events', '1', '--org', 'harbor'])
    const first = await open('limited')
    await first.button('Next').click()
    await first.page.close()
    const { page, button, title, sends } = await open('limited')
    await button('Next').click()
    await button('Done').click()
    await title.waitFor({ state: 'detached' })
    await pass(page, 7_000)
    // At most one request: none if the beacon came first.
    expect(sends()).toBeLessThanOrEqual(1)
    await site.place.run(['org', 'set', 'limits.events', '100000', '--org', 'harbor'])
    // The next page does not have to wait.
    await page.goto(`${site.url}/settings/people`)
    await site.until('limited', ({ totals }) => totals.completions === 1)
  })

  test('that cannot store events gets all of them later', async () => {
    const port = new URL(site.server.url).port
    await site.server.end()
    const env = { CAIRN_FAILPOINTS: 'before_commit=full' }
    site.server = await site.place.serve(['--port', port], env)
    const { page, title, button, sends } = await open('full')
    await button('Next').click()
    await button('Done').click()
    await title.waitFor({ state: 'detached' })
    await pass(page, 6_000)
    expect(sends()).toBeGreaterThan(0)
    await site.server.end('SIGKILL')
    site.server = await site.place.serve(['--port', port])
    // The wait after repeated rejections has ended by then.
    await pass(page, 60_000)
    const { totals } = await site.until('full', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 1 })
  })
})

describe('the storage of the browser', () => {
  test('does not break the page if others write to it or if its clock was years ahead', async () => {
    const { page, goTo, noticed, title } = await blank()
    await page.goto(`${site.url}/settings/people`)
    await allSent(page)
    const prefix = await page.evaluate(
      "Object.keys(localStorage).find(name => name.endsWith(':person')).slice(0, -6)",
    )
    await page.waitForFunction(
      key => localStorage.getItem(key)?.includes('flowsVersion'),
      `${prefix}heartbeat`,
    )
    await page.goto('about:blank')
    // Before the page's scripts, because a page that is open may still write its own times.
    await page.addInitScript(`if (location.search === '?case=clock') {
      const ahead = Date.now() + 10 * 365 * 86_400_000
      const set = (name, value) => localStorage.setItem('${prefix}' + name, JSON.stringify(value))
      set('flows', { ...JSON.parse(localStorage['${prefix}flows']), askedAt: ahead })
      set('heartbeat', { ...JSON.parse(localStorage['${prefix}heartbeat']), at: ahead })
      set('out:killed', { savedAt: ahead, isLeft: false, events: [] })
    }`)
    noticed.requests.length = 0
    await goTo('clock')
    await title.waitFor()
    await allSent(page)
    const requestedHas = (path: string) => noticed.requests.some(url => url.includes(path))
    await until(() => requestedHas('/api/v1/flows?') && requestedHas('/heartbeat'))
    await page.goto('about:blank')
    await page.addInitScript(`if (location.search === '?case=alien') {
      const set = (name, value) => localStorage.setItem('${prefix}' + name, JSON.stringify(value))
      for (const name of Object.keys(localStorage)) if (name.includes(':runs:')) localStorage.removeItem(name)
      set('out:x', { savedAt: 0, isLeft: true, events: [null, 7, { id: 3 }, 'text', { id: 'bad' }] })
      set('out:y', { savedAt: 0, isLeft: true, events: 'none' })
      set('out:z', 7)
      set('past', { not: 'a list' })
      set('looks', 'none')
      set('session', 3)
      set('person', { userId: 5 })
      set('flows', { flows: 'none', askedAt: Date.now() })
    }`)
    noticed.complaints.length = 0
    await goTo('alien')
    await title.waitFor()
    await pass(page, 6_000)
    await site.until('alien', ({ totals }) => totals.starts === 1)
    // The server answers 422 to data that only looks like an event.
    expect(noticed.complaints.filter(text => !text.includes('422'))).toEqual([])
  })

  test('is read under a rotated key: the history, the person and the queued events', async () => {
    const { page, goTo, title, button } = await open('rotated')
    await button('Close').click()
    await sent(page)
    const personOf = () =>
      page.evaluate(
        "Object.entries(localStorage).filter(([name]) => name.endsWith(':person')).map(([, text]) => text)",
      )
    const before = await personOf()
    await page.evaluate(`{
      const name = Object.keys(localStorage).find(name => name.endsWith(':person'))
      const event = { id: crypto.randomUUID(), kind: 'custom', name: 'waiting', anonymousId: 'x' }
      const queue = { savedAt: 0, isLeft: true, events: [event] }
      localStorage.setItem(name.replace(/person$/, 'out:left'), JSON.stringify(queue))
    }`)
    await page.goto('about:blank')
    const { snippetKey } = await site.place.json<{ snippetKey: string }>(['key', 'rotate'])
    await page.addInitScript(
      `new MutationObserver(() => document.querySelector('script[data-key]')?.setAttribute('data-key', '${snippetKey}')).observe(document, { childList: true, subtree: true })`,
    )
    await goTo('rotated')
    await allSent(page)
    await rest(page)
    expect(await title.count()).toBe(0)
    expect(await personOf()).toEqual(before)
  })
})

describe('privacy', () => {
  const doNotTrack = (how: 'honour' | 'ignore') =>
    site.place.run(['org', 'set', 'honoursDoNotTrack', String(how === 'honour')])
  const wishes = {
    doNotTrack: "Object.defineProperty(Navigator.prototype, 'doNotTrack', { get: () => '1' })",
    globalPrivacyControl:
      "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })",
  }

  test('Do Not Track prevents every report if the organisation honours it, until the person consents', async () => {
    await doNotTrack('honour')
    for (const wish of Object.values(wishes)) {
      const { page, button, reports } = await open('private', wish)
      expect(await storedNames(page)).toEqual([])
      await button('Next').click()
      await page.goto('about:blank')
      expect(reports).toEqual([])
    }
    const { page, button, reports } = await open('private', wishes.doNotTrack)
    await call(page, 'consent', true)
    await button('Next').click()
    await sent(page)
    expect(reports.some(text => text.includes('/events'))).toBe(true)
    await page.waitForFunction(() => Object.keys(localStorage).some(name => /:past$/.test(name)))
    // An organisation that ignores it also gets the events from before the page knew the setting.
    await doNotTrack('ignore')
    // The server counts beacons too, which the browser's list of requests may lack.
    const before = await site.until('private', ({ totals }) => totals.starts > 0)
    expect(before.totals.starts).toBe(1)
    const other = await open('private', wishes.doNotTrack)
    await other.button('Next').click()
    await allSent(other.page)
    const { totals } = await site.until(
      'private',
      ({ steps }) => steps[1]!.reached === before.steps[1]!.reached + 1,
    )
    expect(totals.starts).toBe(before.totals.starts + 1)
  })

  test('denied consent prevents every report in all tabs, and is all that is stored, until it is given', async () => {
    const { page, reports, goTo, says } = await blank(
      `${installStub};if (location.search === '?case=private' && !sessionStorage.isDenied) { sessionStorage.isDenied = 1; cairn.consent(false) }`,
    )
    await goTo('private')
    await says('One')
    const second = await page.context().newPage()
    await second.goto(page.url())
    await call(second, 'track', 'unwanted')
    await pass(second, 10_000)
    expect(await storedNames(page)).toEqual(['consent'])
    await second.close()
    await page.reload()
    // Flows are part of the application, so the page still shows them.
    await says('One')
    expect(await storedNames(page)).toEqual(['consent'])
    expect(await page.context().cookies()).toEqual([])
    expect(reports).toEqual([])
    await call(page, 'consent', true)
    await shown(page).button('Next').click()
    await sent(page)
    expect(reports.some(text => text.includes('/events'))).toBe(true)
    // Consent denied in one tab applies to the other open tabs.
    await goTo('private')
    const other = await page.context().newPage()
    await other.goto(`${site.url}/settings/people`)
    await other.evaluate("addEventListener('storage', () => { hasHeard = true })")
    await call(page, 'consent', false)
    await other.waitForFunction(() => 'hasHeard' in globalThis)
    await call(other, 'track', 'unwanted')
    await pass(other, 10_000)
    expect(await storedNames(page)).toEqual(['consent'])
  })

  test('only listed traits are sent, with the start of a run', async () => {
    // The site sets role, plan, teamSize and daysSinceSignup for everybody.
    const start = async () => {
      const { page, person, button, reports } = await open('private')
      await button('Next').click()
      await sent(page)
      expect(reports.join()).not.toMatch(/daysSinceSignup|owner/)
      const { stdout } = await site.place.run(['person', 'export', person, '--org', 'harbor'])
      const { events, runs } = JSON.parse(stdout) as Record<
        string,
        { kind: string; traits: object }[]
      >
      const ofEvents = events!.filter(({ traits }) => traits !== null)
      return [ofEvents.map(({ kind, traits }) => [kind, traits]), runs!.map(({ traits }) => traits)]
    }
    expect(await start()).toEqual([[], [{}]])
    await site.place.run(['org', 'set', 'traits', 'plan', 'teamSize', 'absent'])
    const traits = { plan: 'team', teamSize: '3' }
    expect(await start()).toEqual([[['flow_started', traits]], [traits]])
    await site.place.run(['org', 'unset', 'traits', '--org', 'harbor'])
  })

  test('no query, fragment, input value or cookie is reported, except the query if the page keeps it', async () => {
    const { page, reports, says } = await blank()
    await page.goto(`${site.url}/settings/people?token=hush#secret`)
    // By then the page has sent its reports.
    await rest(page)
    await page.locator('#address').fill('ann.private@example.com')
    await page.evaluate("history.pushState(null, '', '/projects?case=private#secret')")
    await call(page, 'track', 'looked')
    await says('One')
    await allSent(page)
    expect(reports.join()).toContain('/settings/people')
    expect(reports.join()).not.toMatch(/hush|secret|case=|ann\.private/)
    expect(await page.context().cookies()).toEqual([])
    const keeps = await open(
      'private',
      "new MutationObserver(() => document.querySelector('script[data-key]')?.setAttribute('data-keep-query', '')).observe(document, { childList: true, subtree: true })",
    )
    await sent(keeps.page)
    expect(keeps.reports.join()).toContain('/projects?case=private')
  })

  test('an anonymous visitor keeps their id on the next page', async () => {
    const { page } = await open('private')
    const idOf = () =>
      page.evaluate(
        "JSON.parse(Object.entries(localStorage).find(([name]) => name.endsWith(':person'))[1]).anonymousId",
      )
    await call(page, 'reset')
    const before = await idOf()
    await page.route('**/app.js', route => route.fulfill({ contentType: 'text/javascript' }))
    await page.goto(`${site.url}/settings/people`)
    await rest(page)
    expect(await idOf()).toBe(before)
  })
})

describe('the calls of a page', () => {
  test('cause no errors even if invalid, and add only `cairn` to its globals', async () => {
    const { page, noticed } = await open('flood')
    await page.evaluate(`{
      const circle = {}
      circle.self = circle
      cairn.identify(null, 7)
      cairn.identify({}, [])
      cairn.track(undefined, circle)
      cairn.track('x'.repeat(500), { value: () => 1, big: 'x'.repeat(20_000) })
      cairn.start('nothing')
      cairn.on('flow_dismissed', () => { throw new Error('a listener of the page') })
      cairn.stop()
      cairn.stop()
      cairn.consent('maybe')
    }`)
    await pass(page, 10_000)
    expect(noticed.complaints.filter(text => !text.startsWith('cairn: '))).toEqual([])
    const own = await page.evaluate(() => {
      const frame = document.createElement('iframe')
      document.body.append(frame)
      const defaultNames = new Set(Object.getOwnPropertyNames(frame.contentWindow))
      return Object.getOwnPropertyNames(window).filter(name => !defaultNames.has(name))
    })
    expect(own.filter(name => !/^\d+$/.test(name))).toEqual(['cairn'])
  })

  /** The console messages of a script's calls, once there are `count`. */
  const messagesOf = async (script: string, count: number) => {
    const { page, noticed } = await blank(`${installStub};${script}`)
    await page.goto(`${site.url}/settings/notifications`)
    const messages = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
    await until(() => messages().length >= count)
    return { page, messages: messages().toSorted() }
  }

  test('report each mistake once in the console, and never throw', async () => {
    const { messages } = await messagesOf(
      `for (const draw of [1, 2]) { cairn.identify({ id: 1 }); cairn.track(); cairn.start('nope') }
      off = cairn.on('flow_complete', () => {}); addEventListener('load', () => off())`,
      4,
    )
    expect(messages).toEqual([
      'cairn: identify() needs a user id, which is a text',
      expect.stringContaining('cairn: on() knows no "flow_complete", but flow_started, '),
      'cairn: start() found no published flow "nope"',
      'cairn: track() needs a name',
    ])
  })

  test('report an implausible user id once, and accept it', async () => {
    const { page, messages } = await messagesOf(
      'for (const id of ["undefined", "null", "undefined", " ann", "ann\\n", NaN, "annull", "ann b", 0]) cairn.identify(id)',
      5,
    )
    expect(messages).toEqual(
      ['undefined', 'null', ' ann', 'ann\n', 'NaN']
        .map(id => `cairn: identify() got "${id}", which does not look like a user id`)
        .toSorted(),
    )
    expect(await page.evaluate("cairn.identify('undefined')")).toBe('known')
  })

  test('report a rejected key once', async () => {
    const { page, noticed } = await blank()
    await page.route('**/api/v1/**', route =>
      route.fulfill({
        status: 401,
        headers: { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' },
        contentType: 'application/json',
        body: '{"error":"Unauthorized"}',
      }),
    )
    await page.goto(`${site.url}/settings/notifications`)
    const messages = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
    await until(() => messages().length >= 1)
    await call(page, 'track', 'x')
    await pass(page, 60_000)
    expect(messages()).toEqual(['cairn: refused (401): the key is not current ("cairn key show")'])
  })
})
