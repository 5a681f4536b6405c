import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { html, Site, shown } from '../support/site.ts'

/** Pages whose other scripts overwrite what the browser has, before or after the snippet is loaded. */

/** As Prototype.js 1.6 and MooTools do it. Each `toJSON` gives the text of its value's JSON. */
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

/** A monitor that changes what is asked, or loses it. */
const monitor = (fault: string) => `
  const asks = window.fetch
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

const before = {
  'a library that adds toJSON': oldLibrary,
  'another JSON': `JSON.stringify = value => String(value); JSON.parse = () => ({ events: 'recorded' })`,
  'no JSON': 'window.JSON = { encode: String, decode: String }',
  'a monitor that changes headers and bodies': monitor(
    `return asks(url, { ...init, headers: { 'X-Page': 'yes' }, body: init.body && '{"recorded":true}' })`,
  ),
  'a monitor that never answers': monitor('return new Promise(() => {})'),
  'a bound monitor that throws': `${monitor("throw new Error('recorded')")}; window.fetch = window.fetch.bind(window)`,
  'another Promise': otherPromise,
}

/** What is changed on each page, before the snippet or after it. */
const variants: { name: string; change: string; isLate: boolean }[] = [
  ...Object.entries(before).map(([name, change]) => ({ name, change, isLate: false })),
  {
    name: 'all of them, after the snippet',
    change: Object.values(before)
      .map(change => `{ ${change} }`)
      .join(';'),
    isLate: true,
  },
]

const flow = (key: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: /own/${key} }] }
  steps: [{ key: one, kind: modal, title: One }, { key: two, title: Two, target: { selector: h1 } }]
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(variants.map((_, i) => flow(`page-${i}`)).join(''))
  pages = site.serve(({ pathname }) => {
    const variant = variants[Number(/^\/own\/page-(\d+)$/.exec(pathname)?.[1] ?? -1)]
    if (!variant) return new Response('Other')
    const { isLate } = variant
    const change = `{ ${variant.change} }`
    // Everything is said as the page is loaded. Later the page itself may no longer be able to.
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
})
afterAll(() => site.close())

interface Stored {
  id: string
  kind: string
  name: string | null
  properties: unknown
  runId: string | null
}

async function eventsOf(userId: string): Promise<Stored[]> {
  const { stdout } = await site.place.run(['person', 'export', 'harbor', userId])
  return stdout === '' ? [] : (JSON.parse(stdout) as { events: Stored[] }).events
}

const uuid7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

test.each(variants.map(({ name }, i) => [name, i] as const))(
  'on a page with %s what is sent, kept and read is right',
  async (_, i) => {
    const key = `page-${i}`
    const userId = `user-of-${key}`
    const { page } = await site.browser.page()
    const sent: { headers: Record<string, string>; body: string }[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (!pathname.startsWith('/api/v1/') || request.method() === 'OPTIONS') return
      sent.push({ headers: request.headers(), body: request.postData() ?? '{}' })
    })
    const address = `${pages}/own/${key}#${userId}`
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
    // What has not been sent goes as a beacon.
    await page.goto(`${pages}/other`)
    await visit()
    await title.getByText('Two', { exact: true }).waitFor()
    await button('Done').click()
    await title.waitFor({ state: 'detached' })
    await page.goto(`${pages}/other`)

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
    for (const { headers, body } of sent) {
      expect(JSON.parse(body)).toBeObject()
      const isBeacon = headers.authorization === undefined
      expect(headers.authorization).toBe(isBeacon ? undefined : `Bearer ${site.snippetKey}`)
      expect(headers['x-page']).toBeUndefined()
    }
  },
)
