import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, hardToUse, resize } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { enter, nameOfFocused, tabTo } from '../../support/keyboard.ts'

/** Common tasks with the keyboard alone, and what opens above a page. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
  await breakStep()
})
afterAll(() => house.close())

/** The pages of six people miss the second step's element, and know another selector for it. */
async function breakStep(): Promise<void> {
  const { id } = (await house.flow('welcome')).steps[1]!
  const element = { matchCount: 1, tag: 'button', role: 'button', name: 'New', text: 'New' }
  const url = 'https://app.example.com/projects'
  const tell = async (what: string, body: object) => {
    const answer = await house.ask('POST', `/steps/${id}/${what}`, { url, flowVersion: 1, ...body })
    if (!answer.ok) throw new Error(await answer.text())
  }
  await tell('fingerprint', { fingerprint: { ...element, selector: '#new' } })
  const candidates = [{ ...element, selector: '#create' }]
  for (let looks = 0; looks < 2; looks++) {
    await tell('fingerprint', { fingerprint: null, candidates })
  }
  for (let person = 0; person < 6; person++) {
    await tell('health', { outcome: 'not_found', userId: `p${person}` })
  }
}

const heading = (page: Page, name: string, level = 1) =>
  page.getByRole('heading', { level, name }).waitFor()

test('a broken step is repaired in the draft and published', async () => {
  const { page } = await house.visit('')
  await page.getByText('Needs attention').waitFor()
  await enter(page, /Start a project.*in Welcome tour/)
  await page.getByText('Suggested selector').waitFor()
  await enter(page, 'Use in draft')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // When the dialog closes, the focus returns to the button.
  expect(await nameOfFocused(page)).toBe('Use in draft')
  await page.keyboard.press('Enter')
  await enter(page, 'Use in draft')
  await page.getByRole('status').getByText('Draft updated with #create').waitFor()
  await enter(page, /Review draft/)
  await heading(page, 'Unpublished draft', 2)
  await enter(page, 'Publish')
  await page.getByRole('dialog').waitFor()
  await enter(page, 'Publish')
  await page.getByRole('row', { name: /Version 2/ }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('signing in by link, the results of other days, their CSV, and signing out', async () => {
  const { page } = await house.browser.page({ timezoneId: 'Europe/Berlin' })
  await page.goto(await house.link('owner', 'Bob'))
  await page.getByRole('button', { name: 'Sign in with this link' }).waitFor()
  await enter(page, 'Sign in with this link')
  await page.getByRole('link', { name: 'Welcome tour', exact: true }).waitFor()
  await enter(page, 'Welcome tour')
  await page.getByText('Where people leave').waitFor()
  // The heading of the new page has the focus.
  expect(await nameOfFocused(page)).toBe('Welcome tour')
  const menu = page.locator('.menu-panel:popover-open')
  await enter(page, /Berlin/)
  // A menu gives the focus to its first item a moment after it has opened.
  const focusedItem = menu.locator(':focus')
  await focusedItem.waitFor()
  await tabTo(page, 'From')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  expect(await nameOfFocused(page)).toContain('Berlin')
  await page.keyboard.press('Enter')
  await menu.waitFor()
  await page.locator('button:focus', { hasText: 'Today' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=/)
  await menu.waitFor({ state: 'detached' })
  expect(await nameOfFocused(page)).toContain('Berlin')
  await enter(page, 'Download')
  const pending = page.waitForEvent('download')
  await page.locator('a:focus', { hasText: 'All tables' }).waitFor()
  await page.keyboard.press('Enter')
  const download = await pending
  expect(new URL(download.url()).searchParams.get('from')).toBe(
    new URL(page.url()).searchParams.get('from'),
  )
  expect(readFileSync(await download.path(), 'utf8')).toContain('row_type')
  await menu.waitFor({ state: 'detached' })
  await enter(page, /Account/)
  await focusedItem.waitFor()
  await enter(page, 'Sign out')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('why somebody does not see a flow, who they are, and all that is stored of them', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').first().waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await heading(page, 'Troubleshoot')
  await tabTo(page, 'Page URL')
  await page.keyboard.type('https://app.example.com/projects')
  await tabTo(page, 'User ID')
  await page.keyboard.type('person-0')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await enter(page, 'Welcome tour')
  await page.getByText('Welcome tour is not shown').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await heading(page, 'People')
  await tabTo(page, 'Search by email or ID')
  await page.keyboard.type('person-0')
  await page.keyboard.press('Enter')
  await page.getByText(/^1 of \d+ people$/).waitFor()
  await enter(page, 'person-0')
  await heading(page, 'person-0')
  await page.getByText(/^All \d+ events$/).waitFor()
  const pending = page.waitForEvent('download')
  await enter(page, 'Export')
  expect((await pending).suggestedFilename()).toBe('person.json')
  await page.getByText('Data downloaded.').waitFor()
})

test('the jump list has the focus before the next frame is painted', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').first().waitFor()
  await page.evaluate(`void (window.hasFocus = new Promise(resolve => {
    const look = () => {
      const heading = document.querySelector('h1')
      if (heading?.textContent === 'People') resolve(document.activeElement === heading)
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
  }))`)
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  expect(await page.evaluate('window.hasFocus')).toBe(true)
  // The message arrives right after the task that handles the key, before the next frame.
  const role = await page.evaluate(`new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(document.activeElement.role)
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
    port2.postMessage(null)
  })`)
  expect(role).toBe('combobox')
})

test('the jump list opens a flow, arrows select a day of its chart, and single-letter shortcuts can be disabled', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('welc')
  await page.getByRole('option', { name: /Welcome tour/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Where people leave').waitFor()
  const chart = page.getByRole('slider', { name: /Runs by day/ })
  await chart.focus()
  const last = await chart.getAttribute('aria-valuetext')
  await page.keyboard.press('ArrowLeft')
  expect(await chart.getAttribute('aria-valuetext')).not.toBe(last)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.getByLabel(/Single-letter/).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

/** Whether an open menu reaches beyond the content of its page. */
const isBesideContent = `(() => {
  const rightOf = selector => document.querySelector(selector).getBoundingClientRect().right
  return rightOf('.menu-panel:popover-open') > rightOf('.page-head') + 1
})()`

test('menus, definitions, dialogs and the navigation drawer are accessible in dark and light mode', async () => {
  const { page, noticed } = await house.visit('/flows/welcome')
  await page.getByText('Where people leave').waitFor()
  const requireUsable = async (opened?: string) => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await hardToUse(page, opened)).toEqual([])
    }
  }
  const menu = '.menu-panel:popover-open'
  const tooltip = '[role=tooltip]:popover-open'
  for (const name of [/Berlin/, /^Download$/, /Ann/]) {
    await page.getByRole('button', { name }).click()
    await page.locator(menu).waitFor()
    expect(await page.evaluate(isBesideContent)).toBe(false)
    await requireUsable(menu)
    await page.keyboard.press('Escape')
    await page.locator(menu).waitFor({ state: 'detached' })
  }
  // The keyboard stops at columns that sort, and at no explained word besides.
  expect(
    await page.evaluate(
      "[...document.querySelectorAll('.term')].filter(term => term.tabIndex >= 0).length",
    ),
  ).toBe(0)
  await page.getByText('Reached', { exact: true }).first().hover()
  await page.locator(tooltip).waitFor()
  await requireUsable(tooltip)
  await page.keyboard.press('Escape')
  for (const key of ['Control+k', '?']) {
    await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
    await requireUsable()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await resize(page, { width: 360, height: 700 })
  const cut = await page.evaluate(`[...document.querySelectorAll('.table tbody td')]
    .filter(cell => cell.scrollWidth > cell.clientWidth + 1)
    .map(cell => cell.textContent)`)
  expect(cut).toEqual([])
  await page.getByText('Reached', { exact: true }).first().click()
  await page.getByRole('tooltip').first().waitFor()
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('dialog', { name: 'Navigation' }).waitFor()
  await requireUsable()
  await page.getByRole('dialog').getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(noticed.complaints).toEqual([])
})
