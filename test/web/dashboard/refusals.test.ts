import { expect } from 'bun:test'
import { DashboardHouse, hardToUse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** What the dashboard shows if the server refuses. Each refusal is one of the server's own. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const listed = /\/manage\/flows$/

test('a role that may not see a page is told which scope it needs, and given a way out', async () => {
  const { page } = await house.visit('/flows', { role: 'viewer' })
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  // As if only owners could see the list: the server refuses to show tokens to a viewer.
  const asOwners = (url: string) => url.replace(listed, '/manage/tokens')
  await page.route(listed, route => route.continue({ url: asOwners(route.request().url()) }))
  await page.reload()
  await page.getByRole('heading', { name: 'You may not see this' }).waitFor()
  await page.getByText('This needs the scope settings:write').waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.unroute(listed)
  await page.getByRole('link', { name: 'To the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.context().close()
})

test('a change that somebody else made meanwhile is reported, and can be loaded', async () => {
  const { page } = await house.visit('/flows')
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await page.route(listed, route => {
    const request = route.request()
    return route.continue({
      url: request.url().replace(listed, '/manage/flows/welcome/draft'),
      method: 'DELETE',
      headers: { ...request.headers(), 'if-match': '"of-yesterday"' },
    })
  })
  await page.reload()
  await page.getByRole('heading', { name: 'Somebody was quicker' }).waitFor()
  expect(await hardToUse(page)).toEqual([])
  await page.unroute(listed)
  await page.getByRole('button', { name: 'Show what is there now' }).click()
  await page.getByRole('link', { name: 'Welcome tour' }).waitFor()
  await page.context().close()
})

test('if storage refuses writes, reading still works, and signing in or out says that it failed', async () => {
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
  await page.getByText('You are still signed in').waitFor()
  expect(await hardToUse(page)).toEqual([])
  const { page: other } = await house.browser.page()
  await other.goto(link)
  await other.getByRole('button', { name: 'Sign in with this link' }).click()
  await other.getByText('The server cannot store anything just now').waitFor()
  expect(await hardToUse(other)).toEqual([])
  await house.server.end('SIGKILL')
  house.server = await house.place.serve(['--port', port])
  await other.getByRole('button', { name: 'Sign in with this link' }).click()
  await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

test('signing out everywhere ends a person’s session in every browser, and nobody else’s', async () => {
  const [one, two] = [await house.signIn(), await house.signIn()]
  const bob = await house.signIn('viewer', 'Bob')
  await one.page.getByRole('button', { name: /Ann/ }).click()
  await one.page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await one.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await two.page.reload()
  await two.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await bob.page.reload()
  await bob.page.getByRole('heading', { name: 'Overview' }).waitFor()
})
