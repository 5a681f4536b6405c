import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { FlowDefinition } from '../../src/core/flow/flow.ts'
import { AuthoredSite } from '../support/authored-site.ts'
import type { Page } from '../support/browser.ts'
import { DashboardHouse, hardToUse, type Manage } from '../support/dashboard.ts'
import { isSaved, narrow } from '../support/flow-editor.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'

/** An author changes a draft on a customer's page with a strict policy, Trusted Types and a router of its own. */

let house: DashboardHouse
let site: AuthoredSite
let manage: Manage
beforeAll(async () => {
  house = await DashboardHouse.open()
  site = new AuthoredSite(house.server, house.snippetKey)
  manage = await house.manager('flows:read', 'flows:write')
})
afterAll(async () => {
  await site.stop()
  await house.close()
})

const definition = (key: string) => ({
  key,
  name: key,
  targeting: { urls: [{ match: 'exact', pattern: '/nowhere' }] },
  steps: [
    { key: 'hello', kind: 'modal', title: 'Hello' },
    { key: 'create', title: 'Start a project', target: { selector: '#new' } },
    { key: 'invite', title: 'Invite your team', target: { selector: '#invite' } },
  ],
})

const draftOf = async (key: string) =>
  (await manage<{ definition: FlowDefinition }>('GET', `/flows/${key}/draft`)).definition

/** What the saved draft has of its steps. */
const stepsOf = async (key: string) => (await draftOf(key)).steps

let count = 0

/** A flow of its own, whose draft is open in the dashboard and on the page. */
async function built(options: Parameters<typeof house.visit>[1] = {}) {
  const key = `built-${++count}`
  await manage('POST', '/push', { flows: [definition(key)] })
  const visit = { role: 'editor' as const, viewport: narrow, ...options }
  const { page } = await house.visit(`/flows/${key}/edit`, visit)
  const requests: string[] = []
  page.context().on('request', request => requests.push(request.url()))
  await page.getByRole('button', { name: 'Build on your page' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Page URL').fill(`${site.origin}/projects`)
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    dialog.getByRole('button', { name: 'Open page' }).click(),
  ])
  const complaints: string[] = []
  tab.on('console', message => message.type() === 'error' && complaints.push(message.text()))
  tab.on('pageerror', error => complaints.push(error.message))
  await bar(tab).getByText('Saved in the draft').waitFor()
  await page.getByText('Connected').waitFor()
  return { key, page, tab, requests, complaints }
}

const bar = (tab: Page) => tab.getByRole('region', { name: 'Cairn builder' })
const card = (tab: Page, title: string) => tab.getByRole('dialog', { name: title })
const choose = (tab: Page, title: string) => bar(tab).getByRole('button', { name: title }).click()

const titles = async (key: string) => (await stepsOf(key)).map(({ title }) => title)
const titlesBecome = (key: string, ...expected: string[]) =>
  until(
    () => titles(key),
    found => found.join() === expected.join(),
  )

/** Picks by moving the mouse, because the element under it gets no events. */
async function pick(tab: Page, name: string): Promise<void> {
  const box = (await tab.getByText(name, { exact: true }).first().boundingBox())!
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
}

/** Requests to Cairn, without those of the dashboard. */
const ofPage = (requests: readonly string[]) =>
  new Set(
    requests
      .filter(url => url.startsWith(house.server.url))
      .map(url => url.slice(house.server.url.length).replace(/[?#].*|-[0-9a-f]{16}/g, ''))
      .filter(path => !/^\/(dashboard|docs|api\/v1\/manage)\b/.test(path)),
  )

test('the steps stand on the page, and what is changed there is in the form and in the draft', async () => {
  const { key, page, tab, requests, complaints } = await built()
  await card(tab, 'Hello').waitFor()
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
  await tab.getByLabel('Title').fill('Begin here')
  await tab.getByRole('textbox', { name: 'Text' }).fill('Some <b>words</b>')
  await tab.getByRole('textbox', { name: 'Text' }).selectText()
  await tab.getByRole('button', { name: 'Bold' }).click()
  await tab.getByLabel('Side', { exact: true }).selectOption('Right')
  await tab.getByRole('button', { name: 'Add button' }).click()
  await tab.getByLabel('Label').fill('Go on')
  await card(tab, 'Begin here').getByRole('button', { name: 'Go on' }).waitFor()
  // Text that looks like HTML is text.
  await card(tab, 'Begin here').locator('strong', { hasText: 'Some <b>words</b>' }).waitFor()
  await until(
    async () => (await stepsOf(key))[1]!.buttons[0]?.label,
    label => label === 'Go on',
  )
  expect((await stepsOf(key))[1]).toMatchObject({
    title: 'Begin here',
    body: '**Some <b>words</b>**',
    placement: { side: 'right', align: 'center' },
    buttons: [{ label: 'Go on', action: 'next' }],
  })
  // Nothing else of the step or the flow has changed.
  expect(await draftOf(key)).toMatchObject({ targeting: definition(key).targeting })
  await page.bringToFront()
  await page.getByRole('list', { name: 'Changed on the page' }).getByText('Buttons of').waitFor()
  expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Begin here')
  await isSaved(page)
  // Nothing is published, reported or complained about.
  const { flows } = await manage<{ flows: { key: string; status: string }[] }>('GET', '/flows')
  expect(flows.find(flow => flow.key === key)!.status).toBe('draft')
  expect([...ofPage(requests)].toSorted()).toEqual([
    '/author/changes',
    '/author/draft',
    '/author/redeem',
    '/snippet-author.js',
    '/snippet-renderer.js',
    '/snippet.js',
  ])
  expect(complaints).toEqual([])
})

test('the title is written on the card, and the card is dragged to another side', async () => {
  const { key, tab } = await built()
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
  await tab.locator('[part=title]').click()
  await tab.keyboard.press('End')
  await tab.keyboard.type(' now')
  await titlesBecome(key, 'Hello', 'Start a project now', 'Invite your team')
  await tab.keyboard.press('Enter')
  await card(tab, 'Start a project now').waitFor()
  const box = (await tab.locator('[part=foot]').boundingBox())!
  await tab.mouse.move(box.x + 60, box.y + 2)
  await tab.mouse.down()
  await tab.mouse.move(box.x + 100, box.y - 300, { steps: 4 })
  await tab.mouse.up()
  await until(
    async () => (await stepsOf(key))[1]!.placement.side,
    side => side === 'top',
  )
})

test('steps are added with a picked element, moved, deleted, and each change is undone', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  await bar(tab).getByRole('button', { name: 'Add step' }).click()
  await pick(tab, 'New project')
  await card(tab, 'New project').waitFor()
  await titlesBecome(key, 'Hello', 'New project', 'Start a project', 'Invite your team')
  expect((await stepsOf(key))[1]!.target).toMatchObject({
    selector: '[data-testid="new-project"]',
    alternates: ['#new', '.primary'],
  })
  // The page got no click.
  expect(await tab.evaluate('window.clicks.filter(on => on.startsWith("button"))')).toEqual([])
  await tab.getByRole('button', { name: 'Move later' }).click()
  await titlesBecome(key, 'Hello', 'Start a project', 'New project', 'Invite your team')
  await tab.getByRole('button', { name: 'Delete step' }).click()
  await titlesBecome(key, 'Hello', 'Start a project', 'Invite your team')
  const undo = bar(tab).getByRole('button', { name: 'Undo' })
  await undo.click()
  await titlesBecome(key, 'Hello', 'Start a project', 'New project', 'Invite your team')
  await undo.click()
  await titlesBecome(key, 'Hello', 'New project', 'Start a project', 'Invite your team')
  await undo.click()
  await titlesBecome(key, 'Hello', 'Start a project', 'Invite your team')
  await until(
    () => undo.isDisabled(),
    isDisabled => isDisabled,
  )
})

test('an element that only surrounds others, or may name a person, is never chosen by itself', async () => {
  const { key, tab } = await built()
  await choose(tab, 'Start a project')
  await tab.getByRole('button', { name: 'Pick element' }).click()
  await pick(tab, 'AM')
  await tab.getByText('May be the name of a person').waitFor()
  expect(await tab.getByRole('radio', { checked: true }).count()).toBe(0)
  expect(await tab.getByRole('button', { name: 'Use element' }).isDisabled()).toBe(true)
  await tab.getByRole('radio', { name: '.profile' }).check()
  await tab.getByRole('button', { name: 'Use element' }).click()
  await until(
    async () => (await stepsOf(key))[1]!.target?.selector,
    selector => selector === '.profile',
  )
})

test('a question is added, and one of its choices is renamed', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  const question = tab.getByRole('group', { name: 'Question' })
  await question.getByLabel('Type').selectOption('Choice')
  await card(tab, 'Hello').getByText('Yes', { exact: true }).waitFor()
  await question.getByLabel('Choice 2').fill('Not yet')
  await until(
    async () => (await stepsOf(key))[0]!.question?.choices?.[1],
    choice => choice?.label === 'Not yet' && choice.key === 'choice-2',
  )
})

test('the keyboard alone can build, and keeps the focus while the step is drawn anew', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  await tab.keyboard.press('Alt+Shift+B')
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Enter')
  await card(tab, 'Start a project').waitFor()
  const title = tab.getByLabel('Title')
  await title.focus()
  await tab.keyboard.press('End')
  for (const letter of ' by keys') {
    await tab.keyboard.press(letter === ' ' ? 'Space' : letter)
    // Slower than a pause, so that the step is drawn anew while it is typed.
    await card(tab, await title.inputValue()).waitFor()
  }
  await titlesBecome(key, 'Hello', 'Start a project by keys', 'Invite your team')
  await bar(tab).getByRole('button', { name: 'Hello' }).focus()
  await tab.keyboard.press('Control+z')
  await titlesBecome(key, 'Hello', 'Start a project', 'Invite your team')
  // In a modal step, too, which makes the page around it unusable.
  await tab.keyboard.press('Enter')
  await card(tab, 'Hello').waitFor()
  await title.focus()
  await tab.keyboard.press('End')
  await tab.keyboard.type(' you')
  await titlesBecome(key, 'Hello you', 'Start a project', 'Invite your team')
  expect(await title.inputValue()).toBe('Hello you')
})

test('building goes on where the page draws itself anew, and over a page load', async () => {
  const { key, tab, complaints } = await built()
  await choose(tab, 'Invite your team')
  await bar(tab).getByText('The element of this step is not on this page').waitFor()
  await tab.getByRole('link', { name: 'Team' }).click()
  await card(tab, 'Invite your team').waitFor()
  await tab.evaluate('document.body.replaceChildren(...document.body.childNodes)')
  await tab.evaluate(`document.querySelector('[data-cairn=builder]').remove()`)
  await bar(tab).waitFor()
  await tab.goto(`${site.origin}/team`)
  await card(tab, 'Invite your team').waitFor()
  await tab.getByLabel('Title').fill('Ask your team')
  await titlesBecome(key, 'Hello', 'Start a project', 'Ask your team')
  expect(complaints).toEqual([])
})

test('a frozen page keeps its menus open, so that what is in them can be picked', async () => {
  const { key, tab } = await built()
  await choose(tab, 'Start a project')
  await tab.getByRole('button', { name: 'Hide fields' }).click()
  // A menu that closes when the pointer leaves it, another one when the focus does.
  await tab.evaluate(`{
    const menu = document.createElement('div')
    menu.style.cssText = 'position: fixed; left: 20px; bottom: 240px; padding: 20px; background: #fff'
    const item = document.createElement('button')
    item.id = 'in-menu'
    item.textContent = 'In the menu'
    menu.append(item)
    menu.addEventListener('mouseleave', () => menu.remove())
    document.addEventListener('pointerdown', event => menu.contains(event.target) || menu.remove())
    document.body.append(menu)
  }`)
  const box = (await tab.getByText('In the menu').boundingBox())!
  await tab.mouse.move(box.x + 5, box.y + 5)
  await tab.keyboard.press('Alt+Shift+F')
  await bar(tab).getByRole('button', { name: 'Freeze page', pressed: true }).waitFor()
  await bar(tab).getByRole('button', { name: 'Edit step' }).click()
  await tab.getByRole('button', { name: 'Pick element' }).click()
  await pick(tab, 'In the menu')
  await until(
    async () => (await stepsOf(key))[1]!.target?.selector,
    selector => selector === '#in-menu',
  )
  await bar(tab).getByRole('button', { name: 'Freeze page' }).click()
  await tab.mouse.click(500, 300)
  await tab.getByText('In the menu').waitFor({ state: 'detached' })
})

test('without the editor open, changes wait, and the page says where to go', async () => {
  const { key, page, tab } = await built()
  await page.getByRole('link', { name: 'Versions' }).click()
  await tab.getByLabel('Title').fill('Later')
  await bar(tab).getByText('Go to the tab with Cairn’s dashboard').waitFor()
  expect(await titles(key)).toEqual(['Hello', 'Start a project', 'Invite your team'])
  await page.getByRole('link', { name: 'Edit' }).click()
  await titlesBecome(key, 'Later', 'Start a project', 'Invite your team')
  // A tab that was loaded anew goes on, too.
  await page.reload()
  await page.getByText('Connected').waitFor()
  await tab.getByLabel('Title').fill('Even later')
  await titlesBecome(key, 'Even later', 'Start a project', 'Invite your team')
  await page.getByRole('button', { name: 'Stop building' }).click()
  await bar(tab).getByText('This session has ended').waitFor()
  await bar(tab).getByRole('button', { name: 'Close builder' }).click()
  // The page is a visitor's again.
  await tab.getByRole('heading', { name: 'News' }).waitFor()
})

test('a conflict is explained on the page, and is resolved in the dashboard', async () => {
  const { key, page, tab } = await built()
  await manage('PUT', `/flows/${key}/draft`, { ...definition(key), name: 'Theirs' }, '*')
  await tab.getByLabel('Title').fill('Mine')
  await bar(tab).getByText('someone else saved first').waitFor()
  await page.bringToFront()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await titlesBecome(key, 'Mine', 'Start a project', 'Invite your team')
  await bar(tab).getByText('Saved in the draft').waitFor()
})

test('on a phone, targets are 44 pixels high, and axe-core reports nothing', async () => {
  const { tab } = await built()
  await tab.setViewportSize({ width: 390, height: 760 })
  await card(tab, 'Hello').waitFor()
  const low = await tab
    .locator('.builder')
    .locator('button, input:not([type=checkbox]), select, textarea')
    .evaluateAll(all =>
      all.filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML),
    )
  expect(low).toEqual([])
  const width = await tab.evaluate('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(390)
  const ofBuilder = async () =>
    (await hardToUse(tab)).filter(found =>
      /builder|chip|field|class="(bar|panel|state)/.test(found),
    )
  expect(await ofBuilder()).toEqual([])
})

test('if no page connects, the dashboard says what may be wrong', async () => {
  const { page } = await house.visit('/flows/welcome/edit', { role: 'editor' })
  await page.getByRole('button', { name: 'Build on your page' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Page URL').fill(`${site.origin}/app.js`)
  await dialog.getByRole('button', { name: 'Open page' }).click()
  await page.getByText('The page needs the snippet').waitFor()
  await page.getByText('connect-src').waitFor()
  await page.getByText(/cairn\.author\('/).waitFor()
})

test('building is offered only to people who may write flows', async () => {
  const { page } = await house.visit('/flows/welcome/edit', { role: 'viewer' })
  await page.getByText('Editing needs the editor role').waitFor()
  expect(await page.getByRole('button', { name: 'Build on your page' }).count()).toBe(0)
})
