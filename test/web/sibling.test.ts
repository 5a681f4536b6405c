import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Server, Workplace, withTour } from '../support/binary.ts'
import { type Page, TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'

/**
 * A page on a sibling subdomain, which may run any script, in the browser of somebody who is signed in to
 * the dashboard. To the browser the two are one site, so it sends the cookie along.
 */

let place: Workplace
let browser: TestBrowser
let server: Server
let sibling: ReturnType<typeof Bun.serve>
let cairn: string
let evil: string
let flowId: string

beforeAll(async () => {
  place = new Workplace()
  browser = await TestBrowser.open()
  await withTour(place)
  const [flow] = await place.json<{ id: string }[]>(['flows', 'list'])
  flowId = flow!.id
  server = await place.serve()
  const html = { 'content-type': 'text/html' }
  sibling = Bun.serve({
    port: 0,
    fetch: () => new Response('<!doctype html><p>App', { headers: html }),
  })
  cairn = `http://cairn.site.localhost:${new URL(server.url).port}`
  evil = `http://app.site.localhost:${sibling.port}`
})
afterAll(async () => {
  sibling.stop(true)
  await browser.close()
  await place.close()
})

/** Makes a request as the dashboard does, from a page that has no policy of its own. */
const askAs = (page: Page, action: string, body: unknown) =>
  page.evaluate(
    async ([action, body]) => {
      const response = await fetch(`/dashboard/session/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'cairn-dashboard': '1' },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    },
    [action, body] as const,
  )

/** A person who is signed in as an owner, on a page of Cairn's own, and the token that the page holds. */
async function signedIn() {
  const { page } = await browser.page()
  const { url } = await place.json<{ url: string }>(['dashboard', 'link', '--role', 'owner'])
  await page.goto(`${cairn}/api/v1/openapi.json`)
  const { status } = await askAs(page, 'redeem', { code: new URL(url).hash.slice(1) })
  expect(status).toBe(200)
  const { body } = await askAs(page, 'token', {})
  return { page, token: (body as { token: string }).token }
}

interface Init {
  method?: string
  body?: string
  headers?: Record<string, string>
  mode?: 'no-cors'
}

/** Makes an attempt, and returns what the page could read of the answer. */
const attempt = (page: Page, path: string, init: Init) =>
  page.evaluate(
    async ([url, init]) => {
      try {
        const response = await fetch(url, { credentials: 'include', ...init })
        return response.type === 'opaque'
          ? 'nothing'
          : `${response.status} ${await response.text()}`
      } catch {
        return 'nothing'
      }
    },
    [cairn + path, init] as const,
  )

const refused = '401 {"error":"Unauthorized"}'

test('a page on a sibling subdomain reads nothing and changes nothing', async () => {
  const { page: own, token } = await signedIn()
  const page = await own.context().newPage()
  const withCookie = new Set<string>()
  page.context().on('response', async response => {
    const { cookie = '' } = await response.request().allHeaders()
    if (/(^|; )cairn=/.test(cookie)) withCookie.add(new URL(response.url()).pathname)
  })
  // The log comes a moment later than the answers.
  await server.until(() => server.stdout.includes('"msg":"POST /dashboard/session/token"'))
  const before = server.stdout.length
  await page.goto(evil)

  const csv = '/dashboard/tour/flows/tour/export.csv'
  const analytics = `/api/v1/flows/${flowId}/analytics`
  const bearer = { authorization: `Bearer ${token}` }
  const marked = { 'cairn-dashboard': '1' }
  const text = { 'content-type': 'text/plain' }
  const signOut = JSON.stringify({ everywhere: true })
  const attempts: [path: string, init: Init, read: string][] = [
    // With the cookie, which the browser sends.
    ['/api/v1/manage/me', {}, 'nothing'],
    [analytics, {}, refused],
    [csv, {}, 'nothing'],
    [csv, { mode: 'no-cors' }, 'nothing'],
    ['/dashboard/session/ways', {}, 'nothing'],
    ['/dashboard/session/token', { method: 'POST', body: '{}', headers: text }, 'nothing'],
    ['/dashboard/session/token', { method: 'POST', body: '{}', mode: 'no-cors' }, 'nothing'],
    ['/dashboard/session/token', { method: 'POST', body: '{}', headers: marked }, 'nothing'],
    ['/dashboard/session/sign-out', { method: 'POST', body: signOut, mode: 'no-cors' }, 'nothing'],
    ['/dashboard/session/sign-out', { method: 'POST', body: signOut, headers: marked }, 'nothing'],
    ['/api/v1/manage/settings', { method: 'PATCH', body: '{"retentionDays":1}' }, 'nothing'],
    [
      '/api/v1/manage/keys/rotate',
      { method: 'POST', body: '{"graceHours":0}', mode: 'no-cors' },
      'nothing',
    ],
    // And with the token as well, as if it had been stolen.
    ['/api/v1/manage/me', { headers: bearer }, 'nothing'],
    [analytics, { headers: bearer }, refused],
    [`${analytics}/export.csv`, { headers: bearer }, refused],
  ]
  for (const [path, init, read] of attempts) {
    expect([path, init, await attempt(page, path, init)]).toEqual([path, init, read])
  }

  // Requests that do not depend on what scripts may do: forms, frames, images, scripts, windows.
  await page.evaluate(
    ([cairn, csv]) => {
      const add = (html: string) => document.body.insertAdjacentHTML('beforeend', html)
      add('<iframe name="frame"></iframe>')
      add(`<form method="post" enctype="text/plain" target="frame" action="${cairn}/dashboard/session/sign-out">
        <input name='{"everywhere":true,"x":"' value='"}'></form>`)
      document.querySelector('form')!.submit()
      add(`<img src="${cairn}${csv}">`)
      const script = document.createElement('script')
      script.src = `${cairn}${csv}`
      document.body.append(script)
    },
    [cairn, csv] as const,
  )
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate(url => void window.open(url), cairn + csv),
  ])
  await popup.waitForLoadState()
  expect(await popup.locator('body').innerText()).toContain('Unauthorized')
  // A cookie that the page sets for both subdomains does not replace that of the session.
  await page.evaluate(() =>
    cookieStore.set({ name: 'cairn', value: 'A'.repeat(43), domain: 'site.localhost' }),
  )

  // The cookie was sent, and did not help.
  const sentTo = [csv, analytics, '/dashboard/session/sign-out']
  await until(
    () => [...withCookie],
    paths => sentTo.every(path => paths.includes(path)),
  )
  const answered = () =>
    server.stdout
      .slice(before)
      .split('\n')
      .filter(line => line.includes('"route":') && line.endsWith('}'))
      .map(line => JSON.parse(line) as { method: string; status: number })
  await server.until(() => answered().length > attempts.length)
  const isRejection = ({ method, status }: { method: string; status: number }) =>
    status === 401 || (method === 'OPTIONS' && status === 204)
  expect(answered().filter(one => !isRejection(one))).toEqual([])

  expect((await askAs(own, 'token', {})).status).toBe(200)
  const lines = await place.json<{ action: string }[]>(['audit'])
  expect(
    lines.filter(({ action }) => !/^(dashboard|flow|organisation|token)\./.test(action)),
  ).toEqual([])
  // A page of Cairn's own can read it.
  const link = `/dashboard/${(await place.json<{ slug: string }[]>(['org', 'list']))[0]!.slug}/flows/tour/export.csv`
  const read = await own.evaluate(async link => (await fetch(link)).status, link)
  expect(read).toBe(200)
})
