import { expect } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, html, Site, shown } from '../support/site.ts'

/** How pages can include the snippet, on pages that change built-in functions or use frames. */

/** Does what Prototype.js 1.6 and MooTools do. Each `toJSON` returns the JSON text of its value. */
const oldLibrary = `
  const written = JSON.stringify
  const bare = (value, what) => { const { toJSON } = what; delete what.toJSON; const text = written(value); what.toJSON = toJSON; return text }
  for (const { prototype } of [Array, String, Number, Boolean, Date, Object]) {
    prototype.toJSON = function () { return bare(this, prototype) }
  }
  Array.from = items => items == null ? [] : Array.prototype.slice.call(items)
  Array.prototype.each = function (of) { this.forEach(of) }
  Array.prototype.entries = function () { return this.slice() }
  Array.prototype.reduce = function () { return this.length > 1 ? this : this[0] }
  Array.prototype.find = function (is) { let found; this.each((one, i) => { if (found === undefined && is(one, i)) found = one }); return found }
  Object.prototype.extend = function () { return this }
  Object.keys = value => { const names = []; for (const name in value) names.push(name); return names }
  Object.values = value => Object.keys(value).map(name => value[name])
  Element.prototype.show = Element.prototype.hide = function () { return this }
  const OwnElement = Element
  window.Element = function (tag) { return document.createElement(tag) }
  window.Element.prototype = OwnElement.prototype`

/** A monitoring script that changes or loses requests. */
const monitor = (fault: string) => `
  const ownFetch = window.fetch
  window.fetch = function (url, init = {}) { ${fault} }
  Response.prototype.json = async () => ({ error: 'recorded' })
  Navigator.prototype.sendBeacon = function () { return true }
  const send = XMLHttpRequest.prototype.send
  XMLHttpRequest.prototype.send = function () { return send.call(this, 'recorded') }
  const listens = EventTarget.prototype.addEventListener
  EventTarget.prototype.addEventListener = function (name, listener, how) {
    const wrapped = typeof listener === 'function' ? function (event) { return listener.call(this, event) } : listener
    return listens.call(this, name, wrapped, how)
  }
  crypto.randomUUID = () => 'recorded'`

const otherPromise = `
  const Native = Promise
  window.Promise = function (work) {
    const made = new Native(work)
    this.then = (...on) => made.then(...on)
  }
  window.Promise.resolve = value => new window.Promise(done => done(value))`

const changed = {
  'a library that adds toJSON': oldLibrary,
  'another JSON': `JSON.stringify = value => String(value); JSON.parse = () => ({ events: 'recorded' })`,
  'no JSON': 'window.JSON = { encode: String, decode: String }',
  'a monitor that changes headers and bodies': monitor(
    `return ownFetch(url, { ...init, headers: { 'X-Page': 'yes' }, body: init.body && '{"recorded":true}' })`,
  ),
  'a monitor that never answers': monitor('return new Promise(() => {})'),
  'a bound monitor that throws': `${monitor("throw new Error('recorded')")}; window.fetch = window.fetch.bind(window)`,
  'another Promise': otherPromise,
}

/** What each page changes, before or after the snippet. */
const changes: { name: string; change: string; isLate: boolean }[] = [
  ...Object.entries(changed).map(([name, change]) => ({ name, change, isLate: false })),
  {
    name: 'all of them, after the snippet',
    change: Object.values(changed)
      .map(change => `{ ${change} }`)
      .join(';'),
    isLate: true,
  },
]

const changedFlow = (key: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: /changed/${key} }] }
  steps: [{ key: one, kind: modal, title: One }, { key: two, title: Two, target: { selector: h1 } }]
`

/** How pages hide a frame. */
const hidden = {
  none: 'display: none',
  'no-size': 'width: 0; height: 0; border: 0',
  'one-pixel': 'width: 1px; height: 1px; border: 0',
  outside: 'position: absolute; left: -9999px',
  invisible: 'visibility: hidden',
  transparent: 'opacity: 0',
  clipped: 'position: absolute; clip: rect(0, 0, 0, 0)',
}
const visible = 'position: fixed; inset: 0; width: 600px; height: 400px'

const frameFlows = ['framed', 'whole']
  .map(
    key => `
- key: ${key}
  targeting: { urls: [{ match: prefix, pattern: /${key} }] }
  steps: [{ key: one, kind: modal, title: One }]
`,
  )
  .join('')

const flows = `
- key: bound
  targeting: { urls: [{ match: prefix, pattern: /settings }] }
  steps:
    - { key: one, kind: modal, title: One }
    - { key: two, kind: modal, title: Two }
- key: everywhere
  targeting: { urls: [{ match: prefix, pattern: /own }] }
  steps:
    - { key: hi, title: Hi, target: { selector: h1 } }
${changes.map((_, i) => changedFlow(`page-${i}`)).join('')}
${frameFlows}
`

let site: Site
let changedPages: string
let framePages: string
beforeAll(async () => {
  site = await Site.open(flows)
  changedPages = site.serve(({ pathname }) => {
    const variant = changes[Number(/^\/changed\/page-(\d+)$/.exec(pathname)?.[1] ?? -1)]
    if (!variant) return new Response('Other')
    const { isLate } = variant
    const change = `{ ${variant.change} }`
    // The page makes its calls while it loads, because its changes may break later calls of its own.
    const says = `
      const name = location.hash.slice(1)
      addEventListener('load', () => {
        ${isLate ? change : ''}
        cairn.identify(name, { plan: 'pro' })
        cairn.track('made', { list: ['a', { deep: [1, 'x"y'] }], at: new Date(0), n: 3, none: null })
      })`
    const script = isLate ? says : change + says
    return html(`<script>${script}</script>${site.tag()}`)
  })
  const tag = site.tag()
  const frames = (more: string) =>
    Object.entries(hidden)
      .map(
        ([name, style]) => `<iframe ${more} name=${name} style="${style}" src="/framed"></iframe>`,
      )
      .join('')
  const bodies: Record<string, string> = {
    '/framed': tag,
    '/same': `${frames('')}<div style="visibility: hidden"><iframe src="/framed"></iframe></div>`,
    '/sandboxed': frames('sandbox="allow-scripts"'),
    '/whole': `<iframe src="/whole/frame" style="display: none"></iframe>${tag}`,
    '/whole/frame': tag,
  }
  framePages = site.serve(({ pathname }) => html(bodies[pathname] ?? ''))
})
afterAll(() => site.close())

/** Serves these pages on their own host. */
const serve = (pages: Record<string, () => Response>) =>
  site.serve(({ pathname }) => pages[pathname]?.() ?? new Response('', { status: 404 }))

/** The tag that `cairn key show` prints for this version alone, on a public site. */
async function pinnedTag(more = ''): Promise<string> {
  const { stdout } = await site.place.run(['key', 'show', '--public-url', site.server.url])
  const found = stdout.match(/<script[^>]*integrity="[^>]*><\/script>/g)?.at(-1) ?? ''
  return found.replace('<script', `<script${more}`)
}

test('an application that goes elsewhere and back resumes its tour where it was', async () => {
  const { page } = await site.visit('/settings/people')
  const { title, button, card } = shown(page)
  await button('Next').click()
  await title.getByText('Two').waitFor()
  await page.locator('nav a[href="/projects"]').evaluate(link => (link as HTMLElement).click())
  await card.waitFor({ state: 'detached' })
  await page.goBack()
  await title.getByText('Two').waitFor()
  await allSent(page)
  const { totals } = await site.until('bound', ({ totals }) => totals.starts === 1)
  expect(totals).toMatchObject({ starts: 1, dismissals: 0 })
})

test('a page whose head comes long before its body shows its tour once it has a body', async () => {
  const head = '<!doctype html><html lang="en"><head><title>Own</title>'
  const body = Promise.withResolvers<void>()
  const slowly = (text: string) => {
    const chunks = async function* () {
      yield text
      await body.promise
      yield '</head><body><h1>Own</h1></body></html>'
    }
    return new Response(chunks() as never, { headers: { 'Content-Type': 'text/html' } })
  }
  const pages = serve({ '/own': () => slowly(head + site.tag()) })
  const { page, noticed } = await site.browser.page()
  let requests = 0
  page.on('request', request => {
    if (request.url().includes('renderer')) requests++
  })
  const flows = page.waitForResponse(/\/api\/v1\/flows/)
  await page.goto(`${pages}/own`, { waitUntil: 'commit' })
  await flows
  await rest(page)
  body.resolve()
  await shown(page).title.getByText('Hi').waitFor()
  expect(requests).toBe(1)
  expect(noticed.complaints.filter(text => !/404/.test(text))).toEqual([])
})

describe('a strict policy', () => {
  test('allows the snippet by nonce, by host, by strict-dynamic and by a pinned tag', async () => {
    const [own, pinned] = [site.tag(' nonce="abc"'), await pinnedTag(' nonce="abc"')]
    const policies: Record<string, [scripts: string, tag: string]> = {
      nonce: ["'nonce-abc'", own],
      'nonce-or-host': [`'nonce-abc' ${site.server.url}`, own],
      'strict-dynamic': ["'nonce-abc' 'strict-dynamic'", own],
      'pinned-by-nonce': ["'nonce-abc'", pinned],
      'pinned-by-host': [site.server.url, await pinnedTag()],
    }
    const pages = site.serve(({ pathname }) => {
      const [scripts, tag] = policies[pathname.slice('/own/'.length)]!
      return html(tag, {
        'Content-Security-Policy': `default-src 'none'; img-src data:; script-src ${scripts}; connect-src ${site.server.url}; base-uri 'none'; require-trusted-types-for 'script'`,
      })
    })
    const { page, noticed } = await site.browser.page()
    for (const name of Object.keys(policies)) {
      await page.goto(`${pages}/own/${name}`)
      await shown(page).title.getByText('Hi').waitFor()
      expect([name, noticed.complaints.filter(text => /polic|Refused/i.test(text))]).toEqual([
        name,
        [],
      ])
    }
  })

  test('runs neither a pinned tag with a wrong hash nor a changed part of the pinned script', async () => {
    const pinned = await pinnedTag()
    const pages = serve({
      '/own': () => html(pinned),
      '/own/wrong': () => html(pinned.replace(/sha384-.{4}/, 'sha384-AAAA')),
    })
    const { page, noticed } = await site.browser.page()
    await page.goto(`${pages}/own/wrong`)
    await until(() => noticed.complaints.splice(0).join().includes('integrity'))
    await rest(page)
    expect(await page.evaluate("'cairn' in window")).toBe(false)
    const renderer = '**/snippet-renderer-*.js'
    await page.route(renderer, async route => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `window.changed = true;${await response.text()}` })
    })
    await page.goto(`${pages}/own`)
    await until(() => noticed.complaints.join().includes('integrity'))
    await rest(page)
    expect(await page.evaluate("'changed' in window")).toBe(false)
    expect(await shown(page).card.count()).toBe(0)
    await page.unroute(renderer)
    await page.reload()
    await shown(page).title.getByText('Hi').waitFor()
    expect(await page.locator('link[href^=http]').count()).toBe(0)
  })
})

test('if storage is refused, tours are shown and reported', async () => {
  const pages = serve({ '/own': () => html(site.tag()) })
  const before = await site.numbers('everywhere')
  const { page, noticed } = await site.browser.page({ clock: true })
  await page.addInitScript(
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })",
  )
  await page.goto(`${pages}/own`)
  await shown(page).button('Done').click()
  await shown(page).card.waitFor({ state: 'detached' })
  await pass(page, 6_000)
  await site.until('everywhere', ({ totals }) => totals.completions > before.totals.completions)
  expect(noticed.complaints.filter(text => !/404/.test(text))).toEqual([])
})

test('two tabs of a page without Web Locks do not show the same step', async () => {
  const { page } = await site.browser.page()
  const context = page.context()
  await context.addInitScript(
    "Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined })",
  )
  await page.goto(`${site.url}/settings/people`)
  await shown(page).title.getByText('One').waitFor()
  const second = await context.newPage()
  await second.goto(`${site.url}/settings/people`)
  await rest(second)
  // In real time, because a test's clock may run ahead in one tab, and a lease from the future is ignored.
  const lease = () =>
    second.evaluate(() => Object.entries(localStorage).find(([name]) => name.includes(':lease:')))
  for (let renewals = 0; renewals < 2; renewals++) {
    const before = String(await lease())
    await until(lease, now => String(now) !== before)
  }
  expect(await shown(second).card.count()).toBe(0)
  await page.close()
  // A closed tab leaves its lease behind for some seconds.
  await shown(second).title.getByText('One').waitFor()
})

describe('as a module', () => {
  const use = () =>
    `import { cairn } from './vendor/cairn.js'\nconst tours = cairn({ baseUrl: '${site.server.url}', key: '${site.snippetKey}' })\ntours.identify('ann')\n`

  /** What a bundler makes of a page's code and the module. */
  async function bundled(): Promise<string> {
    const folder = site.place.folder
    await site.place.run(['snippet', 'write', 'vendor'])
    await Bun.write(join(folder, 'app.ts'), use())
    const { outputs } = await Bun.build({
      entrypoints: [join(folder, 'app.ts')],
      target: 'browser',
    })
    return (await outputs[0]?.text()) ?? ''
  }

  test('in a bundle it shows tours, and leaves no global at all', async () => {
    const script = await bundled()
    const pages = serve({
      '/own': () => html('<script type="module" src="/app.js"></script>'),
      '/app.js': () => new Response(script, { headers: { 'Content-Type': 'text/javascript' } }),
    })
    const { page, noticed } = await site.browser.page()
    await page.goto(`${pages}/own`)
    await shown(page).title.getByText('Hi').waitFor()
    expect(await page.evaluate("'cairn' in window")).toBe(false)
    expect(noticed.requests.filter(url => url.includes('snippet'))).toEqual([])
  })

  describe('where a server draws the page', () => {
    /** The same code on both sides: what it draws, and what it does once the page is there. */
    const app = () =>
      `${use()}export const draw = () => '<main id="app"><p>Drawn</p></main>'\nexport const calls = () => ([tours.identify('ann'), tours.track('a'), tours.start('a'), tours.stop(), tours.reset(), typeof tours.on('flow_started', () => {}), tours.on('flow_started', () => {})(), tours.consent(true)])\n`
    const onServer = `import { calls, draw } from './server.js'\nimport { cairn } from './vendor/cairn.js'\ncairn({ baseUrl: 'https://cairn.example.com', key: 'k' })\nconsole.log(JSON.stringify([draw(), await Promise.all(calls())]))\n`

    async function drawn() {
      const folder = site.place.folder
      await site.place.run(['snippet', 'write', 'vendor'])
      await Bun.write(join(folder, 'server.js'), app())
      await Bun.write(join(folder, 'package.json'), '{ "type": "module" }')
      await Bun.write(join(folder, 'run.js'), onServer)
      const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, 'run.js'], {
        cwd: folder,
      })
      return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode }
    }

    test('on the server it does nothing, says so once, and every call can be made', async () => {
      const { stdout, stderr, exitCode } = await drawn()
      expect([exitCode, stderr.match(/cairn: .*/g)]).toEqual([
        0,
        ['cairn: there is no page here, so it does nothing: it begins in the browser'],
      ])
      const nothing = null
      expect(JSON.parse(stdout)[1]).toEqual([
        ...['alone', nothing, nothing, nothing, 'alone'],
        ...['function', nothing, nothing],
      ])
    })

    test('in the browser the same code begins, on the page as it was rendered', async () => {
      const [markup] = JSON.parse((await drawn()).stdout)
      const { outputs } = await Bun.build({
        entrypoints: [join(site.place.folder, 'server.js')],
        target: 'browser',
      })
      const script = (await outputs[0]?.text()) ?? ''
      const pages = serve({
        '/own': () => html(`${markup}<script type="module" src="/app.js"></script>`),
        '/app.js': () => new Response(script, { headers: { 'Content-Type': 'text/javascript' } }),
      })
      const { page, noticed } = await site.browser.page()
      await page.goto(`${pages}/own`)
      await shown(page).title.getByText('Hi').waitFor()
      expect(await page.locator('#app').evaluate(main => main.outerHTML)).toBe(markup)
      expect(noticed.complaints.filter(text => !/404/.test(text))).toEqual([])
    })
  })

  test('it works in the world of an extension’s content script, and the page knows nothing of it', async () => {
    const script = (await bundled()).replace(/^export\s*\{[^}]*\};?\s*$/m, '')
    const policy = `script-src 'none'; style-src 'none'; connect-src ${site.server.url}`
    const pages = serve({ '/own': () => html('', { 'Content-Security-Policy': policy }) })
    const { page } = await site.browser.page()
    await page.goto(`${pages}/own`)
    const session = await page.context().newCDPSession(page)
    const { frameTree } = await session.send('Page.getFrameTree')
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      grantUniveralAccess: true,
    })
    const { exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId: executionContextId,
      expression: `(() => {${script}})()`,
    })
    expect(exceptionDetails).toBeUndefined()
    await shown(page).title.getByText('Hi').waitFor()
    expect(await page.evaluate("'cairn' in window")).toBe(false)
  })
})

test('a page shows the flows of an older or a newer server', async () => {
  const { page, noticed } = await site.browser.page()
  const flow = (await site.flows()).find(({ key }) => key === 'bound')!
  const { id, key, name, version, publishedAt, priority, steps } = flow
  const older = {
    ...{ id, key, name, kind: 'tour', version, publishedAt, priority, frequency: 'always' },
    targeting: { urls: [], audience: { match: 'all', rules: [] } },
    theme: { accent: '#0b7285', background: null, text: null, radius: 8 },
    steps: steps.map(({ id, key, position, title, body, target, placement, advance }) => ({
      ...{ id, key, position, kind: 'modal', title, body, target, placement, advance },
      buttons: [],
    })),
    checklist: null,
  }
  const newer = {
    ...{ ...flow, frequency: 'always', mood: 'calm', theme: { ...flow.theme, glow: 3 } },
    targeting: { ...flow.targeting, urls: [], weather: [{ match: 'exact', sky: 'blue' }] },
    steps: steps.map(step => ({ ...step, kind: 'modal', sound: { file: '/ping' } })),
  }
  let sent: object = older
  await page.route(/\/api\/v1\/flows(\?|$)/, route =>
    route.fulfill({
      json: { flows: [sent], version: 'other', tide: 'high' },
      headers: { 'Access-Control-Allow-Origin': '*' },
    }),
  )
  for (sent of [older, newer]) {
    await page.goto(`${site.url}/settings/people`)
    const { says, button } = shown(page)
    await says('One')
    await button('Next').click()
    await says('Two')
    await button('Done').click()
    await shown(page).card.waitFor({ state: 'detached' })
    await page.evaluate('localStorage.clear()')
  }
  expect(noticed.complaints).toEqual([])
})

interface Stored {
  id: string
  kind: string
  name: string | null
  properties: unknown
  runId: string | null
}

async function eventsOf(userId: string): Promise<Stored[]> {
  const { stdout } = await site.place.run(['person', 'export', userId, '--org', 'harbor'])
  return stdout === '' ? [] : (JSON.parse(stdout) as { events: Stored[] }).events
}

const uuid7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

test.each(changes.map(({ name }, i) => [name, i] as const))(
  'on a page with %s, requests, storage and responses stay correct',
  async (_, i) => {
    const key = `page-${i}`
    const userId = `user-of-${key}`
    const { page } = await site.browser.page()
    const sent: { headers: Record<string, string>; body: string; key: string | null }[] = []
    page.on('request', request => {
      const { pathname, searchParams } = new URL(request.url())
      if (!pathname.startsWith('/api/v1/') || request.method() === 'OPTIONS') return
      sent.push({
        headers: request.headers(),
        body: request.postData() ?? '{}',
        key: searchParams.get('key'),
      })
    })
    const address = `${changedPages}/changed/${key}#${userId}`
    const { title, button } = shown(page)
    const visit = async () => {
      await page.goto(address)
      await page.waitForLoadState('load')
    }
    await visit()
    await title.getByText('One', { exact: true }).waitFor()
    expect(await page.locator('iframe, html > div').count()).toBe(0)
    await button('Next').click()
    await title.getByText('Two', { exact: true }).waitFor()
    // The remaining events are sent as a beacon.
    await page.goto(`${changedPages}/other`)
    await visit()
    await title.getByText('Two', { exact: true }).waitFor()
    await button('Done').click()
    await title.waitFor({ state: 'detached' })
    await page.goto(`${changedPages}/other`)

    const events = await until(
      () => eventsOf(userId),
      found => found.filter(({ kind }) => kind === 'flow_completed').length === 1,
    )
    const kinds = events.map(({ kind }) => kind).filter(kind => kind !== 'custom')
    expect(kinds.toSorted()).toEqual([
      'flow_completed',
      'flow_started',
      'step_completed',
      'step_completed',
      'step_viewed',
      'step_viewed',
    ])
    for (const { id } of events) expect(id).toMatch(uuid7)
    expect(new Set(events.flatMap(({ runId }) => runId ?? [])).size).toBe(1)
    expect(
      events.filter(({ name }) => name === 'made').map(({ properties }) => properties),
    ).toEqual(
      Array(2).fill({
        list: ['a', { deep: [1, 'x"y'] }],
        at: '1970-01-01T00:00:00.000Z',
        n: 3,
        none: null,
      }),
    )
    expect(sent).not.toBeEmpty()
    for (const { headers, body, key } of sent) {
      expect(JSON.parse(body)).toBeObject()
      // The key is in a header or, where that would need a preflight request, in the query.
      const bearer = headers.authorization?.replace('Bearer ', '') ?? null
      expect([bearer, key].filter(value => value !== null)).toEqual([site.snippetKey])
      expect(headers['x-page']).toBeUndefined()
    }
  },
)

describe('in frames', () => {
  async function open(path: string, clock = false) {
    const visitor = await site.browser.page({ clock })
    await visitor.page.goto(framePages + path)
    return visitor
  }

  const style = (page: Page, name: string, value: string) =>
    page.locator(`iframe[name=${name}]`).evaluate((frame, value) => {
      frame.setAttribute('style', value)
    }, value)

  const cardIn = (page: Page, name: string) =>
    page.frameLocator(`iframe[name=${name}]`).locator('[data-cairn] .card')

  test('hidden frames do nothing until they are visible', async () => {
    const { page, noticed } = await open('/same', true)
    await pass(page, 120_000)
    expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(await page.evaluate('navigator.locks.query().then(({ held }) => held)')).toEqual([])
    // Only one frame is visible at a time, because it blocks the others.
    for (const [name, value] of Object.entries(hidden)) {
      await style(page, name, visible)
      // The browser notifies the frame in real time, but the frame checks by the page's clock.
      const card = cardIn(page, name)
      while (!(await card.isVisible())) await pass(page, 500)
      await style(page, name, value)
      // A clipped frame may also be scrolled out of view, which does not count as hidden.
      if (name !== 'clipped') while ((await card.count()) > 0) await pass(page, 500)
    }
  })

  test('sandboxed frames do nothing until they are visible', async () => {
    const { page, noticed } = await open('/sandboxed')
    await rest(page)
    expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
    await style(page, 'none', visible)
    await cardIn(page, 'none').waitFor()
  })

  test('a hidden copy of an application neither blocks it nor is counted', async () => {
    const { page } = await open('/whole')
    const { card, button } = shown(page)
    await card.waitFor()
    await button('Done').click()
    await allSent(page)
    const { totals } = await site.until('whole', ({ totals }) => totals.completions === 1)
    expect(totals.starts).toBe(1)
  })
})
