import { expect } from 'bun:test'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, looks, type Manage, requireSound } from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

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
async function edit(
  key: string,
  flow: object = { steps: tour },
  options: Parameters<DashboardHouse['visit']>[1] = {},
) {
  await manage('POST', '/push', { flows: [{ key, name: key, ...flow }] })
  const visited = await house.visit(`/flows/${key}/edit`, options)
  // Leaving with unsaved work asks for confirmation; here the answer is always yes.
  visited.page.on('dialog', dialog => dialog.accept())
  await visited.page
    .getByRole('status')
    .getByText(/^(No problems|\d+ (error|warning)s?)/)
    .waitFor()
  return visited
}

const draftOf = async (key: string) =>
  (await manage<{ text: string }>('GET', `/flows/${key}/draft?text=1`)).text

const keysIn = (text: string) => [...text.matchAll(/^ *- key: (.*)$/gm)].map(([, key]) => key)

const steps = (page: Page) => page.getByRole('region', { name: 'Steps' })
const choose = (page: Page, title: string) =>
  steps(page).getByRole('button', { name: title, exact: true }).click()
const says = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text).waitFor()
const save = async (page: Page) => {
  await page.keyboard.press('Control+s')
  await says(page, 'The draft is saved')
}
const focused = (page: Page) =>
  page.evaluate(
    `(element => element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent)(document.activeElement)`,
  ) as Promise<string>

/** Presses Tab until something of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if ((await focused(page)).replace(/^\d/, '') === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never came to “${name}”`)
}

describe.each(looks)('$name', ({ name, ...look }) => {
  test('every part is sound', async () => {
    const key = `sound-${name.replace(' ', '')}`
    const { page, noticed } = await edit(
      key,
      {
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
      },
      look,
    )
    await requireSound(page, noticed)
    await page.getByText('Look', { exact: true }).click()
    await page.getByText('Priority and key').click()
    await requireSound(page, noticed)
    await page.getByRole('button', { name: 'Pages and people' }).click()
    await page.getByLabel('Values, separated by commas').waitFor()
    await requireSound(page, noticed)
    await steps(page)
      .getByRole('button', { name: /^More \d warning/ })
      .click()
    await page.getByText('Finding the element').click()
    await page.getByText('Page, rules and key').click()
    await requireSound(page, noticed)
    await page.evaluate('document.documentElement.dir = "rtl"')
    await requireSound(page, noticed)
    await page.context().close()
  })
})

/** Whether the focused element has this label. A function, because the page's policy forbids eval of strings. */
const isFocusedLabelled = (label: string) =>
  (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent === label

describe('steps', () => {
  test('are added by the keyboard alone', async () => {
    const { page, noticed } = await edit('keyboard')
    await tabTo(page, 'Start a project')
    await page.keyboard.press('Enter')
    await page.getByText('Step 2 of 3').waitFor()
    await tabTo(page, 'Add a step')
    await page.keyboard.press('Enter')
    await says(page, 'Step 3 of 4 was added.')
    await page.waitForFunction(isFocusedLabelled, 'Title')
    await page.keyboard.type('Look around')
    await tabTo(page, 'Text')
    await page.keyboard.type('There is **more**.')
    await tabTo(page, 'CSS selector')
    await page.keyboard.type('#more')
    await tabTo(page, 'Add a button')
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
    await page.context().close()
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
    await page.context().close()
  })

  test('are duplicated and deleted, and a deletion can be undone', async () => {
    const { page } = await edit('undone')
    const before = await draftOf('undone')
    await choose(page, 'Start a project')
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await says(page, '“Start a project” was duplicated.')
    await page.getByText('Step 3 of 4').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Start a project” was deleted.')
    await choose(page, 'Hello')
    await page.getByRole('button', { name: 'Delete' }).click()
    await says(page, '“Hello” was deleted.')
    expect(await steps(page).getByRole('listitem').count()).toBe(2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await says(page, '“Hello” is back.')
    await page.getByText('Step 1 of 3').waitFor()
    // Nothing is left to save.
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await page.getByText('YAML', { exact: true }).click()
    await page.locator('.cm-line').first().waitFor()
    expect(await textIn(page)).toBe(before)
    await page.context().close()
  })
})

test('a long title is cut in the list of steps, which leaves room to undo', async () => {
  const title = 'How likely are you to recommend us to a friend, a colleague or a neighbour?'
  const long = { key: 'long', kind: 'modal', title }
  const { page } = await edit('long', { steps: [...tour, long] })
  await choose(page, 'Hello')
  await page.getByRole('button', { name: 'Delete' }).click()
  const undo = page.getByRole('button', { name: 'Undo' })
  await undo.waitFor()
  const outline = page.getByRole('navigation', { name: 'Parts of the flow' })
  expect(await outline.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(
    0,
  )
  const [around, button] = [(await outline.boundingBox())!, (await undo.boundingBox())!]
  expect(button.x + button.width).toBeLessThanOrEqual(around.x + around.width)
  await page.context().close()
})

const textIn = (page: Page) =>
  page.evaluate(
    `[...(document.querySelector('.yaml-editor')?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(line => line.textContent).join('\\n')`,
  ) as Promise<string>

const fill = async (page: Page, text: string) => {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

describe('the text', () => {
  test('what the server finds wrong is shown at its field, and in the list of steps', async () => {
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
    await page.context().close()
  })

  test('what is wrong with when it begins is shown there', async () => {
    const { page, noticed } = await edit('late')
    await page.getByRole('button', { name: 'When', exact: true }).click()
    await page.getByLabel('Within').fill('often')
    await page.getByRole('button', { name: 'When 1 error' }).waitFor()
    const within = page.locator('.field').filter({ has: page.getByLabel('Within') })
    await within.locator('li.error').waitFor()
    await requireSound(page, noticed)
    await page.context().close()
  })

  test('comments, order and unknown fields survive, and unknown fields are reported', async () => {
    const { page } = await edit('comments', undefined, {})
    await page.goto(`${page.url()}?view=yaml`)
    await page.locator('.cm-content').waitFor()
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
    await page.context().close()
  })

  test('choosing a default removes the field from the file', async () => {
    const { page } = await edit('defaults')
    const before = await draftOf('defaults')
    await page.getByText('Always', { exact: false }).first().click()
    await page.getByText('Unsaved changes').waitFor()
    await page.getByText('Once', { exact: false }).first().click()
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await choose(page, 'Start a project')
    await page.getByLabel('Side', { exact: true }).selectOption('top')
    await save(page)
    expect(await draftOf('defaults')).toBe(
      before.replace('"#new" }\n', '"#new" }\n    placement: { side: top }\n'),
    )
    await page.context().close()
  })

  test('that is not valid YAML is reported with its line, and the form links to the YAML', async () => {
    const { page, noticed } = await edit('broken')
    await page.goto(`${page.url()}?view=yaml`)
    await page.locator('.cm-content').waitFor()
    await fill(page, 'key: broken\nsteps: [\n')
    await page.getByText('Form', { exact: true }).click()
    await page.getByText('It is not valid YAML from line').waitFor()
    await requireSound(page, noticed)
    await page.getByRole('link', { name: 'Open the YAML' }).click()
    await page.locator('.cm-content').waitFor()
    expect(await textIn(page)).toContain('steps: [')
    await page.context().close()
  })
})

describe('a new flow', () => {
  const open = async () => {
    const visited = await house.visit('/flows/new')
    visited.page.on('dialog', dialog => dialog.accept())
    await says(visited.page, 'No problems')
    return visited
  }

  test('is for every page, and a survey of one step has the buttons of a survey', async () => {
    const { page } = await open()
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
    await page.context().close()
  })

  const key = (page: Page) => page.getByLabel('Key', { exact: true })

  test('has a free key that follows its name until somebody chooses one', async () => {
    const { page } = await open()
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
    await page.context().close()
  })

  test('keeps its key after the first save', async () => {
    const { page } = await open()
    await page.getByLabel('Name', { exact: true }).fill('Kept key')
    await page.keyboard.press('Control+s')
    await page.waitForURL('**/flows/kept-key/edit')
    // The form of the new flow is there until that of the stored one is.
    await page.getByRole('link', { name: 'Versions' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Another name')
    await save(page)
    expect(await draftOf('kept-key')).toContain('key: kept-key\nname: Another name')
    await page.context().close()
  })
})

describe('who sees it', () => {
  test('a new rule gets the focus before the next frame is drawn', async () => {
    const { page } = await edit('focused')
    // Frames that are drawn late, as on a busy machine.
    await page.evaluate('globalThis.requestAnimationFrame = draw => setTimeout(draw, 1_000)')
    await page.getByRole('button', { name: 'Pages and people' }).click()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    const isAtTrait = () => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent
    await page.waitForFunction(() => document.querySelector('[data-row]'))
    expect(await page.evaluate(isAtTrait)).toContain('Trait')
    await page.context().close()
  })

  test('rules for pages and people keep the types of their values', async () => {
    const { page } = await edit('rules')
    await page.getByRole('button', { name: 'Pages and people' }).click()
    await page.getByRole('button', { name: 'Add a page' }).click()
    await page.getByLabel('Address').fill('https://app.example.com/home')
    await page.getByRole('button', { name: 'Add a rule' }).click()
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
    await page.context().close()
  })
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
  await page.context().close()
})

test('a checklist has items, which an event ticks', async () => {
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
  await page.context().close()
})

test('people who may not write can see everything and change nothing', async () => {
  const { page, noticed } = await edit('locked', undefined, { role: 'viewer' })
  await page.getByText('You may read this flow').waitFor()
  await choose(page, 'Start a project')
  expect(await page.getByLabel('Title').isDisabled()).toBe(true)
  for (const name of ['Add a step', 'Delete', 'Move up', 'Pick on page']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  }
  await requireSound(page, noticed)
  await page.context().close()
})
