import { expect } from 'bun:test'
import { pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, type Numbers, Site, shown } from '../support/site.ts'

/** What happens in a browser is counted in analytics once, whatever happens to tab, connection and server. */

const flowOf = (key: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: one, kind: modal, title: One }
    - { key: two, kind: modal, title: Two }
`

const cases = ['closed', 'offline', 'limited', 'full', 'tabs', 'consent', 'flood']

let site: Site
beforeAll(async () => {
  site = await Site.open(cases.map(flowOf).join(''))
})
afterAll(() => site.close())

const open = async (name: string) => {
  const visitor = await site.visit(`/projects?case=${name}`, { clock: true })
  return { ...visitor, ...shown(visitor.page) }
}

test('a tab that is closed in the middle of a step has reported all of it', async () => {
  const { page, title, button } = await open('closed')
  await button('Next').click()
  await title.getByText('Two').waitFor()
  await page.close({ runBeforeUnload: false })
  const { totals, steps } = await site.until('closed', ({ steps }) => steps[1]!.reached === 1)
  expect(totals).toMatchObject({ starts: 1, inProgress: 1 })
  expect(steps.map(({ reached, completed }) => [reached, completed])).toEqual([
    [1, 1],
    [1, 0],
  ])
})

test('what happens offline is sent when the connection is back, and by the next page', async () => {
  const { page, title, button } = await open('offline')
  const context = page.context()
  await title.getByText('One').waitFor()
  await context.setOffline(true)
  await button('Next').click()
  await title.getByText('Two').waitFor()
  await button('Done').click()
  await title.waitFor({ state: 'detached' })
  const inVain = page.waitForEvent('requestfailed', request => request.url().endsWith('/events'))
  await pass(page, 6_000)
  await inVain
  expect((await site.numbers('offline')).totals.completions).toBe(0)
  await context.setOffline(false)
  const { totals } = await site.until('offline', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1 })
  await page.reload()
  await allSent(page)
  await rest(page)
  await page.close()
  expect((await site.numbers('offline')).totals).toEqual(totals)
})

test('a page sends what the page before it could not, because there was no connection', async () => {
  const { page, title, button } = await open('closed')
  const before = await site.numbers('closed')
  const context = page.context()
  await title.waitFor()
  await context.setOffline(true)
  await button('Next').click()
  await page.close()
  await context.setOffline(false)
  const next = await context.newPage()
  await next.goto(`${site.url}/settings/people`)
  await site.until('closed', ({ steps }) => steps[1]!.reached === before.steps[1]!.reached + 1)
  await next.close()
})

test('during a long time offline the newest thousand events are kept, and later sent in batches', async () => {
  const { page, title, noticed } = await open('flood')
  await title.waitFor()
  await page.context().setOffline(true)
  await page.evaluate(() => {
    const { cairn } = window as never as { cairn: { track(name: string): void } }
    for (let i = 0; i < 1_200; i++) cairn.track(`event_${i}`)
  })
  await pass(page, 500)
  const kept = await page.evaluate(() => {
    const name = Object.keys(localStorage).find(name => name.includes(':out:')) ?? ''
    const { events } = JSON.parse(localStorage.getItem(name) ?? '{}')
    return [events.length, events.at(-1).name]
  })
  expect(kept).toEqual([1_000, 'event_1199'])
  const asked = () => noticed.requests.filter(url => url.endsWith('/events')).length
  const before = asked()
  await page.context().setOffline(false)
  await allSent(page)
  expect(asked() - before).toBeLessThanOrEqual(25)
})

test('over the limit the page waits as long as it is told, and nothing is lost', async () => {
  await site.place.run(['org', 'limits', 'harbor', '--events', '1'])
  const first = await open('limited')
  await first.button('Next').click()
  await first.page.close()
  const { page, button, title, noticed } = await open('limited')
  await button('Next').click()
  await button('Done').click()
  await title.waitFor({ state: 'detached' })
  await pass(page, 7_000)
  const asked = noticed.requests.filter(url => url.endsWith('/events')).length
  // Once, or not at all if its beacon came first, but not again and again.
  expect(asked).toBeLessThanOrEqual(1)
  await site.place.run(['org', 'limits', 'harbor', '--events', '100000'])
  // The page that comes next has not been told to wait.
  await page.goto(`${site.url}/settings/people`)
  await site.until('limited', ({ totals }) => totals.completions === 1)
})

test('a server that cannot store is asked again, and has it all in the end', async () => {
  const port = new URL(site.server.url).port
  await site.server.end()
  const env = { CAIRN_FAILPOINTS: 'before_commit=full' }
  site.server = await site.place.serve(['--port', port], env)
  const { page, title, button, noticed } = await open('full')
  await button('Next').click()
  await button('Done').click()
  await title.waitFor({ state: 'detached' })
  await pass(page, 6_000)
  expect(noticed.requests.filter(url => url.endsWith('/events')).length).toBeGreaterThan(0)
  await site.server.end('SIGKILL')
  site.server = await site.place.serve(['--port', port])
  // However often it was refused, its wait is over by then.
  await pass(page, 60_000)
  const isAll = ({ totals }: Numbers) => totals.completions === 1
  const { totals } = await site.until('full', isAll)
  expect(totals).toMatchObject({ starts: 1, completions: 1 })
})

test('two tabs do not show the same step, and the second continues where the first was closed', async () => {
  const { page, title, button } = await open('tabs')
  await title.getByText('One').waitFor()
  const second = await page.context().newPage()
  await second.goto(`${site.url}/projects?case=tabs`)
  await rest(second)
  expect(await shown(second).card.count()).toBe(0)
  await button('Next').click()
  await title.getByText('Two').waitFor()
  expect(await shown(second).card.count()).toBe(0)
  await page.close()
  await second.bringToFront()
  await shown(second).title.getByText('Two').waitFor()
  await shown(second).button('Done').click()
  await second.close()
  // What the two tabs sent on closing may arrive in any order.
  const isAll = ({ totals, steps }: Numbers) => totals.completions === 1 && steps[1]!.reached === 1
  const { totals, steps } = await site.until('tabs', isAll)
  expect(totals.starts).toBe(1)
  expect(steps.map(({ reached }) => reached)).toEqual([1, 1])
})

test('without consent nothing is reported, and only the refusal is stored', async () => {
  const { page, title } = await open('consent')
  await title.getByText('One').waitFor()
  await page.evaluate('cairn.consent(false)')
  const stored = await page.evaluate(() => Object.entries(localStorage))
  expect(stored).toEqual([[expect.stringMatching(/:consent$/), 'false']])
  await page.reload()
  // Flows are part of the application, so they are still shown.
  await title.getByText('One').waitFor()
  expect(await page.evaluate(() => Object.keys(localStorage).length)).toBe(1)
  expect(await page.context().cookies()).toEqual([])
})

test('wrong calls by a page cause no errors on the page', async () => {
  const { page, noticed, title } = await open('flood')
  await title.waitFor()
  await page.evaluate(() => {
    const { cairn } = window as never as { cairn: Record<string, (...args: unknown[]) => void> }
    const circle: Record<string, unknown> = {}
    circle.self = circle
    cairn.identify!(null, 7)
    cairn.identify!({}, [])
    cairn.track!(undefined, circle)
    cairn.track!('x'.repeat(500), { value: () => 1, big: 'x'.repeat(20_000) })
    cairn.start!('nothing')
    cairn.on!('flow_dismissed', () => {
      throw new Error('a listener of the page')
    })
    cairn.stop!()
    cairn.stop!()
    cairn.consent!('maybe')
  })
  await pass(page, 10_000)
  expect(noticed.complaints.filter(text => !text.startsWith('cairn: '))).toEqual([])
})

test('globals: `cairn` and nothing else', async () => {
  const { page, title } = await open('flood')
  await title.waitFor()
  const own = await page.evaluate(async () => {
    const frame = document.createElement('iframe')
    document.body.append(frame)
    const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow))
    return Object.getOwnPropertyNames(window).filter(name => !usual.has(name))
  })
  expect(own.filter(name => !/^\d+$/.test(name))).toEqual(['cairn'])
})
