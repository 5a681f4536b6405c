import { expect } from 'bun:test'
import { leftOpenAfterMs } from '../../../src/web/dashboard/api/attention.ts'
import { pass } from '../../support/browser.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What a dashboard that is left open asks of the server. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

/** The most requests in a minute, by address. A token lives for five minutes. */
const designed = [
  ['', { flows: 4, health: 4, install: 4, alerts: 1, summary: 1, token: 1 }],
  ['/flows/welcome', { flows: 4, analytics: 5, token: 1 }],
  ['/flows/welcome/health', { flows: 4, health: 2, token: 1 }],
] as const

const shownBy = {
  '': 'Spring news',
  '/flows/welcome': 'Where people leave',
  '/flows/welcome/health': 'Of the last 24 hours',
}

/** A page with a controlled clock that has its first answers. Only later requests are noticed. */
async function leaveOpen(path: keyof typeof shownBy) {
  const { page, noticed } = await house.visit(path, { clock: true })
  await page.getByText(shownBy[path]).first().waitFor()
  // With what is asked for by what the first answers have drawn.
  await pass(page, 1_000)
  noticed.requests.length = 0
  return { page, noticed }
}

/** How often each address was asked, by its last part. */
function countsOf(requests: readonly string[]): Record<string, number> {
  const asked: Record<string, number> = {}
  for (const url of requests) {
    const name = new URL(url).pathname.split('/').at(-1)!
    asked[name] = (asked[name] ?? 0) + 1
  }
  return asked
}

test.each(designed)('"%s" asks no more in a minute than was designed', async (path, most) => {
  const { page, noticed } = await leaveOpen(path)
  for (let seconds = 0; seconds < 60; seconds++) await pass(page, 1_000)
  const asked = countsOf(noticed.requests)
  for (const [name, times] of Object.entries(asked)) {
    expect([name, times <= ((most as Record<string, number>)[name] ?? 0), times]).toEqual([
      name,
      true,
      times,
    ])
  }
  expect(Object.keys(asked).length).toBeGreaterThan(1)
})

test('a page that nobody touches asks once a minute, and at once when somebody returns', async () => {
  const { page, noticed } = await leaveOpen('/flows/welcome/health')
  // Requests that were planned before still come at their time.
  const plannedMs = 30_000
  for (let ms = 0; ms < leftOpenAfterMs + plannedMs; ms += 5_000) await pass(page, 5_000)
  noticed.requests.length = 0
  for (let seconds = 0; seconds < 180; seconds += 5) await pass(page, 5_000)
  const { flows, health } = countsOf(noticed.requests)
  expect({ flows, health }).toEqual({ flows: 3, health: 3 })
  noticed.requests.length = 0
  await page.mouse.move(200, 200)
  await pass(page, 0)
  expect(countsOf(noticed.requests)).toMatchObject({ flows: 1, health: 1 })
  noticed.requests.length = 0
  for (let seconds = 0; seconds < 60; seconds += 5) await pass(page, 5_000)
  expect(countsOf(noticed.requests)).toMatchObject({ flows: 4, health: 2 })
})

test('a page that is not looked at asks for nothing', async () => {
  const { page, noticed } = await leaveOpen('')
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  for (let minutes = 0; minutes < 10; minutes++) await pass(page, 60_000)
  expect(noticed.requests).toEqual([])
})
