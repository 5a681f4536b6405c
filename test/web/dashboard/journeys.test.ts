import { expect } from 'bun:test'
import type { Analytics } from '../../../src/modules/analytics/schema.ts'
import type { Page } from '../../support/browser.ts'
import { cellsOf, DashboardHouse, downloadedCsv, requireSound } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Two people who never saw Cairn find what they came for, in the demo. */

let demo: DashboardHouse
beforeAll(async () => {
  demo = await DashboardHouse.demo()
})
afterAll(() => demo.close())

/** Presses things, and counts how often. */
function clicksOn(page: Page) {
  let count = 0
  return {
    async link(name: string | RegExp) {
      count++
      await page.getByRole('link', { name }).first().click()
    },
    async choose(label: string, value: string) {
      count++
      await page.getByLabel(label).first().selectOption(value)
    },
    get count() {
      return count
    },
  }
}

test('an analyst learns why people leave: the step, the people, what they have in common, the fix', async () => {
  const { page, noticed } = await demo.visit('?tz=UTC')
  const clicks = clicksOn(page)
  const row = page.getByRole('row', { name: /Welcome to Harbor/ })
  await row.getByText(/Found for \d+ of \d+ people since \d+ \w+/).waitFor()

  await clicks.link(/leave at step 3, “Break it into tasks”/)
  await page
    .getByRole('heading', { name: /left at “Break it into tasks” have in common/ })
    .waitFor()
  const { id } = await demo.flow('welcome')
  const { leavers } = await demo.analytics<Analytics>(id, 'left=add-task&timezone=UTC')
  await page.getByText(`${leavers!.left} of`).first().waitFor()
  const caption =
    'Traits, versions and missing elements that are more frequent among runs that left'
  const [first] = await cellsOf(page, caption)
  expect(first!.slice(0, 3)).toEqual([
    `${leavers!.common[0]!.trait}: ${leavers!.common[0]!.value}`,
    `${leavers!.common[0]!.left} of ${leavers!.left}`,
    `${leavers!.common[0]!.wentOn} of ${leavers!.wentOn}`,
  ])
  expect(first![3]).toMatch(/^(Clear|May be chance)$/)
  // As many people are listed as left: those of the first page, and there is a second.
  await page.getByRole('table', { name: 'Runs, latest start first' }).waitFor()
  expect(await page.locator('tbody tr', { hasText: /Dismissed|Stalled/ }).count()).toBe(
    Math.min(50, leavers!.left),
  )

  await clicks.link('Fix step')
  const broken = page.getByRole('region', { name: 'Break it into tasks' })
  await broken.getByRole('button', { name: 'Use in draft' }).waitFor()
  expect(clicks.count).toBeLessThanOrEqual(4)
  await requireSound(page, noticed)
})

test('a researcher sees the trend of a score, by plan, and what detractors wrote', async () => {
  const { page, noticed } = await demo.visit('/flows/spring-release?tz=UTC')
  const clicks = clicksOn(page)
  await page.getByRole('slider', { name: /NPS by week/ }).waitFor()
  const { id } = await demo.flow('spring-release')
  const query = 'answers=1&segment=plan&timezone=UTC'
  const { steps } = await demo.analytics<Analytics>(id, query)
  const { nps, segments, answers } = steps.find(({ key }) => key === 'recommend')!.question!

  await clicks.choose('Break down by', 'plan')
  await page.getByText('Answers by plan').first().waitFor()
  const byPlan = await cellsOf(page, 'Answers by plan')
  expect(byPlan.map(([plan, count]) => [plan, count])).toEqual(
    segments!.map(({ value, answers }) => [value ?? 'Not set', `${answers}`]),
  )
  expect(segments!.reduce((sum, segment) => sum + segment.answers, 0)).toBe(answers)

  await clicks.link(`${nps!.detractors}`)
  await page.getByRole('heading', { name: /People who answered: Detractors/ }).waitFor()
  const people = page.getByRole('table', { name: /^People who answered/ })
  await people.locator('.written', { hasText: /\w/ }).first().waitFor()
  for (const cells of await people.locator('tbody tr').all()) {
    expect(Number(await cells.locator('td').first().innerText())).toBeLessThanOrEqual(6)
  }
  expect(clicks.count).toBeLessThanOrEqual(3)

  const [written] = (await people.locator('.written').allInnerTexts()).filter(text => text !== '')
  const word = written!.split(' ').at(-1)!.toUpperCase()
  await page.getByLabel('Search what people wrote').fill(word)
  await page.waitForResponse(response => response.url().includes('contains='))
  const { rows } = await downloadedCsv(page, people.locator('+ .file-link'))
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) expect(row['What they wrote']!.toUpperCase()).toContain(word)
  await requireSound(page, noticed)
})

test('a range that ends before it begins is rejected in its place, and the page stays', async () => {
  const { page } = await demo.visit('/flows/welcome?tz=UTC')
  await page.getByText('Where people leave').waitFor()
  const address = page.url()
  await page.getByRole('button', { name: /UTC/ }).click()
  await page.getByLabel('From', { exact: true }).fill('2026-11-20')
  await page.getByLabel('To', { exact: true }).fill('2026-11-10')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('The last day must not be before the first day.').waitFor()
  expect(page.url()).toBe(address)
  await page.getByText('Where people leave').waitFor()
})
