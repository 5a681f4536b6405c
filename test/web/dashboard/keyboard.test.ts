import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { apiOf, type ListedFlow } from '../../support/binary.ts'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/**
 * The tasks that people come for, by Tab, arrows, Enter and letters alone. Every element that gets the
 * focus on the way visibly has it, and has a name.
 */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
  await breakStep()
})
afterAll(() => house.close())

/** The pages of six people miss the second step's element, and know another selector for it. */
async function breakStep(): Promise<void> {
  const ask = apiOf(house.server, house.snippetKey)
  const { flows } = (await (await ask('GET', '/flows')).json()) as {
    flows: (ListedFlow & { key: string })[]
  }
  const { id } = flows.find(({ key }) => key === 'welcome')!.steps[1]!
  const element = { matchCount: 1, tag: 'button', role: 'button', name: 'New', text: 'New' }
  const url = 'https://app.example.com/projects'
  const tell = async (what: string, body: object) => {
    const answer = await ask('POST', `/steps/${id}/${what}`, { url, flowVersion: 1, ...body })
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

/** The focused element: its name, and whether its focus is visible. */
const focused = `(() => {
  const { activeElement: it } = document
  if (!it || it === document.body) return null
  const label = it.labels?.[0]?.textContent
  const style = getComputedStyle(it)
  const { width, height } = it.getBoundingClientRect()
  return {
    name: (it.getAttribute('aria-label') ?? label ?? it.textContent).trim(),
    type: it.type ?? '',
    isMarked: style.outlineStyle !== 'none' || style.boxShadow !== 'none',
    isSeen: width > 0 && height > 0 && it.checkVisibility({ visibilityProperty: true }),
    isInDialog: !document.querySelector('dialog[open]') || it.closest('dialog') !== null,
  }
})()`

interface Focused {
  name: string
  /** Of an input or a button. */
  type: string
  isMarked: boolean
  isSeen: boolean
  isInDialog: boolean
}

/** Presses Tab until the named element has the focus. */
async function tabTo(page: Page, name: string | RegExp, type?: string): Promise<void> {
  const passed: string[] = []
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    const now = (await page.evaluate(focused)) as Focused | null
    // Between the last element and the first, the browser's own toolbar has the focus.
    if (!now) continue
    expect(now).toMatchObject({ isMarked: true, isSeen: true, isInDialog: true })
    const isNamed = typeof name === 'string' ? now.name.startsWith(name) : name.test(now.name)
    if (isNamed && (!type || now.type === type)) return
    passed.push(now.name)
  }
  throw new Error(`Tab does not lead to ${name}: ${passed.join(' | ')}`)
}

async function enter(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

const heading = (page: Page, name: string, level = 1) =>
  page.getByRole('heading', { level, name }).waitFor()

const nameOfFocused = async (page: Page) =>
  ((await page.evaluate(focused)) as Focused | null)?.name ?? null

test('the first tour of an empty organisation', async () => {
  const empty = await DashboardHouse.empty(house)
  try {
    const { page } = await empty.browser.page()
    await page.goto(await empty.link())
    await enter(page, 'Sign in with this link')
    await page.getByText('Three steps to your first tour').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await enter(page, 'Copy: A first tour')
    await page.getByText('Copied').waitFor()
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
    const [, file] = /<<'END'\n([\s\S]*)END\n/.exec(copied)!
    await Bun.write(`${empty.place.folder}/welcome.yaml`, file!)
    await empty.place.run(['flows', 'push', 'welcome.yaml', '--publish'])
    await apiOf(empty.server, empty.snippetKey)('GET', '/flows')
    await page.getByText('Needs a person').waitFor()
    await page.context().close()
  } finally {
    await empty.place.close()
  }
})

test('a broken step is repaired in the draft and published', async () => {
  const { page } = await house.visit('')
  await page.getByText('Needs a person').waitFor()
  await enter(page, /create.*in Welcome tour/)
  await page.getByText('A selector that would find it').waitFor()
  await enter(page, 'Put into draft')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // When the dialog closes, the focus returns to the button.
  expect(await nameOfFocused(page)).toBe('Put into draft')
  await page.keyboard.press('Enter')
  await enter(page, 'Put into draft')
  await page.getByRole('status').getByText('The draft has #create now').waitFor()
  await enter(page, /To the draft/)
  await heading(page, 'Draft waiting', 2)
  await enter(page, 'Publish')
  await page.getByRole('dialog').waitFor()
  await enter(page, 'Publish')
  await page.getByRole('row', { name: /Version 2/ }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.context().close()
})

test('the results of other days, and their CSV', async () => {
  const { page } = await house.visit('/flows/welcome')
  await page.getByText('Where people leave').waitFor()
  await enter(page, /Europe\/Berlin/)
  await page.locator('.menu-panel:popover-open').waitFor()
  await tabTo(page, 'From')
  await page.keyboard.press('Escape')
  await page.locator('.menu-panel:popover-open').waitFor({ state: 'detached' })
  expect(await nameOfFocused(page)).toContain('Europe/Berlin')
  await page.keyboard.press('Enter')
  await page.locator('.menu-panel:popover-open').waitFor()
  // A menu gives the focus to its first item, once it is open.
  await page.locator('button:focus', { hasText: 'Today' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=/)
  await page.locator('.menu-panel:popover-open').waitFor({ state: 'detached' })
  expect(await nameOfFocused(page)).toContain('Europe/Berlin')
  await enter(page, 'Download')
  await page.locator('.menu-panel:popover-open').waitFor()
  const pending = page.waitForEvent('download')
  // The focus follows once the menu is open.
  await page.locator('a:focus', { hasText: 'These numbers' }).waitFor()
  await page.keyboard.press('Enter')
  const download = await pending
  expect(new URL(download.url()).searchParams.get('from')).toBe(
    new URL(page.url()).searchParams.get('from'),
  )
  expect(readFileSync(await download.path(), 'utf8')).toContain('row_type')
  await page.context().close()
})

test('a rotated key, and a new token', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').first().waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.getByText('Current key').waitFor()
  await enter(page, 'Rotate the key')
  await page.getByRole('dialog').waitFor()
  await enter(page, 'Rotate')
  await page.getByText('The key above is new.').waitFor()
  await enter(page, 'Management tokens')
  await page.getByRole('button', { name: /Make a token/ }).waitFor()
  await enter(page, /Make a token/)
  await page.getByRole('dialog').waitFor()
  await tabTo(page, 'Name')
  await page.keyboard.type('Deploys')
  await tabTo(page, /flows:read/)
  await page.keyboard.press('Space')
  await enter(page, 'Make')
  await page
    .getByText(/crn_[\w-]{20,}/)
    .first()
    .waitFor()
  await page.context().close()
})

test('why somebody does not see a flow, who they are, and all that is stored of them', async () => {
  const { page } = await house.visit('')
  await page.getByText('Spring news').first().waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await heading(page, 'Why not?')
  await tabTo(page, 'Page address')
  await page.keyboard.type('https://app.example.com/projects')
  await tabTo(page, 'User id')
  await page.keyboard.type('person-0')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await enter(page, 'Welcome tour')
  await page.getByText('Welcome tour is not shown').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await heading(page, 'People')
  await tabTo(page, 'User id', 'search')
  await page.keyboard.type('person-0')
  await page.keyboard.press('Enter')
  await heading(page, 'person-0')
  await page.getByText('events that are kept').waitFor()
  const pending = page.waitForEvent('download')
  await enter(page, 'Export')
  expect((await pending).suggestedFilename()).toBe('person.json')
  await page.getByText('Everything that is stored of them was downloaded.').waitFor()
  await page.context().close()
})

test('the heading of another page has the focus as soon as it is drawn, before any key is pressed', async () => {
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
  await page.context().close()
})
