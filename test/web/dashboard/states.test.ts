import { expect } from 'bun:test'
import { DashboardHouse, hardToUse } from '../../support/dashboard.ts'
import { comeBack } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Signing in and out, and what the dashboard shows if something is wrong. */

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
  await second.getByText('This link was used').waitFor()
  await second.getByText('cairn dashboard link').first().waitFor()
})

test('an address without an organisation leads to the page of the one that is signed in to', async () => {
  const { token } = await house.place.json<{ token: string }>(['token', 'issue'])
  const { page } = await house.browser.page()
  await page.goto(`${house.server.url}/dashboard/-/flows/welcome/edit?part=create`)
  await page.getByLabel('Session token').fill(token)
  await page.getByRole('button', { name: 'Sign in with a token' }).click()
  await page.getByRole('heading', { name: 'Start a project' }).waitFor()
  expect(page.url()).toBe(house.at('/flows/welcome/edit?part=create'))
})

test('a session token signs in; a wrong one is reported; after signing out, Back shows nothing', async () => {
  const { token } = await house.place.json<{ token: string }>(['token', 'issue'])
  const { page } = await house.browser.page()
  await page.goto(`${house.at('/flows/welcome')}?tz=UTC`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await hardToUse(page)).toEqual([])
  const field = page.getByLabel('Session token')
  const button = page.getByRole('button', { name: 'Sign in with a token' })
  await button.click()
  await page.getByText('Paste a session token.').waitFor()
  await field.fill('nonsense')
  await button.click()
  await page.getByText('This token does not work here').waitFor()
  await field.fill(token)
  await button.click()
  await page.getByText('Where people leave').waitFor()
  expect(new URL(page.url()).search).toBe('?tz=UTC')
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByText('Where people leave').count()).toBe(0)
})

test('signing out everywhere ends the session in every browser', async () => {
  const [one, two] = [await house.signIn(), await house.signIn()]
  await one.page.goto(house.at('/settings/sign-in'))
  await one.page.getByRole('button', { name: 'Sign out everywhere' }).click()
  const dialog = one.page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Sign out', exact: true }).click()
  await one.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await two.page.reload()
  await two.page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('when a session has ended, a dialog asks to sign in again, and the page behind stays as it was', async () => {
  const { page } = await house.signIn('owner', 'Bob')
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  const typed = page.getByLabel('Find a flow')
  await typed.fill('wel')
  await page.context().clearCookies()
  await comeBack(page)
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
  const { page } = await house.signIn('owner', 'Bob')
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
})

test('an invalid address is reported, with a way out', async () => {
  const { page } = await house.signIn('owner', 'Bob')
  await page.goto(house.at('/flows/welcome?from=yesterday&tz=Mars'))
  await page.getByText('Unknown filter').waitFor()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('timezone').first().waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('Where people leave').waitFor()
  const nowhere = ['/flows/no-such-flow', '/flows/%E0%A4%A', '/flows/a/b/c', '/settings/nonsense']
  for (const path of nowhere) {
    await page.goto(house.at(path))
    await page.getByText('Page not found').waitFor()
  }
  await page.goto(`${house.server.url}/dashboard/another/flows`)
  await page.getByText('You are signed in to Harbor').waitFor()
  expect(await hardToUse(page)).toEqual([])
})

test('missing access and a conflicting change are explained, with a link or a button to continue', async () => {
  const { page } = await house.visit('/flows', { role: 'viewer' })
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  const listed = /\/manage\/flows$/
  // Acts as if only owners could see the list: the server does not show tokens to a viewer.
  const asOwners = (url: string) => url.replace(listed, '/manage/tokens')
  await page.route(listed, route => route.continue({ url: asOwners(route.request().url()) }))
  await page.reload()
  await page.getByRole('heading', { name: 'No access' }).waitFor()
  const scope = page.getByText('This needs the scope settings:write')
  expect(await scope.isVisible()).toBe(false)
  await page.getByText('Details', { exact: true }).click()
  await scope.waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.unroute(listed)
  await page.getByRole('link', { name: 'Go to overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

  const { page: editors } = await house.enter({ role: 'editor' })
  await editors.route(listed, route => {
    const request = route.request()
    return route.continue({
      url: request.url().replace(listed, '/manage/flows/welcome/draft'),
      method: 'DELETE',
      headers: { ...request.headers(), 'if-match': '"of-yesterday"' },
    })
  })
  await editors.goto(house.at('/flows'))
  await editors.getByRole('heading', { name: 'Someone else saved first' }).waitFor()
  await editors.unroute(listed)
  await editors.getByRole('button', { name: 'Show current version' }).click()
  await editors.getByRole('link', { name: 'Welcome tour' }).waitFor()
})

test('if storage rejects writes, reading still works, and signing in or out says that it failed', async () => {
  const { page } = await house.signIn()
  const link = await house.link()
  const { port } = new URL(house.server.url)
  await house.server.end('SIGTERM')
  house.server = await house.place.serve(['--port', port], {
    CAIRN_FAILPOINTS: 'before_begin=full',
  })
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByText('Where people leave').waitFor()
  await page.getByRole('button', { name: /Ann/ }).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByText('Not signed out').waitFor()
  const { page: other } = await house.browser.page()
  await other.goto(link)
  await other.getByRole('button', { name: 'Sign in with this link' }).click()
  await other.getByText('Server busy').waitFor()
  await house.server.end('SIGKILL')
  house.server = await house.place.serve(['--port', port])
  await other.getByRole('button', { name: 'Sign in with this link' }).click()
  await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})
