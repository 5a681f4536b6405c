import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { AuthoredSite } from '../../support/authored-site.ts'
import type { Page } from '../../support/browser.ts'
import {
  DashboardHouse,
  type Manage,
  requireSound as requireWhole,
} from '../../support/dashboard.ts'
import { draftOf as draftBy, isSaved, openEditor, textIn } from '../../support/flow-editor.ts'
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

describe('YAML', () => {
  test('has what the server finds wrong at its line, and is saved once that is fixed', async () => {
    await begin('wrong', step('a', 'A'), step('b', 'B'))
    const { page, noticed } = await edit('wrong')
    await replace(page, 'title: B', 'titel: B')
    const problem = page.getByRole('button', { name: /titel.*Line \d/ })
    await problem.waitFor()
    const line = (await textIn(page)).split('\n').findIndex(one => one.includes('titel')) + 1
    expect(await problem.textContent()).toContain(`Line ${line}`)
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await page.getByRole('status').getByText('Not saved. Fix').waitFor()
    await requireSound(page, noticed)
    await problem.click()
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+Home')
    await page.keyboard.insertText('title: Fixed')
    await page.getByText('No problems').waitFor()
    await page.keyboard.press('Control+s')
    await isSaved(page)
    expect(await draftOf('wrong')).toContain('title: Fixed')
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
    const { page, noticed } = await openEditor(house, 'new/blank?view=yaml')
    await page.getByText('No problems').waitFor()
    const isIn = () =>
      page.evaluate(`document.activeElement?.classList.contains('yaml-editor') ?? false`)
    for (let presses = 0; presses < 30 && !(await isIn()); presses++) {
      await page.keyboard.press('Tab')
    }
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
    await requireSound(page, noticed)
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
    expect(await page.getByRole('button', { name: 'Review and publish' }).count()).toBe(0)
    await requireSound(page, noticed)
    await page.getByRole('button', { name: 'Unlock' }).click()
    const dialog = page.getByRole('dialog', { name: 'Unlock this flow?' })
    await dialog.getByRole('button', { name: 'Unlock' }).click()
    // The flow is read anew before it can be written.
    await page.locator('.cm-content[contenteditable=true]').waitFor()
    await replace(page, 'title: A', 'title: Here')
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
  await page.getByRole('group', { name: 'Element' }).getByText(selector).waitFor()

  await page.getByText('YAML', { exact: true }).click()
  await until(async () => (await textIn(page)).includes('data-testid'))
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

describe('if someone else saved first', () => {
  /** An author has changed a step that someone else has changed and saved meanwhile. */
  async function conflict(key: string) {
    await begin(key, step('a', 'A'), step('b', 'B'))
    const visited = await edit(key)
    await robotSaves(key, 'Robot', 'B')
    await replace(visited.page, 'title: A', 'title: Ann')
    const dialog = visited.page.getByRole('dialog', { name: 'Someone else saved first' })
    await dialog.getByText('title: Robot').waitFor()
    await dialog.getByText('title: Ann').waitFor()
    return { ...visited, dialog }
  }

  test('an author sees the difference, and may keep what they have', async () => {
    const { page, noticed, dialog } = await conflict('mine')
    const complaints = noticed.complaints.filter(text => !/\b(409|412)\b/.test(text))
    await requireSound(page, { ...noticed, complaints })
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await isSaved(page)
    expect(await draftOf('mine')).toContain('title: Ann')
  })

  test('or take what is saved', async () => {
    const { page, dialog } = await conflict('theirs')
    await dialog.getByRole('button', { name: 'Take theirs' }).click()
    await isSaved(page)
    expect(await textIn(page)).toContain('title: Robot')
    expect(await draftOf('theirs')).toContain('title: Robot')
  })
})

describe('what is not saved yet', () => {
  test('is saved when its author leaves the page at once', async () => {
    await begin('left', step('a', 'A'))
    const { page } = await edit('left')
    await replace(page, 'title: A', 'title: Quick')
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page.waitForURL(/\/runs(\?|$)/)
    await until(async () => (await draftOf('left')).includes('title: Quick'))
  })

  test('survives a reload, a restart of the server and the end of the session', async () => {
    await begin('restarted', step('a', 'A'))
    const { page } = await edit('restarted')
    await page.getByText('No problems').waitFor()
    await house.server.end()
    await replace(page, 'title: A', 'title: Kept')
    await page.getByText('Not saved: server unreachable.').waitFor()
    house.server = await house.place.serve(['--port', new URL(house.server.url).port])
    await isSaved(page)
    expect(await draftOf('restarted')).toContain('title: Kept')

    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await replace(page, 'title: Kept', 'title: Kept too')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await textIn(page)).toContain('title: Kept too')
    await page.context().addCookies(cookies)
    await page.reload()
    await isSaved(page)
    await until(async () => (await draftOf('restarted')).includes('title: Kept too'))
  })

  test.each(['the page was reloaded', 'the connection broke'])(
    'is no conflict with what the server has saved without an answer, because %s',
    async reason => {
      const key = reason.replaceAll(' ', '-')
      await begin(key, step('a', 'A'))
      const { page } = await edit(key)
      const isReload = reason === 'the page was reloaded'
      await page.route('**/manage/flows/*/draft', async route => {
        if (route.request().method() !== 'PUT') return route.continue()
        await route.fetch()
        if (!isReload) await route.abort()
      })
      await replace(page, 'title: A', 'title: Sent')
      await until(async () => (await draftOf(key)).includes('title: Sent'))
      await replace(page, 'title: Sent', 'title: Sent, then changed')
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      if (isReload) await page.reload()
      await until(async () => (await draftOf(key)).includes('title: Sent, then changed'))
      await isSaved(page)
    },
  )

  test('is there again after a reload, and may be discarded', async () => {
    await begin('reloaded', step('a', 'A'))
    const { page, noticed } = await edit('reloaded')
    await page.route('**/manage/flows/*/draft', route =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    )
    await replace(page, 'title: A', 'title: Mine')
    await page.getByText('Not saved: server unreachable.').waitFor()
    await page.reload()
    await page.getByText('Restored the changes that were not saved.').waitFor()
    await until(async () => (await textIn(page)).includes('title: Mine'))
    const complaints = noticed.complaints.filter(text => !/draft|ERR_FAILED/.test(text))
    await requireSound(page, { ...noticed, complaints })
    await page.getByRole('button', { name: 'Discard them' }).click()
    await isSaved(page)
    expect(await textIn(page)).toContain('title: A')
    expect(await draftOf('reloaded')).toContain('title: A')
  })
})
