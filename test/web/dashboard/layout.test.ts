import { expect } from 'bun:test'
import type { Locator } from '../../browser/playwright.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Layouts at 1,280 pixels that no other test covers. */

const viewport = { width: 1_280, height: 800 }

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

/** The vertical middle of an element, pixels. */
async function middleOf(element: Locator): Promise<number> {
  const { y, height } = (await element.boundingBox())!
  return y + height / 2
}

async function expectBeside(one: Locator, other: Locator): Promise<void> {
  expect(Math.abs((await middleOf(one)) - (await middleOf(other)))).toBeLessThan(4)
}

test('actions on the list of people stand beside its search, and actions on a person beside the name', async () => {
  const { page } = await house.visit('/people', { viewport })
  const file = page.getByRole('button', { name: 'Download CSV' })
  await file.waitFor()
  await expectBeside(page.getByRole('searchbox', { name: 'Search by email or ID' }), file)
  await page.locator('tbody a').first().click()
  const actions = page.locator('.page-head .actions')
  await actions.getByRole('link', { name: 'Troubleshoot' }).waitFor()
  await expectBeside(page.getByRole('heading', { level: 1 }), actions)
})

test('the cards of step types are wide enough for several words a line', async () => {
  const { page } = await house.visit('/flows/welcome/edit', { viewport })
  await page.locator('.outline-link', { hasText: /^1/ }).click()
  const cards = page.locator('.option-card')
  await cards.first().waitFor()
  for (const card of await cards.all()) {
    expect((await card.boundingBox())!.width).toBeGreaterThan(110)
  }
})

test('a day and its time are on one line in the schedule', async () => {
  const { page } = await house.visit('/flows/welcome/edit', { viewport })
  await page.getByText('Schedule and rollout').first().click()
  await expectBeside(page.getByLabel('From', { exact: true }), page.getByLabel('From: time'))
})
