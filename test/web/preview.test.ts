import { expect } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { AuthoredSite } from '../support/authored-site.ts'
import type { Page } from '../support/browser.ts'
import { DashboardHouse } from '../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'

/** Whoever holds a link sees a draft on a customer's page with a strict policy, marked as such and not counted. */

let house: DashboardHouse
let site: AuthoredSite
beforeAll(async () => {
  house = await DashboardHouse.open()
  site = new AuthoredSite(house.server, house.snippetKey)
})
afterAll(async () => {
  await site.stop()
  await house.close()
})

interface Made {
  id: string
  link: string
  expiresAt: string
}

const draft = (title: string) => `key: drafted
name: Drafted tour
targeting:
  urls: [{ match: exact, pattern: /nowhere }]
  audience: { match: all, rules: [{ attribute: plan, op: eq, value: never }] }
steps:
  - { key: create, title: ${title}, target: { selector: "#new" }, buttons: [{ label: Next, action: next }] }
  - { key: invite, title: Invite them, target: { selector: "#invite" }, page: { match: exact, pattern: /team } }
`

async function push(title: string): Promise<void> {
  const { place } = house
  await Bun.write(join(place.folder, 'drafted.yaml'), draft(title))
  const { status, stderr } = await place.run(['flows', 'push', 'drafted.yaml'])
  if (status !== 0) throw new Error(stderr)
}

const preview = (...more: string[]) =>
  house.place.json<Made>(['flows', 'preview', ...more, '--page', `${site.origin}/projects`])

const badge = (page: Page) => page.getByRole('region', { name: 'Cairn: preview of a draft' })

/** What the page has asked of Cairn, without the hashes in names. */
const toCairn = (requests: readonly string[]) =>
  requests
    .filter(url => url.startsWith(house.server.url))
    .map(url => url.slice(house.server.url.length).replace(/[?#].*|-[0-9a-f]{16}/g, ''))

test('shows the draft whatever its rules say, marked as one, across pages, and counts nothing', async () => {
  await push('First text')
  const { link } = await preview('drafted')
  const { page, noticed } = await house.browser.page()
  await page.goto(link)
  await page.getByRole('dialog', { name: 'First text' }).waitFor()
  expect(page.url()).toBe(`${site.origin}/projects`)
  expect(site.asked.join()).not.toContain('cairn-preview')
  await badge(page).getByText('Preview — nothing is counted').waitFor()
  await badge(page).getByText('Step 1 of 2').waitFor()
  // The page keeps making its calls, and none of them is counted.
  await page.evaluate("window.cairn.identify('ann', {plan: 'pro'}); window.cairn.track('clicked')")
  await page.evaluate("window.cairn.on('flow_started', () => {})()")

  // A reload shows the newest text.
  await push('Second text')
  await page.goto(`${site.origin}/projects`)
  await page.getByRole('dialog', { name: 'Second text' }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  // Its next step is for another page, where it continues after a load.
  await page.goto(`${site.origin}/team`)
  await page.getByRole('dialog', { name: 'Invite them' }).waitFor()
  await badge(page).getByText('Step 2 of 2').waitFor()

  const asked = new Set(toCairn(noticed.requests))
  expect([...asked].toSorted()).toEqual([
    '/preview/flow',
    '/snippet-preview.js',
    '/snippet-renderer.js',
    '/snippet.js',
  ])
  const stored = await page.evaluate('Object.keys(localStorage).join()')
  expect(stored).not.toContain('history')
  expect(noticed.complaints).toEqual([])

  // What was held back meanwhile begins, and is not blamed for what was said of events.
  await badge(page).getByRole('button', { name: 'End preview' }).click()
  await page.getByRole('heading', { name: 'News' }).waitFor()
  expect(await badge(page).count()).toBe(0)
  expect(toCairn(noticed.requests)).toContain('/api/v1/flows')
  await page.reload()
  await page.getByRole('heading', { name: 'News' }).waitFor()
  expect(await badge(page).count()).toBe(0)
})

test('says how a flow has ended, and starts it again', async () => {
  await push('Once more')
  const { link } = await preview('drafted')
  const { page } = await house.browser.page()
  await page.goto(link)
  await page.getByRole('dialog', { name: 'Once more' }).waitFor()
  await page.getByRole('button', { name: 'Close' }).first().click()
  await badge(page).getByText('The flow was closed.').waitFor()
  await badge(page).getByRole('button', { name: 'Start again' }).click()
  await page.getByRole('dialog', { name: 'Once more' }).waitFor()
})

test('shows the flow of a file that is stored nowhere', async () => {
  await Bun.write(
    join(house.place.folder, 'loose.yaml'),
    draft('Loose').replace('drafted', 'loose'),
  )
  const { link } = await preview('--file', 'loose.yaml')
  const { page } = await house.browser.page()
  await page.goto(link)
  await page.getByRole('dialog', { name: 'Loose' }).waitFor()
  const listed = await house.place.json<{ key: string }[]>(['flows', 'list'])
  expect(listed.map(({ key }) => key)).not.toContain('loose')
})

test('a link that was ended, or is for another origin, is explained, and the page goes on', async () => {
  await push('Secret')
  const { id, link } = await preview('drafted')
  const other = new AuthoredSite(house.server, house.snippetKey)
  const elsewhere = await house.browser.page()
  await elsewhere.page.goto(`${other.origin}/projects#${link.split('#')[1]}`)
  await badge(elsewhere.page).getByText('Ask for a new one').waitFor()
  await elsewhere.page.getByRole('heading', { name: 'News' }).waitFor()
  expect(await elsewhere.page.getByText('Secret').count()).toBe(0)
  await elsewhere.page.context().close()
  await other.stop()

  const { page } = await house.browser.page()
  await page.goto(link)
  await page.getByRole('dialog', { name: 'Secret' }).waitFor()
  const { stdout } = await house.place.run(['flows', 'preview', '--list'])
  expect(stdout).toContain(id)
  expect(stdout).not.toContain(link.split('=')[1]!)
  await house.place.run(['flows', 'preview', '--end', id])
  await page.reload()
  await badge(page).getByText('Ask for a new one').waitFor()
  await page.getByRole('heading', { name: 'News' }).waitFor()
  await badge(page).getByRole('button', { name: 'Close' }).click()
  await until(
    () => badge(page).count(),
    count => count === 0,
  )
  const audit = await house.place.run(['audit', '--json'])
  expect(audit.stdout).toContain('flow.preview')
  expect(audit.stdout).toContain('flow.end_preview')
  expect(audit.stdout).not.toContain(link.split('=')[1]!)
})
