import { expect } from 'bun:test'
import { PNG } from 'pngjs'
import { until } from '../../scripts/support/until.ts'
import type { FlowDefinition } from '../../src/core/flow/flow.ts'
import { AuthoredSite } from '../support/authored-site.ts'
import { type Page, still } from '../support/browser.ts'
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

const definition = (key: string, first: object = {}) => ({
  key,
  name: key,
  targeting: { urls: [{ match: 'exact', pattern: '/nowhere' }] },
  steps: [
    { key: 'hello', kind: 'modal', title: 'Hello', ...first },
    { key: 'create', title: 'Start a project', target: { selector: '#new' } },
    { key: 'invite', title: 'Invite your team', target: { selector: '#invite' } },
  ],
})

interface Startable {
  key: string
  name: string
  kind: string
  status: string
}

const draftOf = async (key: string) =>
  (await manage<{ definition: FlowDefinition }>('GET', `/flows/${key}/draft`)).definition

/** What the saved draft has of its steps. */
const stepsOf = async (key: string) => (await draftOf(key)).steps

let count = 0

/** A flow of its own, with more in its first step if wanted, whose draft is open in the dashboard and on the page. */
async function built(options: Parameters<typeof house.visit>[1] = {}, first: object = {}) {
  const key = `built-${++count}`
  await manage('POST', '/push', { flows: [definition(key, first)] })
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
  await still(tab)
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

const bodyOf = (tab: Page) => tab.locator('[part=body]')
const buttonsOf = async (key: string, place: number) => (await stepsOf(key))[place]!.buttons

test('the text and the labels of buttons are written on the card, where they stand', async () => {
  const { key, tab, complaints } = await built()
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
  await bodyOf(tab).getByText('Add text').waitFor()
  await bodyOf(tab).click()
  const text = bodyOf(tab).getByRole('textbox', { name: 'Text' })
  await text.fill('One <b>word</b>')
  await text.selectText()
  await bodyOf(tab).getByRole('button', { name: 'Italic' }).click()
  await until(
    async () => (await stepsOf(key))[1]!.body,
    body => body === '_One <b>word</b>_',
  )
  // What the fields show is the same text, and the card is drawn anew once the author is elsewhere.
  expect(await tab.locator('.fields textarea').inputValue()).toBe('_One <b>word</b>_')
  await tab.getByLabel('Title').focus()
  await bodyOf(tab).locator('em', { hasText: 'One <b>word</b>' }).waitFor()
  // The drawn button is none of the author's until it gets a label.
  await tab.locator('[part~=button]', { hasText: 'Next' }).click()
  const label = tab.locator('.actions').getByRole('textbox', { name: 'Label' })
  await tab.keyboard.press('Escape')
  await card(tab, 'Start a project').getByRole('button', { name: 'Next' }).waitFor()
  expect(await buttonsOf(key, 1)).toEqual([])
  await card(tab, 'Start a project').getByRole('button', { name: 'Next' }).click()
  await label.fill('Go on')
  await tab.keyboard.press('Enter')
  await card(tab, 'Start a project').getByRole('button', { name: 'Go on' }).waitFor()
  await until(
    () => buttonsOf(key, 1),
    buttons => buttons.some(({ label }) => label === 'Go on'),
  )
  expect(await buttonsOf(key, 1)).toMatchObject([
    { label: 'Back', action: 'back' },
    { label: 'Go on', action: 'next' },
  ])
  // Nothing was pressed: the same step is shown.
  await card(tab, 'Start a project').getByRole('button', { name: 'Back' }).waitFor()
  const undo = bar(tab).getByRole('button', { name: 'Undo' })
  await undo.click()
  await until(
    () => buttonsOf(key, 1),
    buttons => buttons.length === 0,
  )
  await undo.click()
  await until(
    async () => (await stepsOf(key))[1]!.body,
    body => body === '',
  )
  await bodyOf(tab).getByText('Add text').waitFor()
  expect(complaints).toEqual([])
})

test('by keyboard, too, the text and a label are written on the card, and give the focus back', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  await bodyOf(tab).focus()
  await tab.keyboard.press('Enter')
  await tab.keyboard.type('Read ')
  await tab.keyboard.press('Control+b')
  await tab.keyboard.type('this')
  await tab.keyboard.press('Escape')
  await bodyOf(tab).locator('strong', { hasText: 'this' }).waitFor()
  await until(
    () => bodyOf(tab).evaluate(body => (body.getRootNode() as ShadowRoot).activeElement === body),
    isFocused => isFocused,
  )
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Enter')
  await tab.keyboard.type('On we go')
  await tab.keyboard.press('Enter')
  const button = card(tab, 'Hello').getByRole('button', { name: 'On we go', exact: true })
  await button.waitFor()
  await until(
    () => button.evaluate(one => (one.getRootNode() as ShadowRoot).activeElement === one),
    isFocused => isFocused,
  )
  await until(
    async () => (await stepsOf(key))[0]!,
    ({ body, buttons }) => body === 'Read **this**' && buttons[0]?.label === 'On we go',
  )
})

/** A finger on a page, as its browser gets it. */
async function fingerOn(tab: Page) {
  const devtools = await tab.context().newCDPSession(tab)
  return (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number, y = 0) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: x === undefined ? [] : [{ x, y }],
    })
}

test('a tap on the text writes it, and a finger drags the card to another side', async () => {
  const { key, tab } = await built({ hasTouch: true })
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
  await bodyOf(tab).tap()
  await bodyOf(tab).getByRole('textbox', { name: 'Text' }).fill('By finger')
  await until(
    async () => (await stepsOf(key))[1]!.body,
    body => body === 'By finger',
  )
  await tab.keyboard.press('Escape')
  await bodyOf(tab).getByText('By finger').waitFor()
  await still(tab)
  const box = (await tab.locator('[part=title]').boundingBox())!
  const finger = await fingerOn(tab)
  const [x, y] = [box.x + 20, box.y + 8]
  await finger('touchStart', x, y)
  for (const dy of [-20, -100, -200, -300]) await finger('touchMove', x, y + dy)
  await finger('touchEnd')
  await until(
    async () => (await stepsOf(key))[1]!.placement.side,
    side => side === 'top',
  )
  expect(await tab.evaluate('scrollY')).toBe(0)
})

const chip = (tab: Page, title: string) => bar(tab).locator('.chip', { hasText: title })
const middleOf = async (locator: ReturnType<typeof chip>) => {
  const { x, y, width, height } = (await locator.boundingBox())!
  return [x + width / 2, y + height / 2] as const
}

test('a step is dragged to another place of the strip by mouse and by pen, unless Escape ends it', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  const [x, y] = await middleOf(chip(tab, 'Hello'))
  const [toX] = await middleOf(chip(tab, 'Start a project'))
  await tab.mouse.move(x, y)
  await tab.mouse.down()
  await tab.mouse.move(toX + 20, y, { steps: 4 })
  await tab.locator('.drop-before', { hasText: 'Invite your team' }).waitFor()
  await tab.keyboard.press('Escape')
  await chip(tab, 'Hello').and(tab.locator('.lifted')).waitFor({ state: 'detached' })
  await tab.mouse.up()
  await tab.mouse.move(x, y)
  await tab.mouse.down()
  await tab.mouse.move(toX + 20, y, { steps: 4 })
  await tab.mouse.up()
  await titlesBecome(key, 'Start a project', 'Hello', 'Invite your team')
  const devtools = await tab.context().newCDPSession(tab)
  const pen = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', x: number) =>
    devtools.send('Input.dispatchMouseEvent', {
      ...{ type, x, y, pointerType: 'pen', clickCount: 1 },
      ...(type !== 'mouseMoved' && { button: 'left' }),
      buttons: type === 'mouseReleased' ? 0 : 1,
    })
  const [penX] = await middleOf(chip(tab, 'Invite your team'))
  const [firstX] = await middleOf(chip(tab, 'Start a project'))
  await pen('mousePressed', penX)
  for (const x of [penX - 20, firstX + 40, firstX - 20]) await pen('mouseMoved', x)
  await pen('mouseReleased', firstX - 20)
  await titlesBecome(key, 'Invite your team', 'Start a project', 'Hello')
  // What was dragged is not chosen by it, and a press chooses as before.
  await card(tab, 'Hello').waitFor()
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
})

test('a finger that rests on a step drags it along the strip, and one that moves at once scrolls', async () => {
  const { key, tab } = await built({ hasTouch: true, viewport: { width: 500, height: 760 } })
  await card(tab, 'Hello').waitFor()
  const finger = await fingerOn(tab)
  const scrolled = () =>
    bar(tab)
      .locator('.strip')
      .evaluate(strip => strip.scrollLeft)
  const [x, y] = await middleOf(chip(tab, 'Start a project'))
  await Promise.all([
    finger('touchStart', x, y),
    ...[20, 40, 60, 80, 100].map(dx => finger('touchMove', x - dx, y)),
    finger('touchEnd'),
  ])
  await until(scrolled, left => left > 0)
  expect(await titles(key)).toEqual(['Hello', 'Start a project', 'Invite your team'])
  await bar(tab)
    .locator('.strip')
    .evaluate(strip => strip.scrollTo({ left: 0, behavior: 'instant' }))
  const [fromX] = await middleOf(chip(tab, 'Hello'))
  await finger('touchStart', fromX, y)
  await tab.locator('.chip.lifted', { hasText: 'Hello' }).waitFor()
  // At the strip's end, what is beyond it comes into sight.
  for (const dx of [10, 60, 200]) await finger('touchMove', fromX + dx, y)
  await finger('touchMove', 480, y)
  await tab.locator('.drop-after', { hasText: 'Invite your team' }).waitFor()
  await until(scrolled, left => left > 0)
  await finger('touchEnd')
  await titlesBecome(key, 'Start a project', 'Invite your team', 'Hello')
  expect(await tab.evaluate('scrollY')).toBe(0)
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

test('the flow that a button starts is chosen by its name', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  await tab.getByRole('button', { name: 'Add button' }).click()
  await tab.getByLabel('Action').selectOption('Start another flow')
  const flow = tab.getByLabel('Flow to start')
  // The builder's own flow is not published, and none that it can start.
  expect(await flow.locator('option').allTextContents()).not.toContain(`${key} (Tour)`)
  const { flows } = await manage<{ flows: Startable[] }>('GET', '/flows')
  const started = flows.filter(one => one.status === 'published' && one.kind === 'tour').at(-1)!
  await flow.selectOption(`${started.name} (Tour)`)
  await until(
    async () => (await stepsOf(key))[0]!.buttons[0],
    button => button?.action === 'start' && button.flow === started.key,
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
  await page.bringToFront()
  // What the form has is not saved when someone else saves.
  await page.route('**/draft', route => route.abort())
  await page.getByLabel('Name', { exact: true }).fill('Also mine')
  await page.getByText('Not saved: server unreachable').waitFor()
  await manage('PUT', `/flows/${key}/draft`, { ...definition(key), name: 'Theirs' }, '*')
  await page.unroute('**/draft')
  await tab.bringToFront()
  await tab.getByLabel('Title').fill('Mine')
  await bar(tab).getByText('someone else saved first').waitFor()
  await page.bringToFront()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await titlesBecome(key, 'Mine', 'Start a project', 'Invite your team')
  await bar(tab).getByText('Saved in the draft').waitFor()
})

test('a checklist is edited in the form, and the builder says so', async () => {
  const { key, tab } = await built()
  await card(tab, 'Hello').waitFor()
  const items = [{ key: 'one', title: 'First' }]
  const checklist = { key, name: key, kind: 'checklist', steps: [], checklist: { items } }
  await manage('PUT', `/flows/${key}/draft`, checklist, '*')
  await bar(tab).getByText('are edited in the dashboard’s form').waitFor()
  await card(tab, 'Hello').waitFor({ state: 'detached' })
  expect(await bar(tab).getByRole('button').allTextContents()).toEqual([''])
  const [form] = await Promise.all([
    tab.context().waitForEvent('page'),
    bar(tab).getByRole('link', { name: 'Open the form' }).click(),
  ])
  await form.getByRole('region', { name: 'Items' }).getByText('First').waitFor()
  expect(form.url()).toBe(house.at(`/flows/${key}/edit`))
  await bar(tab).getByRole('button', { name: 'Close builder' }).click()
  await tab.getByRole('heading', { name: 'News' }).waitFor()
})

test('the description of an image changes without its size, and another image has none yet', async () => {
  const media = { image: 'https://images.example/a.png', alt: '', width: 40, height: 30 }
  const { key, tab } = await built({}, { media })
  const image = tab.getByRole('group', { name: 'Image' })
  await image.getByLabel('Description').fill('A harbor')
  const mediaIs = (expected: object) =>
    until(
      async () => (await stepsOf(key))[0]!.media,
      found => JSON.stringify(found) === JSON.stringify(expected),
    )
  await mediaIs({ ...media, alt: 'A harbor' })
  await image.getByLabel('Image address').fill('https://images.example/b.png')
  await mediaIs({ image: 'https://images.example/b.png', alt: 'A harbor' })
  // The modal step was drawn anew, and the fields around the one in use are where they were.
  expect(await tab.locator('.builder .panel').evaluate(panel => panel.scrollTop)).toBeGreaterThan(0)
})

test('an image is uploaded in the form that the builder opens, and what is built then keeps it', async () => {
  const { key, tab } = await built()
  await choose(tab, 'Start a project')
  await card(tab, 'Start a project').waitFor()
  const [form] = await Promise.all([
    tab.context().waitForEvent('page'),
    tab.getByRole('link', { name: 'Open this step in the dashboard' }).click(),
  ])
  await form.getByRole('heading', { name: 'Start a project' }).waitFor()
  await form.getByText('Media', { exact: true }).click()
  const buffer = PNG.sync.write(new PNG({ width: 40, height: 30 }))
  await form
    .getByLabel('Upload image')
    .setInputFiles({ name: 'harbor.png', mimeType: 'image/png', buffer })
  await form.locator('.image-field img').waitFor()
  await isSaved(form)
  await form.close()
  await tab.bringToFront()
  const address = tab.getByLabel('Image address')
  await until(
    () => address.inputValue(),
    value => value.startsWith(`${house.server.url}/images/`),
  )
  await tab.getByLabel('Title').fill('Begin here')
  await titlesBecome(key, 'Hello', 'Begin here', 'Invite your team')
  expect((await stepsOf(key))[1]!.media?.image).toBe(await address.inputValue())
})

test('the bar makes room for what it would cover, and shows the step that is added', async () => {
  const { tab } = await built({}, { kind: 'slideout' })
  await tab.setViewportSize({ width: 390, height: 760 })
  await card(tab, 'Hello').waitFor()
  const boxOf = async (locator: ReturnType<typeof bar>) => (await locator.boundingBox())!
  await until(
    async () => [await boxOf(bar(tab)), await boxOf(card(tab, 'Hello'))] as const,
    ([of, below]) => of.y + of.height <= below.y,
  )
  for (let count = 0; count < 3; count++) {
    await bar(tab).getByRole('button', { name: 'Add step' }).click()
    await bar(tab).getByRole('button', { name: 'Without an element' }).click()
    await tab.locator('[part=title]:focus').waitFor()
    await tab.keyboard.type(`New ${count}`)
    await tab.keyboard.press('Enter')
    await card(tab, `New ${count}`).waitFor()
  }
  const chosen = bar(tab).locator('[aria-current=step]')
  await until(
    () => boxOf(chosen),
    ({ x, width }) => x >= 0 && x + width <= 390,
  )
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
      /builder|chip|field|class="(bar|panel|state|marks)|part="(title|body|button)|textarea/.test(
        found,
      ),
    )
  expect(await ofBuilder()).toEqual([])
  await bar(tab).getByRole('button', { name: 'Hide fields' }).click()
  await bodyOf(tab).click()
  await bodyOf(tab).getByRole('textbox', { name: 'Text' }).waitFor()
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
