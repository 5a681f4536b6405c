import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { AuthoredSite } from '../../support/authored-site.ts'
import type { Page } from '../../support/browser.ts'
import {
  DashboardHouse,
  type Manage,
  requireSound as requireWhole,
} from '../../support/dashboard.ts'
import { draftOf as draftBy, openEditor, textIn } from '../../support/flow-editor.ts'
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

const draftOf = (key: string) => draftBy(manage, key)

const edit = (key: string) => openEditor(house, `${key}/edit?view=yaml`)

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
  })

  test('begins a new flow by the keyboard alone, and single letters are text', async () => {
    const { page, noticed } = await house.visit('/flows')
    await page.getByRole('link', { name: 'New flow' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Start empty' }).focus()
    await page.keyboard.press('Enter')
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
  })

  test('a key that is taken is reported, and nothing is overwritten', async () => {
    await begin('taken', step('a', 'A'))
    const { page } = await house.visit('/flows/new/blank?view=yaml')
    await page.getByText('No problems').waitFor()
    await replace(page, 'my-tour', 'taken')
    await save(page)
    const taken = page.getByText(/there is a flow of the key "taken" already/i)
    await taken.first().waitFor()
    expect(await draftOf('taken')).toContain('title: A')
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
  const address = dialog.getByLabel('Page URL')
  await address.fill(`${site.origin}/projects`)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), address.press('Enter')])
  await dialog.getByText('Connected').waitFor()
  const box = (await tab.getByRole('button', { name: 'New project' }).boundingBox())!
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.bringToFront()
  await dialog.getByRole('group', { name: 'button “New project”' }).waitFor()
  await requireSound(page, noticed)
  await dialog.getByRole('button', { name: 'Use selector' }).click()
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

/** Saves a flow of two steps, as another author does. */
const robotSaves = (key: string, a: string, b: string) =>
  manage('POST', '/push', { flows: [{ key, name: key, steps: [step('a', a), step('b', b)] }] })

test('if two authors change the same step, the second one sees both versions and chooses', async () => {
  await begin('same', step('a', 'A'), step('b', 'B2'))
  const { page, noticed } = await edit('same')
  await replace(page, 'title: A', 'title: Ann')
  await replace(page, 'title: B2', 'title: Of both')
  await robotSaves('same', 'Robot', 'B2')
  await save(page)
  const dialog = page.getByRole('dialog', { name: 'Both of you changed the same' })
  await dialog.getByText('title: Ann').waitFor()
  await dialog.getByText('title: Robot').waitFor()
  const complaints = noticed.complaints.filter(text => !/\b(409|412)\b/.test(text))
  await requireSound(page, { ...noticed, complaints })
  // Cancelling keeps the text.
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await textIn(page)).toContain('title: Ann')
  await save(page)
  await dialog.getByRole('radio', { name: 'Theirs' }).check()
  await dialog.getByRole('button', { name: 'Save as chosen' }).click()
  await isSaved(page)
  expect(await draftOf('same')).toMatch(/title: Robot[\s\S]*title: Of both/)
})

describe('unsaved work', () => {
  test('is restored after a reload, and merged with what others have saved since', async () => {
    await begin('reloaded', step('a', 'A'), step('b', 'B'))
    const { page, noticed } = await edit('reloaded')
    await replace(page, 'title: A', 'title: Mine')
    await kept(page)
    await robotSaves('reloaded', 'A', 'Robot')
    await page.reload()
    await page.getByText('Unsaved changes of').waitFor()
    expect(await textIn(page)).toContain('title: A')
    await requireSound(page, noticed)
    await page.getByRole('button', { name: 'Go on with them' }).click()
    expect(await textIn(page)).toContain('title: Mine')
    await save(page)
    await page.getByText(/Saved, with what Robot .*: Step "b"/).waitFor()
    expect(await draftOf('reloaded')).toMatch(/title: Mine[\s\S]*title: Robot/)
    await page.reload()
    await page.getByText('No problems').waitFor()
    expect(await page.getByText('Unsaved changes of').count()).toBe(0)
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
  })

  test('survives a restart of the server and the end of the session', async () => {
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

    await replace(page, 'title: Kept', 'title: Kept too')
    await page.context().clearCookies()
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await textIn(page)).toContain('title: Kept too')
  })
})
