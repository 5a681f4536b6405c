import { expect } from 'bun:test'
import { join } from 'node:path'
import { AuthoredSite } from '../../support/authored-site.ts'
import {
  cellsOf,
  DashboardHouse,
  requireSound,
  requireSoundOnEveryScreen,
} from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Flows are tried in another organisation and promoted from there; drafts are previewed on the real page. */

let house: DashboardHouse
let site: AuthoredSite

const file = (title: string) => `key: welcome
name: Welcome tour
steps:
  - { key: hello, kind: modal, title: ${title} }
---
key: tried
name: Tried first
steps:
  - { key: one, kind: modal, title: One }
`

async function pushTo(org: string, text: string, ...more: string[]): Promise<void> {
  const { place } = house
  await Bun.write(join(place.folder, 'staged.yaml'), text)
  const args = ['flows', 'push', 'staged.yaml', '--org', org, ...more]
  const { status, stderr } = await place.run(args)
  if (status !== 0) throw new Error(stderr)
}

beforeAll(async () => {
  house = await DashboardHouse.open()
  site = new AuthoredSite(house.server, house.snippetKey)
  // They sign in while there is only one organisation, so that it is clear which one is meant.
  for (const role of ['owner', 'viewer'] as const) await house.enter({ role })
  await house.place.run(['org', 'create', 'Harbor staging', '--staging-of', 'harbor'])
  await pushTo('harbor-staging', file('Ahoy'), '--publish')
})
afterAll(async () => {
  await site.stop()
  await house.close()
})

test('flows of staging are listed beside those of production; a viewer cannot promote them', async () => {
  const { page, noticed } = await house.visit('/flows', { role: 'viewer' })
  await page.getByRole('link', { name: 'Staging' }).click()
  await page.getByText('Compare flows in Harbor staging').waitFor()
  await page.getByText('Not in staging').first().waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  expect(await page.getByRole('button', { name: 'Promote' }).count()).toBe(0)
})

test('a flow is promoted as it was reviewed, not as somebody has changed it since', async () => {
  const { page, noticed } = await house.visit('/staging')
  await page.getByRole('button', { name: 'Promote “Welcome tour”' }).click()
  const dialog = page.getByRole('dialog', { name: 'Promote “Welcome tour”?' })
  await dialog.getByText('title: Ahoy').waitFor()
  await pushTo('harbor-staging', file('Ahoy again'), '--publish')
  await dialog.getByRole('button', { name: 'Promote flow' }).click()
  await dialog.getByRole('alert').getByText('changed it after you opened it').waitFor()
  await dialog.getByText('title: Ahoy again').waitFor()
  await dialog.getByLabel('Publish now').check()
  await requireSound(page, { ...noticed, complaints: [] })
  await dialog.getByRole('button', { name: 'Promote flow' }).click()
  await page.getByText('is published as version 2').waitFor()
  await page.getByRole('row', { name: /Welcome tour Same/ }).waitFor()

  await page.getByRole('button', { name: 'Promote “Tried first”' }).click()
  await page.getByRole('dialog').getByText('title: One').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Promote flow' }).click()
  await page.getByText('is now the draft here').waitFor()
  await page.getByRole('row', { name: /Tried first Same/ }).waitFor()
  expect(await cellsOf(page, 'Flows in staging and here')).toEqual([
    ['Spring news', 'Not in staging', 'None', 'Version 1', ''],
    ['Tried first', 'Same', 'Version 1', 'Draft', ''],
    ['Welcome tour', 'Same', 'Version 2', 'Version 2', ''],
  ])
  await page.goto(house.at('/flows/welcome/versions'))
  await page.getByText('Last promoted from harbor-staging, version 2').waitFor()
})

test('staging is labelled, so that nobody takes it for what visitors see', async () => {
  const { page } = await house.browser.page()
  await page.goto(await house.link('owner', 'Ann', 'harbor-staging'))
  await page.getByRole('button', { name: 'Sign in with this link' }).click()
  await page.getByRole('complementary').getByText('Staging of Harbor').waitFor()
})

test('a draft is previewed on the page by a link from the editor, and the link can be ended', async () => {
  const { page } = await house.visit('/flows/welcome/edit')
  await page.getByRole('button', { name: 'Preview on page' }).click()
  const dialog = page.getByRole('dialog', { name: 'Preview the draft on your page' })
  await dialog.getByLabel('Page URL').fill(`${site.origin}/projects`)
  const opening = page.context().waitForEvent('page')
  await dialog.getByRole('button', { name: 'Open preview' }).click()
  const opened = await opening
  const link = await dialog.locator('code').first().textContent()
  await opened.getByRole('dialog', { name: 'Ahoy again' }).waitFor()
  expect(opened.url()).toBe(`${site.origin}/projects`)
  expect(link).toStartWith(`${site.origin}/projects#cairn-preview=`)
  await dialog.getByRole('button', { name: 'Revoke link of Ann' }).click()
  await dialog.getByRole('heading', { name: 'Links that work' }).waitFor({ state: 'detached' })
  await opened.reload()
  await opened.getByText('Ask for a new one').waitFor()
})

test('an owner of both links them by a token, and unlinks them', async () => {
  const { place } = house
  await place.run(['org', 'create', 'Harbor trials'])
  const made = ['token', 'create', 'Link', '--scope', 'settings:write', '--org', 'harbor-trials']
  const { token } = await place.json<{ token: string }>(made)
  const { page, noticed } = await house.visit('/settings/staging')
  await page.getByRole('rowheader', { name: 'Harbor staging' }).waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  const field = page.getByLabel('Management token of the staging organisation')
  await field.fill('crn_nonsense')
  await page.getByRole('button', { name: 'Link organisation' }).click()
  await page.getByText('Must be a valid management token').waitFor()
  await field.fill(token)
  await page.getByRole('button', { name: 'Link organisation' }).click()
  await page.getByText('Linked Harbor trials.').waitFor()
  await page.getByRole('button', { name: 'Unlink Harbor trials' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
  await page.getByText('Unlinked Harbor trials.').waitFor()
})
