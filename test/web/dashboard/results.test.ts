import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import type { Analytics } from '../../../src/modules/analytics/model.ts'
import { cellsOf, DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The page of results shows what the API and its CSV say; and how people get around in it. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

test('figures on the screen are those of the API and of the CSV', async () => {
  const flow = await flowNamed('welcome')
  const { page } = await house.visit('/flows/welcome')
  await page.getByText('Where people leave').waitFor()
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('tz')).toBe('Europe/Berlin')

  const pending = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  await page.getByRole('link', { name: 'These numbers (CSV)' }).click()
  const download = await pending
  const query = new URL(download.url()).search.slice(1)
  expect(download.suggestedFilename()).toMatch(/^cairn-welcome-\d{4}-\d\d-\d\d_.*\.csv$/)
  const rows: Record<string, string>[] = parse(readFileSync(await download.path()), {
    columns: true,
  })
  const of = (type: string) => rows.filter(({ row_type }) => row_type === type)
  const data = await house.analytics<Analytics>(flow, query)
  expect(data.totals.starts).toBe(40)

  const figures = (await page.evaluate(
    "[...document.querySelectorAll('.figure-value')].map(element => (element.querySelector('.rate') ?? element).firstChild.textContent)",
  )) as string[]
  const { starts, uniqueUsers, completionRate, dismissals, inProgress } = data.totals
  expect(figures.map(text => text.trim())).toEqual([
    ...[`${starts}`, `${uniqueUsers}`, `${completionRate! * 100}%`],
    ...[`${data.timeToComplete.medianSeconds} s`, `${dismissals}`, `${inProgress}`],
  ])
  const [total] = of('total')
  expect(total).toMatchObject({
    starts: `${starts}`,
    completion_rate: `${completionRate}`,
    dismissals: `${dismissals}`,
  })

  const steps = await cellsOf(page, 'Each bar is the share of all starts that reached the step.')
  const counts = steps.map(cells => [cells[0], ...cells.slice(2, 7)])
  expect(counts).toEqual(
    data.steps.map(step => [
      step.title,
      ...[step.reached, step.completed, step.skipped, step.targetMissing].map(String),
      `${step.droppedHere - step.stillHere}`,
    ]),
  )
  expect(counts).toEqual(
    of('step').map(row => [
      row.title,
      ...[row.reached, row.completed, row.skipped, row.target_missing],
      `${Number(row.dropped_here) - Number(row.still_here)}`,
    ]),
  )
  const still = data.steps.map(({ stillHere }) => stillHere).filter(count => count > 0)
  expect(still).not.toBeEmpty()
  expect(await page.getByText(/^\d+ may go on$/).allInnerTexts()).toEqual(
    still.map(count => `${count} may go on`),
  )

  await page.getByText('Show as a table').last().click()
  const days = await cellsOf(page, 'Runs that started each day, by how they ended.')
  const daily = days.map(cells => cells.slice(1, 4)).toReversed()
  expect(daily).toEqual(
    data.daily.map(day => [day.starts, day.completions, day.dismissals].map(String)),
  )
  expect(daily).toEqual(of('day').map(row => [row.starts!, row.completions!, row.dismissals!]))
  await page.context().close()
})

async function flowNamed(key: string): Promise<string> {
  const list = await house.place.json<{ key: string; id: string }[]>(['flows', 'list'])
  return list.find(flow => flow.key === key)!.id
}

test('today is hatched and says until when; Complete days leaves it out, and Back restores it', async () => {
  const { page } = await house.visit('/flows/welcome')
  await page.getByText(/today, until \d\d:\d\d/).waitFor()
  await page.getByLabel('Complete days').click()
  await page.getByText(/today, until/).waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('days')).toBe('complete')
  await page.goBack()
  await page.getByText(/today, until/).waitFor()
  await page.context().close()
})

test('range and time zone are chosen and kept in the address; each number says what it means', async () => {
  const { page } = await house.visit('/flows/welcome?tz=UTC')
  await page.getByRole('button', { name: /UTC/ }).click()
  await page.getByRole('button', { name: 'Last 7 days' }).click()
  await page.getByText(/of the two completion rates overlap|do not overlap/).waitFor()
  await page.getByRole('button', { name: /UTC/ }).click()
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('button', { name: /Asia\/Tokyo/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('tz')).toBe('Asia/Tokyo')
  await page.getByRole('button', { name: 'In progress', exact: true }).first().focus()
  await page.getByText('Runs neither completed nor dismissed').first().waitFor()
  await page.context().close()
})

test('the menu marks the range that is shown, and a single day is written once', async () => {
  const { page } = await house.visit('/flows/welcome?tz=UTC')
  const menu = page.getByRole('button', { name: /UTC/ })
  const choose = async (name: string) => {
    await menu.click()
    await page.getByRole('button', { name, exact: true }).click()
  }
  const marked = (name: string) => page.getByRole('button', { name, exact: true, pressed: true })
  await menu.click()
  await marked('Last 30 days').waitFor()
  expect(await marked('Yesterday').count()).toBe(0)
  await page.keyboard.press('Escape')
  await choose('Yesterday')
  const day = /^\s*\d+ \w+ \d{4}\s*UTC\s*$/
  await menu.filter({ hasText: day }).waitFor()
  await menu.click()
  await marked('Yesterday').waitFor()
  expect(await page.locator('.presets [aria-pressed="true"]').count()).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByLabel('Complete days').click()
  // Today is not over. Without it nothing would be left.
  await choose('Today')
  await page.getByText(/today, until \d\d:\d\d/).waitFor()
  await menu.filter({ hasText: day }).waitFor()
  expect(await page.getByLabel('Complete days').count()).toBe(0)
  await choose('This month')
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('from')).toMatch(/-01$/)
  expect(searchParams.get('to')).toBeNull()
  await page.context().close()
})

test('if nobody started in the period before, the page says so', async () => {
  const { page } = await house.visit('/flows/welcome')
  await page.getByText(/^\d.+ has no starts: there is nothing to compare with\.$/).waitFor()
  await page.getByLabel('Compare with').selectOption('none')
  await page.getByText('there is nothing to compare with').waitFor({ state: 'detached' })
  await page.context().close()
})

test('the time zone of the days is kept in every address, also on the way to a flow', async () => {
  const { page } = await house.visit('/flows')
  await page.getByText('Numbers of the last 30 days, Europe/Berlin').waitFor()
  await page.goto(`${house.server.url}/dashboard/harbor?tz=Asia%2FTokyo`)
  await page.getByText('Numbers of the last 7 days, Asia/Tokyo').waitFor()
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByRole('button', { name: /Asia\/Tokyo/ }).waitFor()
  await page.goBack()
  await page.getByText('Numbers of the last 7 days, Asia/Tokyo').waitFor()
  await page.context().close()
})

test('the keyboard alone leads to a flow and a day of its chart; single letters can be switched off', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Flows')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('welc')
  await page.getByRole('option', { name: /Welcome tour/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Where people leave').waitFor()
  const chart = page.getByRole('slider', { name: /Day of the chart/ })
  await chart.focus()
  const last = await chart.getAttribute('aria-valuetext')
  await page.keyboard.press('ArrowLeft')
  expect(await chart.getAttribute('aria-valuetext')).not.toBe(last)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.getByLabel(/Single letters/).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.context().close()
})

test('text that is typed right after Ctrl+K goes into its field', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').waitFor()
  // The message comes right after the task that handles the key, before anything is painted.
  const role = await page.evaluate(`new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(document.activeElement.role)
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
    port2.postMessage(null)
  })`)
  expect(role).toBe('combobox')
  await page.context().close()
})

test('with fewer than five runs there are no percentages and no medians', async () => {
  const { page } = await house.visit('/flows/welcome?from=2026-01-01&to=2026-01-01&tz=UTC')
  await page.getByText('Nobody started this in the range').waitFor()
  // The day of an hour ago, because the latest runs are from then.
  const day = new Date(Date.now() - 3_600_000).toISOString().slice(0, 10)
  await page.goto(
    `${house.server.url}/dashboard/harbor/flows/welcome?from=${day}&to=${day}&tz=UTC&compare=none`,
  )
  await page.getByText('Where people leave').waitFor()
  await page.getByText('Under five runs').waitFor()
  expect(await page.locator('.figures').innerText()).not.toMatch(/%|p90|\d s/)
  expect(await page.locator('table').first().innerText()).not.toMatch(/%|\d s/)
  await page.context().close()
})
