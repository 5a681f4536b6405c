import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../../support/browser.ts'
import {
  DashboardHouse,
  type Manage,
  requireSound,
  requireSoundOnEveryScreen,
} from '../../support/dashboard.ts'
import { draftOf as draftBy, isSaved, openEditor, textIn, wide } from '../../support/flow-editor.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { tabTo } from '../../support/keyboard.ts'

/** A flow as form fields, for authors who do not write YAML. */

let house: DashboardHouse
let manage: Manage

beforeAll(async () => {
  house = await DashboardHouse.open()
  manage = await house.manager('flows:read', 'flows:write')
})
afterAll(() => house.close())

const tour = [
  { key: 'hello', title: 'Hello', body: 'Nice to see you.' },
  { key: 'create', title: 'Start a project', target: { selector: '#new' } },
  { key: 'invite', title: 'Invite your team', target: { selector: '#invite' } },
]

/** Makes a draft for one test, and opens its form. */
async function edit(key: string, flow: object = { steps: tour }, viewport?: typeof wide) {
  await manage('POST', '/push', { flows: [{ key, name: key, ...flow }] })
  return openEditor(house, `${key}/edit`, viewport && { viewport })
}

const draftOf = (key: string) => draftBy(manage, key)

const keysIn = (text: string) => [...text.matchAll(/^ *- key: (.*)$/gm)].map(([, key]) => key)

const steps = (page: Page) => page.getByRole('region', { name: 'Steps' })
const choose = (page: Page, title: string | RegExp) =>
  steps(page).getByRole('button', { name: title, exact: true }).click()
const part = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
/** Chooses by typing what it is called. */
async function find(within: Pick<Page, 'getByRole'>, name: string, text: string) {
  const box = within.getByRole('combobox', { name, exact: true })
  await box.fill(text)
  await box.press('Enter')
}
const says = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text).waitFor()

test('every part is usable on every screen, also from right to left', async () => {
  const flow = {
    targeting: {
      urls: [{ match: 'prefix', pattern: '/projects' }],
      audience: { rules: [{ attribute: 'plan', op: 'in', value: ['free', 'team'] }] },
    },
    schedule: { from: '2026-11-01', timezone: 'Europe/Berlin' },
    steps: [
      ...tour,
      {
        key: 'more',
        title: 'More',
        page: { match: 'exact', pattern: '/more' },
        target: { selector: 'button', alternates: ['#b'] },
        buttons: [{ label: 'Read', action: 'link', href: '/help' }],
        advance: { on: 'event', event: 'done' },
      },
    ],
  }
  const { page, noticed } = await edit('sound', flow, wide)
  for (const title of ['Appearance', 'Advanced']) {
    await page.locator('summary', { hasText: title }).click()
  }
  await page.getByText('Spring news').waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await part(page, 'Pages and people')
  await page.getByLabel('Values').waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await part(page, 'Schedule and rollout')
  await requireSoundOnEveryScreen(page, noticed)
  await choose(page, /^4?More/)
  for (const title of ['CSS selector', 'Finding the element', 'Media', 'Page of this step']) {
    await page.locator('summary', { hasText: title }).click()
  }
  await page.evaluate('document.documentElement.dir = "rtl"')
  await requireSoundOnEveryScreen(page, noticed)
})

/** Whether the focused element has this label. A function, because the page's policy forbids eval of strings. */
const isFocusedLabelled = (label: string) =>
  (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent === label

describe('steps', () => {
  test('are added by the keyboard alone, and saved by themselves', async () => {
    const { page, noticed } = await edit('keyboard')
    await tabTo(page, /^\d?Start a project$/)
    await page.keyboard.press('Enter')
    await page.getByText('Step 2 of 3').waitFor()
    await tabTo(page, /^Add step$/)
    await page.keyboard.press('Enter')
    await says(page, 'Step 3 of 4 added.')
    await page.waitForFunction(isFocusedLabelled, 'Title')
    await page.keyboard.type('Look around')
    await tabTo(page, /^Text$/)
    await page.keyboard.type('There is **more**.')
    await tabTo(page, /^Add button$/)
    await page.keyboard.press('Enter')
    await page.waitForFunction(isFocusedLabelled, 'Label')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Go on')
    await isSaved(page)
    expect(await draftOf('keyboard')).toContain(`
  - key: step-4
    title: Look around
    body: There is **more**.
    buttons:
      - { label: Go on, action: next }

  - key: invite
`)
    await requireSound(page, noticed)
  })

  test('are moved by keys, buttons and dragging, and their new place is announced', async () => {
    const { page } = await edit('moved')
    const handle = (title: string) => page.getByRole('button', { name: `Move “${title}”` })
    await handle('Invite your team').focus()
    await page.keyboard.press('ArrowUp')
    await says(page, '“Invite your team” is now 2 of 3.')
    await page.waitForFunction(() =>
      document.activeElement?.getAttribute('aria-label')?.includes('Invite your team'),
    )
    await page.keyboard.press('ArrowUp')
    await says(page, '“Invite your team” is now 1 of 3.')
    await handle('Hello').dragTo(
      steps(page).getByRole('button', { name: 'Start a project', exact: true }),
      { targetPosition: { x: 20, y: 30 } },
    )
    await says(page, '“Hello” is now 3 of 3.')
    await page.getByRole('button', { name: 'Move up' }).click()
    await says(page, '“Hello” is now 2 of 3.')
    await isSaved(page)
    expect(keysIn(await draftOf('moved'))).toEqual(['invite', 'hello', 'create'])
  })

  test('are duplicated and deleted, and a deletion can be undone', async () => {
    const { page } = await edit('undone')
    const before = await draftOf('undone')
    await choose(page, 'Start a project')
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await says(page, '“Start a project” duplicated.')
    await page.getByText('Step 3 of 4').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Start a project” deleted.')
    await choose(page, 'Hello')
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Hello” deleted.')
    expect(await steps(page).getByRole('listitem').count()).toBe(2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await says(page, '“Hello” restored.')
    await page.getByText('Step 1 of 3').waitFor()
    await isSaved(page)
    expect(await draftOf('undone')).toBe(before)
  })
})

test('what is taken back while it is being saved is not called saved before the server has it', async () => {
  const { page } = await edit('taken-back')
  const before = await draftOf('taken-back')
  const held = Promise.withResolvers<void>()
  const sent = page.waitForRequest(request => request.method() === 'PUT')
  await page.route(
    '**/draft',
    async route => {
      const response = await route.fetch()
      await held.promise
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await choose(page, 'Hello')
  const title = page.getByLabel('Title', { exact: true })
  await title.fill('Good morning')
  await sent
  await title.fill('Hello')
  await says(page, 'Saving…')
  held.resolve()
  await isSaved(page)
  expect(await draftOf('taken-back')).toBe(before)
})

describe('problems', () => {
  test('of a field are shown once it was left, at the field and beside its part', async () => {
    const { page, noticed } = await edit('wrong')
    await choose(page, 'Start a project')
    await page.getByText('CSS selector').first().click()
    const field = page.getByLabel('CSS selector')
    await field.fill('#new >')
    const problem = page.locator('.detail .field-problems .error')
    await says(page, 'Not saved. Fix 1 error.')
    expect(await problem.count()).toBe(0)
    await field.press('Tab')
    await problem.waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const described = (await field.getAttribute('aria-describedby'))!.split(' ')
    const texts = await Promise.all(described.map(id => page.locator(`[id="${id}"]`).textContent()))
    expect(texts.join(' ')).toContain((await problem.textContent())!)
    await steps(page).getByRole('button', { name: 'Start a project 1 error' }).waitFor()
    await requireSound(page, noticed)
    await field.fill('#newer')
    await problem.waitFor({ state: 'detached' })
    await isSaved(page)
  })

  test('are all shown on review, which leads to the first error', async () => {
    const { page } = await edit('reviewed')
    await part(page, 'Schedule and rollout')
    await page.getByLabel('Share of people', { exact: true }).fill('x')
    await part(page, 'Pages and people')
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('button', { name: 'Review and publish' }).click()
    await page.getByRole('button', { name: 'Schedule and rollout 1 error' }).waitFor()
    await page.waitForFunction(isFocusedLabelled, 'Share of people')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('10')
    await page.getByRole('button', { name: 'Pages and people 1 error' }).click()
    await page.getByRole('button', { name: 'Remove rule 1' }).click()
    await page.getByRole('button', { name: 'Review and publish' }).click()
    await page.waitForURL(/\/reviewed\/versions/)
    expect(await draftOf('reviewed')).toContain('rollout: { percent: 10 }')
  })

  test('of YAML that cannot be read keep the form closed, and nothing is lost', async () => {
    const { page, noticed } = await edit('unreadable')
    await page.getByText('YAML', { exact: true }).click()
    const editor = page.locator('.cm-content')
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('key: unreadable\nsteps: [\n')
    await page.getByText('Form', { exact: true }).click()
    await page.getByText('The form cannot read this YAML').waitFor()
    await requireSound(page, noticed)
    await page.reload()
    await page.getByRole('button', { name: 'Open YAML' }).click()
    await editor.waitFor()
    expect(await textIn(page)).toContain('steps: [')
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('key: unreadable\nsteps:\n- key: hello\n  title: Hello\n')
    await page.getByText('Form', { exact: true }).click()
    await choose(page, 'Hello')
    await page.getByLabel('Title', { exact: true }).fill('Good morning')
    await isSaved(page)
    expect(await draftOf('unreadable')).toContain('title: Good morning')
  })
})

describe('a new flow', () => {
  test('of another kind has an item or a message to begin with', async () => {
    const { page } = await openEditor(house, 'new/blank', { viewport: wide })
    await page.getByLabel('Checklist', { exact: false }).check()
    await page.getByRole('region', { name: 'Items' }).getByRole('listitem').waitFor()
    await page.getByRole('radio', { name: /^Announcement/ }).check()
    await part(page, 'Message')
    await page.getByLabel('Title', { exact: true }).fill('News')
    expect(await page.getByRole('region', { name: 'Steps' }).count()).toBe(0)
    expect(await page.getByText('Element', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Ask a question' }).click()
    const card = page.frameLocator('iframe')
    await card.getByRole('button', { name: 'Skip' }).waitFor()
  })

  test('gets an unused key from its name until somebody sets one, and keeps its key once saved', async () => {
    const { page } = await openEditor(house, 'new/blank')
    const key = page.getByLabel('Key', { exact: true })
    await page.getByText('Advanced').click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Über "uns" & mehr')
    expect(await key.inputValue()).toBe('uber-uns-mehr')
    await name.fill('Welcome')
    expect(await key.inputValue()).toBe('welcome-2')
    await name.fill('案内')
    expect(await key.inputValue()).toBe('flow')
    await key.fill('mine')
    await name.fill('Another name')
    expect(await key.inputValue()).toBe('mine')
    await key.fill('kept-key')
    await page.getByRole('button', { name: 'Create draft' }).click()
    await page.waitForURL('**/flows/kept-key/edit')
    await page.getByRole('link', { name: 'Versions' }).waitFor()
    await name.fill('A third name')
    await isSaved(page)
    expect(await draftOf('kept-key')).toContain('key: kept-key\nname: A third name')
  })

  test('with a key that is taken is not created, and nothing is overwritten', async () => {
    const { page } = await openEditor(house, 'new/blank')
    await page.getByText('Advanced').click()
    await page.getByLabel('Key', { exact: true }).fill('welcome')
    await page.getByRole('button', { name: 'Create draft' }).click()
    await says(page, 'The key “welcome” is in use')
    expect(await draftOf('welcome')).toContain('Start a project')
  })
})

test('defaults are not written, rules keep the types of their values, and a new rule gets the focus', async () => {
  const { page } = await edit('rules')
  const before = await draftOf('rules')
  const often = page.getByLabel('How often a person sees it')
  await often.selectOption('always')
  await often.selectOption('once')
  await choose(page, 'Start a project')
  await page.getByLabel('Side', { exact: true }).selectOption('top')
  await isSaved(page)
  expect(await draftOf('rules')).toBe(
    before.replace('"#new" }\n', '"#new" }\n    placement: { side: top }\n'),
  )
  await part(page, 'Pages and people')
  await page.getByRole('button', { name: 'Add page' }).click()
  await find(page, 'Page', 'https://app.example.com/home')
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.waitForFunction(isFocusedLabelled, 'Trait')
  await find(page, 'Trait', 'seats')
  await page.getByLabel('Condition', { exact: true }).selectOption('gte')
  await page.getByLabel('Value').fill('10')
  await page.getByRole('button', { name: 'Add rule' }).click()
  const second = page.getByRole('group', { name: 'Rule 2' })
  await find(second, 'Trait', 'plan')
  // Of a trait in the settings, the values that people have are suggested.
  await find(second, 'Value', 'pro')
  await second.getByLabel('Condition', { exact: true }).selectOption('in')
  await second.getByLabel('Values').fill('free, "10", team')
  await page.getByLabel('Show to people who match').selectOption('any')
  await isSaved(page)
  expect(await draftOf('rules')).toContain(`targeting:
  urls:
    - { match: prefix, pattern: https://app.example.com/home }
  audience:
    match: any
    rules:
      - { attribute: seats, op: gte, value: 10 }
      - { attribute: plan, op: in, value: [free, "10", team] }
`)
  await page.getByRole('button', { name: 'Remove rule 1' }).click()
  await page.getByRole('group', { name: 'Rule 2' }).waitFor({ state: 'detached' })
  expect(await page.getByRole('combobox', { name: 'Trait' }).inputValue()).toBe('plan')
})

test('times, units and other flows are chosen, by name and in seconds', async () => {
  const { page, noticed } = await edit('timed', {
    steps: tour,
    schedule: { from: '2026-11-01' },
    when: { after: 'gone' },
  })
  await page.getByRole('button', { name: /^Schedule and rollout/ }).click()
  const after = page.getByLabel('After another flow', { exact: true })
  expect(await after.inputValue()).toBe('gone')
  await after.selectOption({ label: 'Welcome tour' })
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-11-01')
  await page.getByLabel('From: time').fill('09:00')
  await page.getByLabel('To', { exact: true }).fill('2026-12-24')
  await find(page, 'Time zone', 'Lisbon')
  await page.getByLabel('Time on the page', { exact: true }).fill('2.5')
  await page.getByLabel('Earlier event', { exact: true }).fill('opened')
  await page.getByLabel('Within the last', { exact: true }).fill('3')
  await page.getByLabel('Unit', { exact: true }).selectOption({ label: 'hours' })
  await requireSound(page, noticed)
  await isSaved(page)
  const draft = await draftOf('timed')
  expect(draft).toContain(
    'schedule: { from: 2026-11-01T09:00, to: 2026-12-24, timezone: Europe/Lisbon }',
  )
  expect(draft).toContain('when: { delayMs: 2500, after: welcome, event: opened, within: 3h }')
  await page.getByLabel('From: time').fill('')
  await page.getByLabel('To', { exact: true }).fill('')
  await isSaved(page)
  expect(await draftOf('timed')).toContain(
    'schedule: { from: 2026-11-01, timezone: Europe/Lisbon }',
  )
  await choose(page, 'Start a project')
  await page.getByText('Finding the element').click()
  await page.getByLabel('Match number', { exact: true }).fill('1')
  await page.getByLabel('Wait for the element', { exact: true }).fill('5')
  await isSaved(page)
  expect(await draftOf('timed')).toContain('target: { selector: "#new", nth: 0, waitMs: 5000 }')
})

test('a flow starts by a click, a button starts another flow, and a page is an expression', async () => {
  const { page, noticed } = await edit('starts', { steps: tour })
  await page.getByRole('button', { name: /^Schedule and rollout/ }).click()
  const starts = page.getByLabel('Starts', { exact: true })
  await starts.selectOption({ label: 'On a click' })
  const element = page.getByRole('group', { name: 'Element to click' })
  await element.getByText('CSS selector', { exact: true }).first().click()
  await element.getByRole('textbox').fill('#export')
  await isSaved(page)
  expect(await draftOf('starts')).toContain('trigger: { on: click, element: "#export" }')
  await starts.selectOption({ label: 'By itself' })
  await page.getByRole('button', { name: /^Pages and people/ }).click()
  await page.getByRole('button', { name: 'Add page' }).click()
  await page.getByLabel('Page address').selectOption({ label: 'matches the regular expression' })
  await find(page, 'Page', '/projects/[0-9]+')
  await choose(page, 'Start a project')
  await page.getByRole('button', { name: 'Add button' }).click()
  await page.getByLabel('Action').selectOption({ label: 'Start another flow' })
  await page.getByLabel('Flow to start').selectOption({ label: 'Welcome tour' })
  await requireSound(page, noticed)
  await isSaved(page)
  const draft = await draftOf('starts')
  expect(draft).toContain('{ match: regex, pattern: "/projects/[0-9]+" }')
  expect(draft).toContain('{ label: Next, action: start, flow: welcome }')
  expect(draft).not.toContain('trigger')
})

test('priority is moved past the flows that are shown on the same pages, by buttons and by dragging', async () => {
  const { page } = await edit('first')
  await page.getByText('Advanced').click()
  const list = page.getByRole('group', { name: 'Priority' })
  await list.getByText('level with').getByText('Welcome tour').waitFor()
  await list.getByRole('button', { name: 'Show earlier' }).click()
  await list
    .getByRole('listitem')
    .nth(1)
    .getByText('Spring news')
    .or(list.getByText('Welcome tour'))
    .first()
    .waitFor()
  expect(await list.getByRole('listitem').first().textContent()).toContain('This flow')
  await isSaved(page)
  expect(await draftOf('first')).toContain('priority: 1')
  const last = list.getByRole('listitem').last()
  await last.scrollIntoViewIfNeeded()
  await list.locator('[draggable]').dragTo(last, { targetPosition: { x: 20, y: 30 } })
  await list.getByRole('listitem').last().getByText('This flow').waitFor()
  await isSaved(page)
  expect(await draftOf('first')).toContain('priority: -1')
})

test('a checklist has items, which an event ticks off', async () => {
  const { page } = await edit('list', {
    kind: 'checklist',
    title: 'First steps',
    checklist: { items: [{ key: 'invite', title: 'Invite your team' }] },
  })
  await page.getByRole('button', { name: 'Add item' }).click()
  await page.getByLabel('Title', { exact: true }).fill('Read the guide')
  await page.getByLabel('Event', { exact: true }).fill('guide_read')
  await find(page, 'Link', '/guide')
  await isSaved(page)
  expect(await draftOf('list')).toContain(`
    - key: item-2
      title: Read the guide
      completeOn: { event: guide_read }
      href: /guide
`)
  await page.getByLabel('Event', { exact: true }).fill('')
  await isSaved(page)
  expect(await draftOf('list')).not.toContain('completeOn')
})

/** Creates a draft, and opens its languages. */
async function editLanguages(key: string, flow: object, viewport?: typeof wide) {
  const buttons = [{ label: 'Go', action: 'next' }]
  const steps = [{ key: 'hello', title: 'Hello', body: 'See **this**.', buttons }]
  const visited = await edit(key, { steps, ...flow }, viewport)
  await visited.page.getByRole('button', { name: /^Languages/ }).click()
  await visited.page.getByRole('heading', { name: 'Other languages' }).waitFor()
  return visited
}

const textField = (page: Page, id: string) =>
  page.locator(`[data-text="${id}"]`).locator('input, textarea')

const textsOf = async (key: string) =>
  (await manage<{ definition: { texts?: object } }>('GET', `/flows/${key}/draft`)).definition.texts

test('the languages of a flow are usable on every screen, also from right to left', async () => {
  const texts = { ar: { steps: { hello: { title: 'أهلًا' } } }, de: {} }
  const { page, noticed } = await editLanguages('sound', { locale: 'en', texts }, wide)
  await page.getByRole('button', { name: 'Edit Arabic' }).click()
  await page.getByText('2 of 3 texts are missing in "ar"').waitFor()
  await page.evaluate('document.documentElement.dir = "rtl"')
  await requireSoundOnEveryScreen(page, noticed)
})

test('a language is added, translated, previewed and saved', async () => {
  const { page } = await editLanguages('written', {}, wide)
  await page.getByText('Choose the language that the flow').waitFor()
  await find(page, 'Written in', 'English')
  await find(page, 'Add a language', 'Hebrew')
  await textField(page, 'steps.hello.title').fill('שלום')
  await textField(page, 'steps.hello.buttons.0').fill('קדימה')
  await page.getByRole('cell', { name: '2 of 3' }).waitFor()
  const preview = page.frameLocator('iframe[title="Preview of the flow"]')
  await preview.locator('h2').getByText('שלום').waitFor()
  await preview.getByRole('button', { name: 'קדימה' }).waitFor()
  await isSaved(page)
  expect(await textsOf('written')).toEqual({
    he: { steps: { hello: { title: 'שלום', buttons: ['קדימה'] } } },
  })
  await textField(page, 'steps.hello.title').fill('')
  await page.getByRole('button', { name: 'Remove Hebrew' }).click()
  await page.getByText('No other languages yet').waitFor()
  await isSaved(page)
  expect(await textsOf('written')).toBeUndefined()
})

test('translators download a file, and the texts of the file that they return are imported', async () => {
  const { page } = await editLanguages('files', { locale: 'en', texts: { de: {} } })
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download German as XLIFF' }).click()
  const file = await coming
  expect(file.suggestedFilename()).toBe('files.de.xlf')
  const text = readFileSync(await file.path(), 'utf8')
  const give = (name: string, content: string) =>
    page.getByLabel('Import translations').setInputFiles({
      name,
      mimeType: 'application/xliff+xml',
      buffer: Buffer.from(content),
    })
  const done = text
    .replace('<source>Hello</source>', '<source>Hello</source><target>Hallo</target>')
    .replace('<source>Go</source>', '<source>Gone</source><target>Los</target>')
  await give('done.xlf', done)
  await page.getByText('German: 1 imported, 0 unchanged.').waitFor()
  await page.getByText('1 skipped, because the flow changed').waitFor()
  expect(await textField(page, 'steps.hello.title').inputValue()).toBe('Hallo')
  await give('wrong.xlf', '<!DOCTYPE a><a/>')
  await page.getByText('a document type').waitFor()
  await give('de.json', '{"steps.hello.buttons.0": "Los"}')
  await page.getByText('German: 1 imported, 0 unchanged.').waitFor()
  await isSaved(page)
  expect(await textsOf('files')).toEqual({
    de: { steps: { hello: { title: 'Hallo', buttons: ['Los'] } } },
  })
})

test('people without write access can see everything but change nothing, in the form and in the YAML', async () => {
  const { page, noticed } = await openEditor(house, 'welcome/edit', { role: 'viewer' })
  await page.getByText('View only.').waitFor()
  await choose(page, 'Start a project')
  expect(await page.getByLabel('Title', { exact: true }).isDisabled()).toBe(true)
  for (const name of ['Add step', 'Delete', 'Move up', 'Pick on page', 'Review and publish']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  }
  expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0)
  await requireSound(page, noticed)
  await page.getByText('YAML', { exact: true }).click()
  await page.locator('.cm-content').click()
  await page.keyboard.type('x')
  expect(await textIn(page)).toStartWith('key: welcome')
})

test('every field of a flow shows its problems and marks its part', async () => {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'every-field.tsx')],
    target: 'browser',
  })
  const { page, noticed } = await house.browser.page()
  await page.route('**', route => route.fulfill({ contentType: 'text/html', body: '<body>' }))
  await page.goto('https://dashboard.test/dashboard/harbor')
  await page.addScriptTag({ content: await outputs[0]!.text(), type: 'module' })
  await page.waitForFunction('globalThis.lookAtAll')
  expect(noticed.complaints).toEqual([])
  const { count, faults } = (await page.evaluate('lookAtAll()')) as {
    count: number
    faults: string[]
  }
  expect(faults).toEqual([])
  expect(count).toBeGreaterThan(100)
})
