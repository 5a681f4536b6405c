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
import {
  draftOf as draftBy,
  openEditor,
  saveDraft as save,
  textIn,
} from '../../support/flow-editor.ts'
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
async function edit(key: string, flow: object = { steps: tour }, view = 'form') {
  await manage('POST', '/push', { flows: [{ key, name: key, ...flow }] })
  return openEditor(house, `${key}/edit?view=${view}`)
}

const draftOf = (key: string) => draftBy(manage, key)

const keysIn = (text: string) => [...text.matchAll(/^ *- key: (.*)$/gm)].map(([, key]) => key)

const steps = (page: Page) => page.getByRole('region', { name: 'Steps' })
const choose = (page: Page, title: string) =>
  steps(page).getByRole('button', { name: title, exact: true }).click()
const says = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text).waitFor()
test('every part is usable on every screen, also from right to left', async () => {
  const { page, noticed } = await edit('sound', {
    targeting: {
      urls: [{ match: 'prefix', pattern: '/projects' }],
      audience: { rules: [{ attribute: 'plan', op: 'in', value: ['free', 'team'] }] },
    },
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
  })
  await page.getByText('Look', { exact: true }).click()
  await page.getByText('Priority and key').click()
  await requireSoundOnEveryScreen(page, noticed)
  await page.getByRole('button', { name: 'Pages and people' }).click()
  await page.getByLabel('Values, separated by commas').waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await steps(page)
    .getByRole('button', { name: /^More \d warning/ })
    .click()
  await page.getByText('Finding the element').click()
  await page.getByText('Page, rules and key').click()
  await page.evaluate('document.documentElement.dir = "rtl"')
  await requireSoundOnEveryScreen(page, noticed)
})

/** Whether the focused element has this label. A function, because the page's policy forbids eval of strings. */
const isFocusedLabelled = (label: string) =>
  (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent === label

describe('steps', () => {
  test('are added by the keyboard alone', async () => {
    const { page, noticed } = await edit('keyboard')
    await tabTo(page, /^\d?Start a project$/)
    await page.keyboard.press('Enter')
    await page.getByText('Step 2 of 3').waitFor()
    await tabTo(page, /^Add a step$/)
    await page.keyboard.press('Enter')
    await says(page, 'Step 3 of 4 was added.')
    await page.waitForFunction(isFocusedLabelled, 'Title')
    await page.keyboard.type('Look around')
    await tabTo(page, /^Text$/)
    await page.keyboard.type('There is **more**.')
    await tabTo(page, /^CSS selector$/)
    await page.keyboard.type('#more')
    await tabTo(page, /^Add a button$/)
    await page.keyboard.press('Enter')
    await page.waitForFunction(isFocusedLabelled, 'Label')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Go on')
    await save(page)
    expect(await draftOf('keyboard')).toContain(`
  - key: step-4
    title: Look around
    body: There is **more**.
    target: { selector: "#more" }
    buttons:
      - { label: Go on, action: next }

  - key: invite
`)
    await requireSound(page, noticed)
  })

  test('are moved by keys and by dragging, and their new place is announced', async () => {
    const { page } = await edit('moved')
    const handle = (title: string) => page.getByRole('button', { name: `Move “${title}”` })
    await handle('Invite your team').focus()
    await page.keyboard.press('ArrowUp')
    await says(page, '“Invite your team” is 2 of 3 now.')
    await page.waitForFunction(() =>
      document.activeElement?.getAttribute('aria-label')?.includes('Invite your team'),
    )
    await page.keyboard.press('ArrowUp')
    await says(page, '“Invite your team” is 1 of 3 now.')
    await handle('Hello').dragTo(
      steps(page).getByRole('button', { name: 'Start a project', exact: true }),
      {
        targetPosition: { x: 20, y: 30 },
      },
    )
    await says(page, '“Hello” is 3 of 3 now.')
    await page.getByRole('button', { name: 'Move up' }).click()
    await says(page, '“Hello” is 2 of 3 now.')
    await save(page)
    expect(keysIn(await draftOf('moved'))).toEqual(['invite', 'hello', 'create'])
  })

  test('are duplicated and deleted, and a deletion can be undone', async () => {
    const title = 'How likely are you to recommend us to a friend, a colleague or a neighbour?'
    const { page } = await edit('undone', {
      steps: [...tour, { key: 'long', kind: 'modal', title }],
    })
    const before = await draftOf('undone')
    await choose(page, 'Start a project')
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await says(page, '“Start a project” was duplicated.')
    await page.getByText('Step 3 of 5').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Start a project” was deleted.')
    await choose(page, 'Hello')
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Hello” was deleted.')
    expect(await steps(page).getByRole('listitem').count()).toBe(3)
    // The long title is truncated, which leaves room for the Undo button.
    const undo = page.getByRole('button', { name: 'Undo' })
    const outline = page.getByRole('navigation', { name: 'Parts of the flow' })
    const hidden = await outline.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    )
    expect(hidden).toBe(0)
    const [around, button] = [(await outline.boundingBox())!, (await undo.boundingBox())!]
    expect(button.x + button.width).toBeLessThanOrEqual(around.x + around.width)
    await undo.click()
    await says(page, '“Hello” is back.')
    await page.getByText('Step 1 of 4').waitFor()
    // Nothing is left to save.
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await page.getByText('YAML', { exact: true }).click()
    await page.locator('.cm-line').first().waitFor()
    expect(await textIn(page)).toBe(before)
  })
})

const fill = async (page: Page, text: string) => {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

describe('the YAML', () => {
  test('what the server finds wrong is shown at its field and in the list of parts', async () => {
    const { page, noticed } = await edit('wrong')
    await choose(page, 'Start a project')
    const field = page.getByLabel('CSS selector')
    await field.fill('#new >')
    const problem = page.locator('.detail .field-problems li.error')
    await problem.waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const described = (await field.getAttribute('aria-describedby'))!.split(' ')
    const texts = await Promise.all(described.map(id => page.locator(`[id="${id}"]`).textContent()))
    expect(texts.join(' ')).toContain((await problem.textContent())!)
    await steps(page).getByRole('button', { name: 'Start a project 1 error' }).waitFor()
    await requireSound(page, noticed)
    await field.fill('#newer')
    await problem.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'When', exact: true }).click()
    await page.getByLabel('Within').fill('often')
    await page.getByRole('button', { name: 'When 1 error' }).waitFor()
    const within = page.locator('.field').filter({ has: page.getByLabel('Within') })
    await within.locator('li.error').waitFor()
  })

  test('is linked from the form while it is invalid, and keeps comments, order and unknown fields', async () => {
    const { page, noticed } = await edit('comments', undefined, 'yaml')
    await fill(page, 'key: comments\nsteps: [\n')
    await page.getByText('Form', { exact: true }).click()
    await page.getByText('It is not valid YAML from line').waitFor()
    await requireSound(page, noticed)
    await page.getByRole('link', { name: 'Open the YAML' }).click()
    await page.locator('.cm-content').waitFor()
    expect(await textIn(page)).toContain('steps: [')
    await fill(
      page,
      `# Ours.
key: comments   # keep it
steps:
- key: hello     # the first
  title: 'Hello'
  colour: red
- key: bye
  title: Bye`,
    )
    await page.getByText('Form', { exact: true }).click()
    await choose(page, 'Hello 1 error')
    await page.getByText('There is no field "colour"').waitFor()
    expect(await page.locator('.kept').textContent()).toBe('red')
    await page.getByLabel('Title').fill('Good morning')
    await page.getByRole('button', { name: 'Flow', exact: true }).click()
    await page.getByText('Until completed').click()
    await page.getByText('YAML', { exact: true }).click()
    expect(await textIn(page)).toBe(`# Ours.
key: comments   # keep it
frequency: until_completed
steps:
- key: hello     # the first
  title: 'Good morning'
  colour: red
- key: bye
  title: Bye`)
  })
})

describe('a new flow', () => {
  test('is for every page, and a survey of one step has the buttons of a survey', async () => {
    const { page } = await openEditor(house, 'new')
    await page.getByRole('button', { name: 'Pages and people' }).click()
    await page.getByText('The flow is shown on every page.').waitFor()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByLabel('Trait').fill('plan')
    await page.getByText('"eq" compares with a value: add one').waitFor()
    await page.getByRole('button', { name: 'Pages and people 1 error' }).waitFor()
    await page.getByRole('button', { name: 'Remove rule 1' }).click()
    await choose(page, 'Welcome')
    await page.getByRole('button', { name: 'Ask a question' }).click()
    const card = page.frameLocator('iframe')
    await card.getByRole('button', { name: 'Skip' }).waitFor()
    expect(await card.getByRole('button', { name: 'Next' }).count()).toBe(0)
  })

  const key = (page: Page) => page.getByLabel('Key', { exact: true })

  test('gets an unused key from its name until somebody sets one, and keeps its key once saved', async () => {
    const { page } = await openEditor(house, 'new')
    await page.getByText('Priority and key').click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Über "uns" & mehr')
    expect(await key(page).inputValue()).toBe('uber-uns-mehr')
    await name.fill('Welcome')
    expect(await key(page).inputValue()).toBe('welcome-2')
    await name.fill('案内')
    expect(await key(page).inputValue()).toBe('flow')
    await key(page).fill('mine')
    await name.fill('Another name')
    expect(await key(page).inputValue()).toBe('mine')
    await key(page).fill('kept-key')
    await page.keyboard.press('Control+s')
    await page.waitForURL('**/flows/kept-key/edit')
    // The form of the new flow is there until that of the stored one is.
    await page.getByRole('link', { name: 'Versions' }).waitFor()
    await name.fill('A third name')
    await save(page)
    expect(await draftOf('kept-key')).toContain('key: kept-key\nname: A third name')
  })
})

test('defaults are not written, rules keep the types of their values, and a new rule gets the focus', async () => {
  const { page } = await edit('rules')
  const before = await draftOf('rules')
  // Defaults are not written into the file.
  await page.getByText('Always', { exact: false }).first().click()
  await page.getByText('Unsaved changes').waitFor()
  await page.getByText('Once', { exact: false }).first().click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  await choose(page, 'Start a project')
  await page.getByLabel('Side', { exact: true }).selectOption('top')
  await save(page)
  expect(await draftOf('rules')).toBe(
    before.replace('"#new" }\n', '"#new" }\n    placement: { side: top }\n'),
  )
  await page.getByRole('button', { name: 'Pages and people' }).click()
  await page.getByRole('button', { name: 'Add a page' }).click()
  await page.getByLabel('Address').fill('https://app.example.com/home')
  const add = page.getByRole('button', { name: 'Add a rule' })
  // The focus moves before the next frame, which a busy machine may draw late.
  const isAtTrait = await add.evaluate(async (button: HTMLButtonElement) => {
    const frame = requestAnimationFrame
    globalThis.requestAnimationFrame = draw => setTimeout(draw, 10_000)
    const isDrawn = new Promise<void>(resolve => {
      const look = () => document.querySelector('[data-row]') && resolve()
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
    })
    button.click()
    await isDrawn
    globalThis.requestAnimationFrame = frame
    return (document.activeElement as HTMLInputElement).labels?.[0]?.textContent
  })
  expect(isAtTrait).toContain('Trait')
  await page.getByLabel('Trait').fill('seats')
  await page.getByLabel('Operator').selectOption('gte')
  await page.getByLabel('Value').fill('10')
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const second = page.getByRole('group', { name: 'Rule 2' })
  await second.getByLabel('Trait').fill('plan')
  await second.getByLabel('Operator').selectOption('in')
  await second.getByLabel('Values').pressSequentially('free, "10", team')
  await page.getByLabel('Show it to people for whom').selectOption('any')
  await save(page)
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
  expect(await page.getByLabel('Trait').inputValue()).toBe('plan')
})

test('times and the flow before are chosen', async () => {
  const { page, noticed } = await edit('timed', {
    steps: tour,
    schedule: { from: '2026-11-01' },
    when: { after: 'gone' },
  })
  await page.getByRole('button', { name: /^When/ }).click()
  const after = page.getByLabel('After another flow')
  expect(await after.inputValue()).toBe('gone')
  await after.selectOption({ label: 'Welcome tour' })
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-11-01')
  await page.getByLabel('From: time').fill('09:00')
  await page.getByLabel('To', { exact: true }).fill('2026-12-24')
  const zone = page.getByLabel('Time zone')
  await zone.fill('Europe/Berlin')
  expect(await zone.evaluate(({ list }: HTMLInputElement) => list!.options.length)).toBeGreaterThan(
    100,
  )
  await says(page, 'No problems')
  await requireSound(page, noticed)
  await save(page)
  expect(await draftOf('timed')).toContain(
    'schedule: { from: 2026-11-01T09:00, to: 2026-12-24, timezone: Europe/Berlin }',
  )
  expect(await draftOf('timed')).toContain('when: { after: welcome }')
  await page.getByLabel('From: time').fill('')
  await page.getByLabel('To', { exact: true }).fill('')
  await save(page)
  expect(await draftOf('timed')).toContain(
    'schedule: { from: 2026-11-01, timezone: Europe/Berlin }',
  )
})

test('a checklist has items, which an event ticks off', async () => {
  const { page } = await edit('list', {
    kind: 'checklist',
    title: 'First steps',
    checklist: { items: [{ key: 'invite', title: 'Invite your team' }] },
  })
  await page.getByRole('button', { name: 'Add an item' }).click()
  await page.getByLabel('Title').fill('Read the guide')
  await page.getByLabel('Event that ticks it').fill('guide_read')
  await page.getByLabel('Link').fill('/guide')
  await save(page)
  expect(await draftOf('list')).toContain(`
    - key: item-2
      title: Read the guide
      completeOn: { event: guide_read }
      href: /guide
`)
  await page.getByLabel('Event that ticks it').fill('')
  await save(page)
  expect(await draftOf('list')).not.toContain('completeOn')
})

test('people without write access can see everything but change nothing, in the form and in the YAML', async () => {
  const { page, noticed } = await openEditor(house, 'welcome/edit', { role: 'viewer' })
  await page.getByText('You may read this flow').waitFor()
  await choose(page, 'Start a project')
  expect(await page.getByLabel('Title').isDisabled()).toBe(true)
  for (const name of ['Add a step', 'Delete', 'Move up', 'Pick on page', 'Save draft']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  }
  expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0)
  await requireSound(page, noticed)
  await page.getByText('YAML', { exact: true }).click()
  await page.locator('.cm-content').click()
  await page.keyboard.type('x')
  expect(await textIn(page)).toStartWith('key: welcome')
})

/** Creates a draft, and opens its languages. */
async function editLanguages(key: string, flow: object) {
  const buttons = [{ label: 'Go', action: 'next' }]
  const steps = [{ key: 'hello', title: 'Hello', body: 'See **this**.', buttons }]
  const visited = await edit(key, { steps, ...flow })
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
  const { page, noticed } = await editLanguages('sound', { locale: 'en', texts })
  await page.getByRole('button', { name: 'Edit Arabic' }).click()
  await page.getByText('2 of 3 texts are missing in "ar"').waitFor()
  await page.evaluate('document.documentElement.dir = "rtl"')
  await requireSoundOnEveryScreen(page, noticed)
})

test('a language is added, translated, previewed and saved', async () => {
  const { page } = await editLanguages('written', {})
  await page.getByText('Say first in which language').waitFor()
  await page.getByLabel('Written in').fill('en')
  const tag = page.getByLabel('Add a language')
  await tag.fill('jp')
  await tag.press('Enter')
  await page.getByText('did you mean "ja"?').waitFor()
  await tag.fill('he')
  await tag.press('Enter')
  await textField(page, 'steps.hello.title').fill('שלום')
  await textField(page, 'steps.hello.buttons.0').fill('קדימה')
  await page.getByRole('cell', { name: '2 of 3' }).waitFor()
  const preview = page.frameLocator('iframe[title="Preview of the flow"]')
  await preview.locator('h2').getByText('שלום').waitFor()
  await preview.getByRole('button', { name: 'קדימה' }).waitFor()
  await save(page)
  expect(await textsOf('written')).toEqual({
    he: { steps: { hello: { title: 'שלום', buttons: ['קדימה'] } } },
  })
  await textField(page, 'steps.hello.title').fill('')
  await page.getByRole('button', { name: 'Remove Hebrew' }).click()
  await page.getByText('No other language yet').waitFor()
  await save(page)
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
    page.getByLabel('Take over from a file').setInputFiles({
      name,
      mimeType: 'application/xliff+xml',
      buffer: Buffer.from(content),
    })
  const done = text
    .replace('<source>Hello</source>', '<source>Hello</source><target>Hallo</target>')
    .replace('<source>Go</source>', '<source>Gone</source><target>Los</target>')
  await give('done.xlf', done)
  await page.getByText('German: 1 taken over, 0 as before.').waitFor()
  await page.getByText('1 was left out, because the flow has changed').waitFor()
  expect(await textField(page, 'steps.hello.title').inputValue()).toBe('Hallo')
  await give('wrong.xlf', '<!DOCTYPE a><a/>')
  await page.getByText('a document type').waitFor()
  await give('de.json', '{"steps.hello.buttons.0": "Los"}')
  await page.getByText('German: 1 taken over, 0 as before.').waitFor()
  await save(page)
  expect(await textsOf('files')).toEqual({
    de: { steps: { hello: { title: 'Hallo', buttons: ['Los'] } } },
  })
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
