import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { AuthoredSite } from '../../support/authored-site.ts'
import type { Page } from '../../support/browser.ts'
import {
  DashboardHouse,
  type Manage,
  requireSound as requireWhole,
  testPages,
} from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

/** Where flows are written: problems are reported at their place, and nobody's work is lost. */

let house: DashboardHouse
let manage: Manage

beforeAll(async () => {
  house = await DashboardHouse.open()
  manage = await house.manager('flows:read', 'flows:write', 'flows:publish')
})
afterAll(() => house.close())

/** Ignores requests that were aborted because their page was left. */
const requireSound: typeof requireWhole = (page, noticed) =>
  requireWhole(page, {
    ...noticed,
    complaints: noticed.complaints.filter(
      one => !/^failed: .*(\/preview\.html|\/manage\/validate)$/.test(one),
    ),
  })

const step = (key: string, title: string) => ({ key, title })

/** A flow of its own for a test. */
const begin = (key: string, ...steps: object[]) =>
  manage('POST', '/push', { flows: [{ key, name: key, steps }], publish: true })

const draftOf = async (key: string) =>
  (await manage<{ text: string }>('GET', `/flows/${key}/draft?text=1`)).text

/** The editor of a flow, once it shows the flow. */
async function edit(key: string, options: Parameters<DashboardHouse['visit']>[1] = {}) {
  const visited = await house.visit(`/flows/${key}/edit?view=yaml`, options)
  // Leaving with unsaved work asks for confirmation; here the answer is always yes.
  visited.page.on('dialog', dialog => dialog.accept())
  await visited.page.getByText('No problems').waitFor()
  return visited
}

/** The text in the editor; empty until the editor is drawn. */
const textIn = (page: Page) =>
  page.evaluate(
    `[...(document.querySelector('.yaml-editor')?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(line => line.textContent).join('\\n')`,
  ) as Promise<string>

/** Types a replacement for a text into the first line that has it. */
async function replace(page: Page, before: string, after: string): Promise<void> {
  await page.locator('.cm-line', { hasText: before }).first().click()
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+End')
  const line = (await textIn(page)).split('\n').find(one => one.includes(before))!
  await page.keyboard.insertText(line.trimStart().replace(before, after))
}

const save = (page: Page) => page.getByRole('button', { name: 'Save draft' }).click()
const isSaved = (page: Page) => page.getByText('The draft is saved').waitFor()
const kept = (page: Page) =>
  until(() =>
    page.evaluate<boolean>(
      `Object.keys(localStorage).some(name => name.startsWith('cairn-unsaved'))`,
    ),
  )

testPages(
  () => house,
  [
    {
      path: '/flows/welcome/edit?view=yaml',
      title: 'Edit · Welcome tour',
      heading: 'Welcome tour',
      shows: 'No problems',
    },
    { path: '/flows/new?view=yaml', title: 'New flow', shows: 'No problems' },
  ],
)

describe('writing', () => {
  test('says what the server finds wrong at its line, and leads there', async () => {
    await begin('wrong', step('a', 'A'), step('b', 'B'))
    const { page, noticed } = await edit('wrong')
    await replace(page, 'title: B', 'titel: B')
    const problem = page.getByRole('button', { name: /titel.*Line \d/ })
    await problem.waitFor()
    const line = (await textIn(page)).split('\n').findIndex(one => one.includes('titel')) + 1
    expect(await problem.textContent()).toContain(`Line ${line}`)
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await requireSound(page, noticed)
    await save(page)
    await page
      .getByRole('alert')
      .getByText(/Not saved: there (is|are)/)
      .waitFor()
    await problem.click()
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+Home')
    await page.keyboard.insertText('title: Mended')
    await page.getByText('No problems').waitFor()
    await page.keyboard.press('Control+s')
    await isSaved(page)
    expect(await draftOf('wrong')).toContain('title: Mended')
    await page.context().close()
  })

  test('suggests what is valid at the cursor', async () => {
    await begin('suggests', step('a', 'A'))
    const { page } = await edit('suggests')
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('freq')
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'frequency' }).click()
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'until_completed' }).click()
    await page.getByText('No problems').waitFor()
    expect(await textIn(page)).toContain('frequency: until_completed')
    await page.context().close()
  })

  test('begins a new flow by the keyboard alone, and single letters are text', async () => {
    const { page, noticed } = await house.visit('/flows')
    await page.getByRole('link', { name: 'New flow' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'New flow' }).waitFor()
    await page.getByText('No problems').waitFor()
    const isIn = () =>
      page.evaluate(`document.activeElement?.classList.contains('yaml-editor') ?? false`)
    const tabTo = async (isThere: () => Promise<unknown>) => {
      for (let presses = 0; presses < 20 && !(await isThere()); presses++) {
        await page.keyboard.press('Tab')
      }
      expect(await isThere()).toBe(true)
    }
    await tabTo(() => page.evaluate(`document.activeElement?.type === 'radio'`))
    await page.keyboard.press('ArrowRight')
    await page.locator('.cm-content').waitFor()
    await tabTo(isIn)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('key: by-hand\nname: g h i\nsteps:\n- key: a\ntitle: A?')
    await page.getByText('No problems').waitFor()
    // Escape and Tab lead out of the editor, and on to the list of problems.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await isIn()).toBe(false)
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'g h i' }).waitFor()
    expect(page.url()).toEndWith('/flows/by-hand/edit?view=yaml')
    expect(await draftOf('by-hand')).toBe(
      'key: by-hand\nname: g h i\nsteps:\n  - key: a\n    title: A?\n',
    )
    await page.getByRole('link', { name: 'Review and publish' }).click()
    await page.getByRole('button', { name: 'Publish' }).waitFor()
    await requireSound(page, noticed)
    await page.context().close()
  })

  test('a key that is taken is reported, and nothing is overwritten', async () => {
    await begin('taken', step('a', 'A'))
    const { page } = await house.visit('/flows/new?view=yaml')
    await page.getByText('No problems').waitFor()
    await replace(page, 'my-tour', 'taken')
    await save(page)
    await page
      .getByText('There is a flow of the key "taken" already', { exact: false })
      .or(page.getByText('there is a flow of the key "taken" already', { exact: false }))
      .first()
      .waitFor()
    expect(await draftOf('taken')).toContain('title: A')
    await page.context().close()
  })

  test('a flow that its repository locks is read-only until somebody unlocks it', async () => {
    const source = {
      repository: 'acme/site',
      commit: '1a2b3c4d5e',
      paths: { locked: 'flows/a.yaml' },
    }
    const flows = [{ key: 'locked', name: 'locked', steps: [step('a', 'A')] }]
    await manage('POST', '/push', { flows, source, lock: true })
    const { page, noticed } = await edit('locked')
    await page.getByText('Last pushed from acme/site at 1a2b3c4, flows/a.yaml').waitFor()
    expect(await page.getByRole('button', { name: 'Save draft' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Copy YAML' }).waitFor()
    await requireSound(page, noticed)
    await page.getByRole('button', { name: 'Unlock' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change this flow here?' })
    await dialog.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('button', { name: 'Save draft' }).waitFor()
    await replace(page, 'title: A', 'title: Here')
    await save(page)
    await isSaved(page)
    expect(await draftOf('locked')).toContain('title: Here')
    await page.context().close()
  })

  test('people who may only read cannot edit', async () => {
    const { page, noticed } = await edit('welcome', { role: 'viewer' })
    await page.getByText('You may read this flow').waitFor()
    expect(await page.getByRole('button', { name: 'Save draft' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0)
    await page.locator('.cm-content').click()
    await page.keyboard.type('x')
    expect(await textIn(page)).toStartWith('key: welcome')
    await requireSound(page, noticed)
    await page.context().close()
  })
})

test('an element picked on the real page appears in the form and in the YAML', async () => {
  const site = new AuthoredSite(house.server, house.snippetKey)
  await begin('picked', step('open', 'Open'), step('create', 'Create'))
  const { page, noticed } = await house.visit('/flows/picked/edit')
  page.on('dialog', dialog => dialog.accept())
  const steps = page.getByRole('region', { name: 'Steps' })
  await steps.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: 'Pick on page' }).click()
  const dialog = page.getByRole('dialog')
  const address = dialog.getByLabel('Address of the page')
  await address.fill(`${site.origin}/projects`)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), address.press('Enter')])
  await dialog.getByText('Connected').waitFor()
  const box = (await tab.getByRole('button', { name: 'New project' }).boundingBox())!
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.bringToFront()
  await dialog.getByRole('group', { name: 'button “New project”' }).waitFor()
  await requireSound(page, noticed)
  await dialog.getByRole('button', { name: 'Use this selector' }).click()
  const selector = '[data-testid="new-project"]'
  await dialog.waitFor({ state: 'detached' })
  expect(await page.getByLabel('CSS selector').inputValue()).toBe(selector)

  await page.getByText('YAML', { exact: true }).click()
  await until(async () => (await textIn(page)).includes('data-testid'))
  await save(page)
  await isSaved(page)
  const draft = Bun.YAML.parse(await draftOf('picked')) as { steps: object[] }
  expect(draft.steps).toEqual([
    { key: 'open', title: 'Open' },
    { key: 'create', title: 'Create', target: { selector, alternates: ['#new', '.primary'] } },
  ])
  expect(noticed.complaints).toEqual([])
  await page.context().close()
  await site.stop()
})

describe('two authors', () => {
  test('of two steps: the later save includes the earlier one', async () => {
    await begin('two', step('a', 'A'), step('b', 'B'))
    const [ann, bob] = [await edit('two'), await edit('two', { role: 'editor' })]
    await replace(ann.page, 'title: A', 'title: Ann')
    await replace(bob.page, 'title: B', 'title: Bob')
    await save(ann.page)
    await isSaved(ann.page)
    await save(bob.page)
    await bob.page.getByText(/Saved, with what Ann .*: Step "a"/).waitFor()
    expect(await draftOf('two')).toMatch(/title: Ann[\s\S]*title: Bob/)
    for (const { page } of [ann, bob]) await page.context().close()
  })

  test('of one step: both are shown, and the author chooses', async () => {
    await begin('same', step('a', 'A'), step('b', 'B2'))
    const [ann, bob] = [await edit('same'), await edit('same', { role: 'editor' })]
    await replace(ann.page, 'title: A', 'title: Ann')
    await replace(bob.page, 'title: A', 'title: Bob')
    await replace(bob.page, 'title: B2', 'title: Of both')
    await save(ann.page)
    await isSaved(ann.page)
    await save(bob.page)
    const dialog = bob.page.getByRole('dialog', { name: 'Both of you changed the same' })
    await dialog.getByText('title: Ann').waitFor()
    await dialog.getByText('title: Bob').waitFor()
    await requireSound(bob.page, { ...bob.noticed, complaints: [] })
    // Cancelling keeps what was written.
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await textIn(bob.page)).toContain('title: Bob')
    await save(bob.page)
    await dialog.getByRole('radio', { name: 'Theirs' }).check()
    await dialog.getByRole('button', { name: 'Save as chosen' }).click()
    await isSaved(bob.page)
    expect(await draftOf('same')).toMatch(/title: Ann[\s\S]*title: Of both/)
    for (const { page } of [ann, bob]) await page.context().close()
  })
})

describe('unsaved work', () => {
  test('survives a reload of the page, and is offered again', async () => {
    await begin('reloaded', step('a', 'A'))
    const { page, noticed } = await edit('reloaded')
    await replace(page, 'title: A', 'title: Unsaved')
    await kept(page)
    await page.reload()
    await page.getByText('Unsaved changes of').waitFor()
    expect(await textIn(page)).toContain('title: A')
    await requireSound(page, noticed)
    await page.getByRole('button', { name: 'Go on with them' }).click()
    expect(await textIn(page)).toContain('title: Unsaved')
    await save(page)
    await isSaved(page)
    await page.reload()
    await page.getByText('No problems').waitFor()
    expect(await page.getByText('Unsaved changes of').count()).toBe(0)
    await page.context().close()
  })

  test('of two tabs is told apart, by the second and by what was changed', async () => {
    await begin('tabs', step('a', 'A'))
    const { page, noticed } = await edit('tabs')
    const other = await page.context().newPage()
    other.on('dialog', dialog => dialog.accept())
    await other.goto(page.url())
    await other.getByText('No problems').waitFor()
    await replace(page, 'title: A', 'title: From here')
    await kept(page)
    await replace(other, 'title: A', 'title: From there')
    await page.getByText('being edited in another tab').waitFor()
    for (const tab of [page, other]) await tab.reload()
    const left = page.locator('.editor-notice', {
      hasText: /^Unsaved changes of .+ \d\d:\d\d:\d\d /,
    })
    await left.nth(1).waitFor()
    const lines = await left.locator('code').allInnerTexts()
    expect(lines.toSorted()).toEqual(['title: From here', 'title: From there'])
    await requireSound(page, noticed)
    await left.filter({ hasText: 'From there' }).getByRole('button', { name: 'Go on' }).click()
    expect(await textIn(page)).toContain('title: From there')
    await page.context().close()
  })

  test('is merged with what others saved meanwhile', async () => {
    await begin('later', step('a', 'A'), step('b', 'B'))
    const { page } = await edit('later')
    await replace(page, 'title: A', 'title: Mine')
    await kept(page)
    await page.goto('about:blank')
    await manage('POST', '/push', {
      flows: [{ key: 'later', name: 'later', steps: [step('a', 'A'), step('b', 'Robot')] }],
    })
    await page.goto(`${house.server.url}/dashboard/harbor/flows/later/edit?view=yaml`)
    await page.getByRole('button', { name: 'Go on with them' }).click()
    await save(page)
    await page.getByText(/Saved, with what Robot/).waitFor()
    expect(await draftOf('later')).toMatch(/title: Mine[\s\S]*title: Robot/)
    await page.context().close()
  })

  test('is asked about before a link leads away', async () => {
    await begin('left', step('a', 'A'))
    const { page } = await edit('left')
    await replace(page, 'title: A', 'title: Unsaved')
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    await dialog.getByRole('button', { name: 'Stay' }).click()
    expect(await textIn(page)).toContain('title: Unsaved')
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(/\/runs(\?|$)/)
    await page.locator('.yaml-editor').waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByText('Unsaved changes of').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('Unsaved changes of').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('survives the end of the session', async () => {
    await begin('ended', step('a', 'A'))
    const { page } = await house.signIn('editor')
    page.on('dialog', dialog => dialog.accept())
    await page.goto(`${house.server.url}/dashboard/harbor/flows/ended/edit?view=yaml`)
    await page.getByText('No problems').waitFor()
    await replace(page, 'title: A', 'title: Kept')
    const { page: other } = await house.browser.page({
      storageState: await page.context().storageState(),
    })
    await other.goto(`${house.server.url}/dashboard/harbor/`)
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.evaluate(`fetch('/dashboard/session/sign-out', { method: 'POST', body: '{"everywhere":false}',
      headers: { 'content-type': 'application/json', 'cairn-dashboard': '1' } })`)
    await other.context().close()
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await textIn(page)).toContain('title: Kept')
    await page.context().close()
  })

  test('survives the end of the server', async () => {
    await begin('restarted', step('a', 'A'))
    const { page } = await edit('restarted')
    await replace(page, 'title: A', 'title: Kept')
    await page.getByText('No problems').waitFor()
    await house.server.end()
    await save(page)
    await page.getByText('Not saved: the server is not reached').waitFor()
    expect(await textIn(page)).toContain('title: Kept')
    house.server = await house.place.serve(['--port', new URL(house.server.url).port])
    await save(page)
    await isSaved(page)
    expect(await draftOf('restarted')).toContain('title: Kept')
    await page.context().close()
  })
})
