import { expect } from 'bun:test'
import { pass } from '../../support/browser.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What a dashboard that is left open asks of the server. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

/** Most requests of a minute, by address; a token lives for five. */
const designed = [
  ['', { flows: 4, health: 4, install: 4, alerts: 1, summary: 1, token: 1 }],
  ['/flows/welcome', { flows: 4, analytics: 5, token: 1 }],
] as const

test.each(designed)('"%s" asks no more in a minute than was designed', async (path, most) => {
  const { page, noticed } = await house.visit(path, { clock: true })
  await page
    .getByText(path === '' ? 'Spring news' : 'Where people leave')
    .first()
    .waitFor()
  // The first answers are there, and what follows is by the clock.
  await pass(page, 0)
  noticed.requests.length = 0
  for (let seconds = 0; seconds < 60; seconds++) await pass(page, 1_000)
  const asked: Record<string, number> = {}
  for (const url of noticed.requests) {
    const name = new URL(url).pathname.split('/').at(-1)!
    asked[name] = (asked[name] ?? 0) + 1
  }
  for (const [name, times] of Object.entries(asked)) {
    expect([name, times <= ((most as Record<string, number>)[name] ?? 0), times]).toEqual([
      name,
      true,
      times,
    ])
  }
  expect(Object.keys(asked).length).toBeGreaterThan(1)
  await page.context().close()
})

test('a page that is not looked at asks for nothing', async () => {
  const { page, noticed } = await house.visit('', { clock: true })
  await page.getByText('Spring news').first().waitFor()
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await pass(page, 0)
  noticed.requests.length = 0
  for (let minutes = 0; minutes < 10; minutes++) await pass(page, 60_000)
  expect(noticed.requests).toEqual([])
  await page.context().close()
})
