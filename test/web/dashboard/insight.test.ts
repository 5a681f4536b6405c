import { expect } from 'bun:test'
import { totalsOf } from '../../../src/core/step/health.ts'
import type { Analytics } from '../../../src/modules/analytics/schema.ts'
import type { StepCheck } from '../../../src/modules/steps/schema.ts'
import {
  cellsOf,
  DashboardHouse,
  downloadedCsv,
  type Manage,
  requireSound,
  requireSoundOnEveryScreen,
} from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What changes over time in the demo: the screen, the API and the CSV agree on it. */

let demo: DashboardHouse
let manage: Manage
beforeAll(async () => {
  demo = await DashboardHouse.demo()
  manage = await demo.manager('flows:read', 'settings:write')
})
afterAll(() => demo.close())

test('health over time shows when a step lost its element, and matches the API and the CSV', async () => {
  const { page, noticed } = await demo.visit('/flows/welcome/health?tz=UTC')
  const section = page.getByRole('region', { name: 'Break it into tasks' })
  await section.locator('.chart-mark', { hasText: 'Broken' }).waitFor()
  const query = 'health?flow=welcome&history=1&timezone=UTC'
  const step = (await manage<StepCheck>('GET', `/${query}`)).steps.find(
    ({ step }) => step === 'add-task',
  )!
  const days = step.history!.toReversed()
  const counts = days.map(({ people }) => totalsOf(people))
  const shown = await cellsOf(
    page,
    'People by day and whether they found the element of “Break it into tasks”',
  )
  expect(shown.map(cells => cells.slice(2, 6))).toEqual(
    counts.map(({ people, finds, fallback, misses }) =>
      [finds - fallback, fallback, misses, people].map(String),
    ),
  )
  expect(shown.map(cells => cells[1]!.toLowerCase().replace('too few', 'unknown'))).toEqual(
    days.map(({ state }) => expect.stringMatching(new RegExp(state === 'unknown' ? '.' : state))),
  )
  // A day without a report has no bar, and every other day has one.
  expect(await section.locator('.slot:has(rect)').count()).toBe(days.length)
  expect(shown[0]![0]).toContain('so far')

  const link = page.getByRole('link', { name: 'Download CSV' })
  const { rows, name } = await downloadedCsv(page, link)
  expect(name).toMatch(/^cairn-welcome-health-.*\.csv$/)
  const ofStep = rows.filter(row => row.step === 'add-task').toReversed()
  expect(ofStep.map(row => [row.date, row.state, row.finds, row.misses])).toEqual(
    days.map(({ date, state }, i) => [
      ...[date, state],
      ...[counts[i]!.finds, counts[i]!.misses].map(String),
    ]),
  )
  await requireSoundOnEveryScreen(page, noticed)
})

test('the chart of times to complete shows both periods, and its figures read correctly from right to left', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const from = new Date(Date.now() - 9 * 86_400_000).toISOString().slice(0, 10)
  const { page, noticed } = await demo.visit(`/flows/welcome?tz=UTC&from=${from}&to=${today}`)
  await page.locator('.before-line').first().waitFor()
  const { id } = await demo.flow('welcome')
  const [first, last] = [19, 10].map(days =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
  )
  const before = await demo.analytics<Analytics>(id, `from=${first}&to=${last}`)
  const cells = await cellsOf(page, 'Completed runs by duration')
  const timed = cells.reduce((sum, row) => sum + Number(row[3]), 0)
  expect(timed).toBeGreaterThan(0)
  expect(timed).toBe(before.timeToComplete.count)
  expect(await page.locator('.before-line').count()).toBe(2)
  expect(noticed.complaints).toEqual([])

  await page.getByText('Median time').first().waitFor()
  await page.evaluate("document.documentElement.dir = 'rtl'")
  // The number is to the left of its unit, as it is read.
  const [number, unit] = (await page.evaluate(`(() => {
    const text = document.querySelector('.figure-value bdi').firstChild
    const at = (from, to) => {
      const range = document.createRange()
      range.setStart(text, from)
      range.setEnd(text, to)
      return range.getBoundingClientRect().left
    }
    return [at(0, 1), at(text.length - 1, text.length)]
  })()`)) as [number, number]
  expect(number).toBeLessThan(unit)
})

test('the organisation’s time zone applies to pages whose address names none', async () => {
  const { page, noticed } = await demo.visit('/settings')
  const zone = page.getByRole('combobox', { name: 'Time zone' })
  await zone.click()
  await zone.fill('tok')
  await page.getByRole('option', { name: /^Tokyo/ }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').getByText('Saved.').waitFor()
  await requireSound(page, noticed)
  await page.goto(demo.at('/flows/welcome'))
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).searchParams.get('tz')).toBe('Asia/Tokyo')
  await page.goto(demo.at('/flows/welcome?tz=UTC'))
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).searchParams.get('tz')).toBe('UTC')
  expect(await demo.place.json(['org', 'settings'])).toMatchObject({
    timezone: 'Asia/Tokyo',
  })
  await demo.place.run(['org', 'unset', 'timezone'])
})

test('an organisation is renamed, and every page calls it by the new name at once', async () => {
  const { page, noticed } = await demo.visit('/settings')
  const rename = async (name: string) => {
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.locator('header, aside').getByText(name, { exact: true }).first().waitFor()
  }
  const [{ name }] = await demo.place.json<[{ name: string }]>(['org', 'list'])
  await rename('Harbor Group')
  expect(await demo.place.json(['org', 'list'])).toMatchObject([{ name: 'Harbor Group' }])
  await rename(name)
  await requireSound(page, noticed)
})
