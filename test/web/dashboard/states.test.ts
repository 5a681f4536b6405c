import { expect } from 'bun:test'
import { usualMs } from '../../../src/web/dashboard/api/read.ts'
import { pass } from '../../support/browser.ts'
import { DashboardHouse, hardToUse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What the dashboard shows if something is not as it should be, and how people continue from there. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

test('a link signs in once; a second visitor is told so, and what to do', async () => {
  const link = await house.link()
  const { page } = await house.browser.page()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Open the dashboard' }).waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in with this link' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard/harbor')
  const { page: second } = await house.browser.page()
  await second.goto(link)
  await second.getByRole('button', { name: 'Sign in with this link' }).click()
  await second.getByText('This link has been used').waitFor()
  await second.getByText('cairn dashboard link').first().waitFor()
})

test('a session token signs in; a wrong one is reported beside the field', async () => {
  const { token } = await house.place.json<{ token: string }>(['token', 'issue'])
  const { page } = await house.browser.page()
  await page.goto(`${house.server.url}/dashboard/harbor/flows/welcome?tz=UTC`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await hardToUse(page)).toEqual([])
  const field = page.getByLabel('Session token')
  const button = page.getByRole('button', { name: 'Sign in with a token' })
  await button.click()
  await page.getByText('Paste a session token first').waitFor()
  await field.fill('nonsense')
  await button.click()
  await page.getByText('This token does not work here').waitFor()
  await field.fill(token)
  await button.click()
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).search).toBe('?tz=UTC')
})

test('signing out leads to the sign-in page, and Back shows nothing', async () => {
  const { page } = await house.signIn()
  await page.getByRole('button', { name: /Ann/ }).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByText('Welcome tour').count()).toBe(0)
})

test('when a session has ended, a dialog asks to sign in again, and the page behind stays as it was', async () => {
  const { page } = await house.signIn()
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  const typed = page.getByLabel('Find a flow')
  await typed.fill('wel')
  await page.context().clearCookies()
  // As when somebody comes back to the tab.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  expect(await typed.inputValue()).toBe('wel')
  expect(await hardToUse(page)).toEqual([])
  const { token } = await house.place.json<{ token: string }>(['token', 'issue'])
  await page.getByLabel('Session token').fill(token)
  await page.getByRole('button', { name: 'Sign in with a token' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await typed.inputValue()).toBe('wel')
})

test('what is typed before the page has put its zone into the address stays', async () => {
  const { page } = await house.enter()
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const input = document.querySelector<HTMLInputElement>('input[type=search]')
      if (!input) return
      observer.disconnect()
      input.value = 'wel'
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })
    observer.observe(document, { childList: true, subtree: true })
  })
  await page.goto(house.at('/flows'))
  await page.waitForURL(/tz=/)
  expect(new URL(page.url()).searchParams.get('find')).toBe('wel')
  await page.context().close()
})

test('an invalid address is reported, with a way out', async () => {
  const { page } = await house.visit('/flows/welcome?from=yesterday&tz=Mars')
  await page.getByText('This address asks for something that does not exist').waitFor()
  await page.getByText('Must be an IANA time zone').or(page.getByText('timezone')).first().waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.getByRole('link', { name: 'Without the filters' }).click()
  await page.getByText('Where people leave').waitFor()
  for (const path of ['/flows/no-such-flow', '/nowhere', '/flows/%E0%A4%A', '/flows/a/b/c']) {
    await page.goto(`${house.server.url}/dashboard/harbor${path}`)
    await page.getByText('There is nothing at this address').waitFor()
    expect(await hardToUse(page)).toEqual([])
  }
  await page.goto(`${house.server.url}/dashboard/another/flows`)
  await page.getByText('You are signed in to Harbor').waitFor()
  expect(await hardToUse(page)).toEqual([])
})

test('at the limit, the page keeps its data and counts the seconds down', async () => {
  const { page } = await house.visit('/flows/welcome')
  await page.getByText('Where people leave').waitFor()
  await house.place.run(['org', 'limits', 'harbor', '--analytics', '1'])
  const days = page.getByLabel('Complete days')
  await days.click()
  await days.click()
  await days.click()
  await page.getByText(/It goes on in \d+ seconds?\./).waitFor()
  await house.place.run(['org', 'limits', 'harbor', '--analytics', '100000'])
})

test('a lost server is reported; old data stays with its age, and the page recovers once it is back', async () => {
  const { page } = await house.visit('/flows', { clock: true })
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  const { port } = new URL(house.server.url)
  await house.server.end('SIGKILL')
  await pass(page, usualMs)
  await page.getByText('The server cannot be reached.').first().waitFor()
  await page
    .getByText(/Showing what was known/)
    .first()
    .waitFor()
  expect(await page.getByRole('link', { name: 'Welcome tour' }).count()).toBe(1)
  expect(await hardToUse(page)).toEqual([])
  house.server = await house.place.serve(['--port', port])
  await pass(page, usualMs)
  await page.getByText('The server cannot be reached.').first().waitFor({ state: 'detached' })
})
