import { expect } from 'bun:test'
import { Workplace, withTour } from '../../support/binary.ts'
import { TestBrowser } from '../../support/browser.ts'
import { hardToUse } from '../../support/dashboard.ts'
import {
  audience,
  dashboardClient,
  freePort,
  Provider,
  signingKey,
} from '../../support/identity-provider.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** Signing in to the dashboard by a real OpenID provider, in a real browser. */

let provider: Provider
let place: Workplace
let browser: TestBrowser
/** Where the provider sends people back to. */
let url: string
beforeAll(async () => {
  const keys = [await signingKey('RS256', 'rs')]
  provider = await Provider.start(keys)
  place = new Workplace()
  const acme = await withTour(place)
  url = `http://127.0.0.1:${await freePort()}`
  await Bun.write(`${place.folder}/client-secret`, `${dashboardClient.secret}\n`)
  provider.serveDashboard(url)
  provider.person = {
    sub: 'ann',
    claims: { org: acme.slug, name: 'Ann Lee', cairn_role: ['cairn-editor'] },
  }
  await provider.use(keys)
  await place.serve(['--port', new URL(url).port], {
    CAIRN_PUBLIC_URL: url,
    CAIRN_SESSION_ISSUER: provider.issuer,
    CAIRN_SESSION_AUDIENCE: audience,
    CAIRN_OIDC_CLIENT_ID: dashboardClient.id,
    CAIRN_OIDC_CLIENT_SECRET_FILE: `${place.folder}/client-secret`,
  })
  browser = await TestBrowser.open()
})
afterAll(async () => {
  await browser.close()
  await provider.stop()
  await place.close()
})

test('signing in opens the requested page; if the provider is down or rejects it, people can try again', async () => {
  const { page, noticed } = await browser.page({ timezoneId: 'Europe/Berlin' })
  await page.goto(`${url}/dashboard/acme/flows?find=tour`)
  const button = page.getByRole('link', { name: /^Continue with/ })
  await button.waitFor()
  expect(await hardToUse(page)).toEqual([])
  // The server knows nothing of the provider yet, because nobody has signed in since the start.
  await provider.stop()
  await button.click()
  await page.getByText('Your identity provider does not respond').waitFor()
  expect(await hardToUse(page)).toEqual([])
  await provider.resume()
  const { person } = provider
  provider.person = { ...person, isUnwilling: true }
  // The server does not ask it again for some seconds.
  const refused = page.getByText('Your identity provider did not allow it')
  while (!(await refused.isVisible())) {
    await button.click()
    await page.getByText(/^Your identity provider d(oes|id) not/).waitFor()
  }
  provider.person = person
  await page.goto(`${url}/dashboard/acme/flows?find=tour`)
  await button.waitFor()
  noticed.complaints.length = 0
  await button.click()
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor()
  expect(new URL(page.url()).searchParams.get('find')).toBe('tour')
  expect(noticed.complaints).toEqual([])
  await page.getByRole('button', { name: /Ann Lee/ }).click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.waitForURL(url => url.origin === provider.issuer)
})
