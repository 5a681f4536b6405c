import { expect } from 'bun:test'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, requireSound, requireSoundOnEveryScreen } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Members: what an owner does without a manual, on the real server. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const dialog = (page: Page) => page.getByRole('dialog')

/** Opens a link that was copied from the page, in a browser of its own. */
async function open(link: string) {
  const opened = await house.browser.page()
  await opened.page.goto(link)
  await opened.page.getByRole('button', { name: 'Sign in with this link' }).click()
  return opened
}

const shownLink = async (page: Page) =>
  (await dialog(page).locator('.code code').innerText()).trim()

test('an owner invites an editor, sees what the editor changed, and takes the role back', async () => {
  const { page, noticed } = await house.visit('/')
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByRole('link', { name: 'Members', exact: true }).click()
  await page.getByRole('button', { name: 'Invite member' }).click()
  await dialog(page).getByRole('button', { name: 'Create invitation link' }).click()
  const link = await shownLink(page)
  await requireSound(page, noticed)
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /Asked at the first sign-in.*Editor.*Ann/ }).waitFor()

  const { page: editors } = await open(link)
  await dialog(editors).getByText('What is your name?').waitFor()
  await dialog(editors).getByRole('textbox', { name: 'Name' }).fill('Ann')
  await dialog(editors).getByRole('button', { name: 'Save name' }).click()
  await dialog(editors).getByText('Another member has this name.').waitFor()
  await dialog(editors).getByRole('textbox', { name: 'Name' }).fill('Ben')
  await dialog(editors).getByRole('button', { name: 'Save name' }).click()
  await dialog(editors).waitFor({ state: 'detached' })
  await editors.goto(house.at('/flows/welcome/versions'))
  await editors.getByRole('button', { name: 'Unpublish' }).first().click()
  await dialog(editors).getByRole('button', { name: 'Unpublish' }).click()
  await dialog(editors).waitFor({ state: 'detached' })

  await page.getByRole('link', { name: 'Audit log', exact: true }).click()
  await page.getByRole('row', { name: /Ben.*Unpublished.*welcome/ }).waitFor()
  await page.getByRole('link', { name: 'Members', exact: true }).click()
  await page.getByRole('row', { name: /Ben.*Editor.*Invitation link/ }).waitFor()
  await requireSoundOnEveryScreen(page, noticed)
  await page.getByRole('button', { name: 'Change role of Ben' }).click()
  await dialog(page)
    .getByLabel(/^Viewer/)
    .check()
  await dialog(page).getByRole('button', { name: 'Change role' }).click()
  await page.getByRole('status').getByText('Ben is now viewer.').waitFor()
  // It counts at the next request: the page that is still open for an editor may change nothing.
  const still = await editors.evaluate<string>(`(async () => {
    const session = await (await fetch('/dashboard/session/token', {
      method: 'POST', body: '{}',
      headers: { 'content-type': 'application/json', 'cairn-dashboard': '1' },
    })).json()
    const response = await fetch('/api/v1/manage/members', {
      headers: { authorization: 'Bearer ' + session.token },
    })
    return [session.role, response.status].join(' ')
  })()`)
  expect(still).toBe('viewer 403')
})

test('a removed member is signed out at once; a sign-in link lets another back in as themselves', async () => {
  const { page, noticed } = await house.visit('/settings/members')
  const invite = async (name: string) => {
    await page.getByRole('button', { name: 'Invite member' }).click()
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill(name)
    await dialog(page).getByRole('button', { name: 'Create invitation link' }).click()
    const link = await shownLink(page)
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    return link
  }
  const { page: cems } = await open(await invite('Cem'))
  await cems.getByRole('link', { name: 'Flows', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Create sign-in link for Cem' }).click()
  await dialog(page).getByRole('button', { name: 'Create sign-in link' }).click()
  const again = await open(await shownLink(page))
  await again.page.getByRole('button', { name: /^Account.*Cem/ }).waitFor()
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Remove Cem' }).click()
  await dialog(page).getByRole('button', { name: 'Remove member' }).click()
  await page.getByRole('status').getByText('Removed Cem.').waitFor()
  await cems.reload()
  await cems.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByRole('button', { name: 'Remove Ann', exact: true }).click()
  await dialog(page).getByRole('button', { name: 'Remove member' }).click()
  await dialog(page).getByText('This is the last owner.').waitFor()
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  noticed.complaints.length = 0
  await requireSound(page, noticed)
})
