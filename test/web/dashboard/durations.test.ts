import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import type { Analytics } from '../../../src/modules/analytics/model.ts'
import { cellsOf, DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** How long runs took, and days grouped into weeks or months: on the screen, in the API and in the CSV. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

type Page = Awaited<ReturnType<DashboardHouse['visit']>>['page']

/** The rows of the page's own download, and the query that it was made with. */
async function downloaded(page: Page) {
  const pending = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  await page.getByRole('link', { name: 'These numbers (CSV)' }).click()
  const download = await pending
  const rows: Record<string, string>[] = parse(readFileSync(await download.path()), {
    columns: true,
  })
  const query = new URL(download.url()).search.slice(1)
  return { of: (type: string) => rows.filter(({ row_type }) => row_type === type), query }
}

async function welcome(query: string): Promise<Analytics> {
  const list = await house.place.json<{ key: string; id: string }[]>(['flows', 'list'])
  return house.analytics(list.find(({ key }) => key === 'welcome')!.id, query)
}

test('times to complete are drawn as the API and the CSV count them', async () => {
  const { page, noticed } = await house.visit('/flows/welcome?tz=UTC')
  const picture = page.getByRole('img', { name: /completed runs: median/ })
  await picture.waitFor()
  const { of, query } = await downloaded(page)
  const { timeToComplete } = await welcome(query)
  const bins = timeToComplete.distribution!
  const counts = bins.map(({ count }) => `${count}`)
  expect(
    of('bin')
      .filter(({ version }) => version === '')
      .map(row => row.timed_runs),
  ).toEqual(counts as never)
  const first = bins.findIndex(({ count }) => count > 0)
  const full = bins.filter(({ count }) => count > 0)
  const rows = await cellsOf(page, 'Completed runs by how long they took.')
  expect(rows.map(cells => cells[1]!).filter(text => text !== '0')).toEqual(
    full.map(({ count }) => `${count}`),
  )
  expect(first).toBeGreaterThan(0)
  expect(rows.find(cells => cells[1] !== '0')![0]).toBe('20 s – 1 min')
  expect(await picture.locator('.of-completions').count()).toBe(rows.length)
  expect(await picture.textContent()).toContain(`median ${timeToComplete.medianSeconds} s`)
  expect(noticed.complaints).toEqual([])
  await page.context().close()
})

test('days are grouped into weeks and months; the address says so, and Back undoes it', async () => {
  const { page } = await house.visit('/flows/welcome?tz=UTC')
  await page.getByRole('heading', { name: 'Runs by day' }).waitFor()
  await page.getByText('Week', { exact: true }).click()
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()
  expect(new URL(page.url()).searchParams.get('interval')).toBe('week')
  await page.getByText(/this week, until \d\d:\d\d/).waitFor()
  await page.getByText('Show as a table').last().click()
  const { of, query } = await downloaded(page)
  const { periods } = await welcome(query)
  const caption = 'Runs that started each week, by how they ended.'
  const rows = (await cellsOf(page, caption)).toReversed()
  const shown = rows.map(cells => [cells[1], cells[2], cells[3], cells[5]])
  expect(shown).toEqual(
    periods!.map(({ starts, completions, dismissals, uniqueUsers }) =>
      [starts, completions, dismissals, uniqueUsers].map(String),
    ),
  )
  expect(shown).toEqual(
    of('period').map(row => [row.starts, row.completions, row.dismissals, row.unique_users]),
  )
  expect(rows.at(-1)![0]).toContain('not over')
  await page.getByRole('slider', { name: /Week of the chart/ }).focus()
  await page.getByText('Month', { exact: true }).click()
  await page.getByRole('heading', { name: 'Runs by month' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()
  await page.context().close()
})

test('a long range is shown by week unless the address says otherwise; a wrong interval is reported', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const from = new Date(Date.now() - 150 * 86_400_000).toISOString().slice(0, 10)
  const address = `/flows/welcome?tz=UTC&from=${from}&to=${today}`
  const { page } = await house.visit(address)
  await page.getByRole('heading', { name: 'Runs by week' }).waitFor()
  expect(new URL(page.url()).searchParams.get('interval')).toBe(null)
  const at = (path: string) => page.goto(`${house.server.url}/dashboard/harbor${path}`)
  await at(`${address}&interval=day`)
  await page.getByRole('heading', { name: 'Runs by day' }).waitFor()
  await at('/flows/welcome?tz=UTC&interval=year')
  await page.getByText(/Must be one of day, week, month/).waitFor()
  await page.context().close()
})

test('with fewer than five completed runs, no chart shows how long they took', async () => {
  const day = new Date(Date.now() - 3_600_000).toISOString().slice(0, 10)
  const { page } = await house.visit(`/flows/welcome?from=${day}&to=${day}&tz=UTC&compare=none`)
  await page.getByText('Under five completed runs').waitFor()
  expect(await page.getByRole('img', { name: /completed runs: median/ }).count()).toBe(0)
  await page.context().close()
})
