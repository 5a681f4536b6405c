import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, hardToUse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { settleBeforeActions } from '../../support/settling.ts'

/** What opens over a page is accessible, and the keyboard alone is enough. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

/** Presses Tab until the named element has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const { activeElement: it } = document
    if (!it.matches('a, button, input, select')) return ''
    const label = it.labels?.[0]?.textContent
    return it.getAttribute('aria-label') ?? label ?? it.textContent
  })()`
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if (
      String(await page.evaluate(focused))
        .trim()
        .includes(name)
    )
      return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

describe.each(['light', 'dark'] as const)('what opens over a page, %s', colorScheme => {
  test('menus, jump list, help and definitions', async () => {
    const { page, noticed } = await house.visit('/flows/welcome', { colorScheme })
    await page.getByText('Where people leave').waitFor()
    for (const name of [/Europe\/Berlin/, 'Download', /Ann/]) {
      await page.getByRole('button', { name }).click()
      await page.locator('.menu-panel:popover-open').waitFor()
      expect(await hardToUse(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.menu-panel:popover-open').waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Reached' }).focus()
    await page.getByRole('tooltip').first().waitFor()
    expect(await hardToUse(page)).toEqual([])
    await page.keyboard.press('Escape')
    for (const key of ['Control+k', '?']) {
      await page.keyboard.press(key)
      await page.getByRole('dialog').waitFor()
      expect(await hardToUse(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(noticed.complaints).toEqual([])
    await page.context().close()
  })

  test('the drawer of a narrow screen', async () => {
    const viewport = { width: 360, height: 700 }
    const { page } = await house.visit('/flows/welcome', { colorScheme, viewport })
    await page.getByText('Where people leave').waitFor()
    await page.getByRole('button', { name: 'Reached' }).click()
    await page.getByRole('tooltip').first().waitFor()
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('dialog', { name: 'Pages' }).waitFor()
    expect(await hardToUse(page)).toEqual([])
    await page.getByRole('dialog').getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.context().close()
  })
})

test('from the link to the CSV and out again, by the keyboard alone', async () => {
  const { page } = await house.browser.page({ timezoneId: 'Europe/Berlin' })
  settleBeforeActions(page)
  await page.goto(await house.link())
  await page.getByRole('button', { name: 'Sign in with this link' }).waitFor()
  await tabTo(page, 'Sign in with this link')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await tabTo(page, 'Welcome tour')
  await page.keyboard.press('Enter')
  await page.getByText('Where people leave').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Welcome tour')
  await tabTo(page, 'Download')
  await page.keyboard.press('Enter')
  await page.locator('.menu-panel:popover-open a:focus').first().waitFor()
  const pending = page.waitForEvent('download')
  await page.keyboard.press('Enter')
  const rows = readFileSync(await (await pending).path(), 'utf8')
  expect(rows).toContain('row_type')
  await page.locator('.menu-panel:popover-open').waitFor({ state: 'detached' })
  await tabTo(page, 'Account')
  await page.keyboard.press('Enter')
  await page.locator('.menu-panel:popover-open').waitFor()
  await tabTo(page, 'Sign out')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.context().close()
})

test('on a narrow screen no figure of a step overflows its cell', async () => {
  const { page } = await house.visit('/flows/welcome', { viewport: { width: 360, height: 700 } })
  await page.getByText('Where people leave').waitFor()
  const out = await page.evaluate(`[...document.querySelectorAll('.table tbody td')]
    .filter(cell => cell.scrollWidth > cell.clientWidth + 1)
    .map(cell => cell.textContent)`)
  expect(out).toEqual([])
  await page.context().close()
})
