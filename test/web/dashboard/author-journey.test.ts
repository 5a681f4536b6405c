import { expect } from 'bun:test'
import type { FlowDefinition } from '../../../src/core/flow/flow.ts'
import { AuthoredSite } from '../../support/authored-site.ts'
import { DashboardHouse, type Manage } from '../../support/dashboard.ts'
import { isSaved } from '../../support/flow-editor.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What an author does who never read the manual: people miss a feature, so a tour points at it. */

let house: DashboardHouse
let manage: Manage
beforeAll(async () => {
  house = await DashboardHouse.demo()
  manage = await house.manager('flows:read')
})
afterAll(() => house.close())

test('a tour of three steps is written on the real page, previewed, and published to a tenth', async () => {
  const site = new AuthoredSite(house.server, house.snippetKey)
  const { page } = await house.visit('/flows/new')
  await page.getByRole('link', { name: 'Start empty' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Find projects')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.waitForURL('**/flows/find-projects/edit')
  await page.getByRole('link', { name: 'Versions' }).waitFor()

  const title = page.getByLabel('Title', { exact: true })
  const preview = page.frameLocator('iframe[title="Preview of the flow"]')
  const steps = page.getByRole('region', { name: 'Steps' })
  await steps.getByRole('button', { name: 'Welcome', exact: true }).click()
  await title.fill('Did you know?')
  for (const text of ['Create a project here', 'That is all']) {
    await steps.getByRole('button', { name: 'Add step' }).click()
    await title.fill(text)
    await preview.locator('h2', { hasText: text }).waitFor()
  }
  await steps.getByRole('button', { name: 'Create a project here', exact: true }).click()
  await page.getByRole('button', { name: 'Pick on page' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Page URL').fill(`${site.origin}/projects`)
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    dialog.getByRole('button', { name: 'Open page' }).click(),
  ])
  await dialog.getByText('Connected').waitFor()
  const box = (await tab.getByRole('button', { name: 'New project' }).boundingBox())!
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.bringToFront()
  await dialog.getByRole('group', { name: 'button “New project”' }).waitFor()
  await dialog.getByRole('button', { name: 'Use selector' }).click()

  await page.getByRole('button', { name: 'Schedule and rollout' }).click()
  await page.getByLabel('Share of people', { exact: true }).fill('10')
  await isSaved(page)
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const { flows } = await manage<{ flows: { key: string; published: FlowDefinition | null }[] }>(
    'GET',
    '/flows?definitions=1',
  )
  const { published } = flows.find(({ key }) => key === 'find-projects')!
  expect(published!.rollout).toEqual({ percent: 10 })
  expect(published!.steps.map(step => [step.title, step.target?.selector ?? null])).toEqual([
    ['Did you know?', null],
    ['Create a project here', '[data-testid="new-project"]'],
    ['That is all', null],
  ])
  await page.context().close()
  await site.stop()
})
