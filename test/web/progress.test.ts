import { expect } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** A page that shows a checklist learns what a back end, or another browser, has ticked. */

const flows = `
key: list
kind: checklist
frequency: always
targeting: { urls: [{ match: prefix, pattern: /projects }] }
checklist: { items: [{ key: a, title: A }, { key: b, title: B }, { key: c, title: C }] }
`

/** The promised time for a stored tick to reach an open page, on that page's clock. Milliseconds. */
const promisedMs = 15_000

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const path = () => `/api/v1/flows/${site.flowId('list')}/checklist-progress`

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

/** Lets time pass until the page shows the tick, and no longer than was promised. */
async function hears(page: Page, title: string): Promise<void> {
  const ticked = item(page, title)
  for (let ms = 0; ms < promisedMs && !(await ticked.isVisible()); ms += 1_000) {
    await pass(page, 1_000)
  }
  expect(await ticked.isVisible()).toBe(true)
}

const isAsked = (page: Page) => page.waitForResponse(response => response.url().includes(path()))

const visit = async (person: string, clock = true) => {
  const visitor = await site.browser.page({ person, clock })
  const asked = isAsked(visitor.page)
  await visitor.page.goto(`${site.url}/projects`)
  await asked
  await shown(visitor.page).panel.waitFor()
  return visitor
}

const beats = (requests: readonly string[]) => requests.filter(url => url.includes('/heartbeat'))

test('a tick that is stored reaches an open page in time, again and again', async () => {
  const { page, noticed } = await visit('ann')
  for (const title of ['A', 'B']) {
    await tick('ann', title.toLowerCase())
    await hears(page, title)
  }
  // As often as the server allows, and no more often.
  expect(beats(noticed.requests).length).toBeLessThanOrEqual(5)
})

test('a reload asks for progress at once', async () => {
  const { page, noticed } = await visit('bob', false)
  await tick('bob', 'a')
  noticed.requests.length = 0
  await page.reload()
  await item(page, 'A').waitFor()
  expect(beats(noticed.requests)).toEqual([])
})

test('all tabs of a browser learn of a tick, through the heartbeats of one', async () => {
  const { page, noticed } = await visit('cleo')
  const second = await page.context().newPage()
  second.on('request', request => noticed.requests.push(request.url()))
  await second.goto(`${site.url}/projects`)
  await shown(second).panel.waitFor()
  await tick('cleo', 'b')
  // Time passes in both.
  await hears(page, 'B')
  await item(second, 'B').waitFor()
  expect(beats(noticed.requests).length).toBeLessThanOrEqual(3)
})

test('a person who signs in finds what they have ticked elsewhere', async () => {
  await tick('dora', 'c')
  const { page } = await site.browser.page()
  await page.route('**/app.js', route => route.fulfill({ contentType: 'text/javascript' }))
  await page.goto(`${site.url}/projects`)
  await shown(page).panel.waitFor()
  const asked = page.waitForResponse(response => response.url().includes(`${path()}?userId=dora`))
  await page.evaluate("cairn.identify('dora')")
  await asked
  await item(page, 'C').waitFor()
})

test('if identities are verified, progress and heartbeats carry the hash', async () => {
  const identity = ['org', 'identity', 'harbor', '--mode']
  const { secrets } = await site.place.json<{ secrets: { secret: string }[] }>([
    ...identity,
    'enforce',
  ])
  const userHash = createHmac('sha256', secrets[0]!.secret).update('eve').digest('hex')
  const { page, noticed } = await site.browser.page({ clock: true })
  await page.route('**/app.js', route => route.fulfill({ contentType: 'text/javascript' }))
  await page.goto(`${site.url}/projects`)
  const asked = page.waitForResponse(response => /progress.*userHash/.test(response.url()))
  await page.evaluate(`cairn.identify('eve', {}, '${userHash}')`)
  await asked
  await tick('eve', 'a', { userHash })
  await hears(page, 'A')
  expect(beats(noticed.requests).some(url => url.includes(`userHash=${userHash}`))).toBe(true)
  const stranger = await fetch(`${site.server.url}/api/v1/heartbeat?userId=eve`, {
    headers: { authorization: `Bearer ${site.snippetKey}` },
  })
  expect(stranger.status).toBe(401)
  await site.place.run([...identity, 'off'])
})
