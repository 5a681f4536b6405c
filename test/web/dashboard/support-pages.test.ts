import { expect } from 'bun:test'
import type { Installation } from '../../../src/modules/installation/schema.ts'
import type { PersonHistory } from '../../../src/modules/people/schema.ts'
import { apiOf } from '../../support/binary.ts'
import { DashboardHouse, hardToUse, requireSound } from '../../support/dashboard.ts'
import { comeBack } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The pages that help to install, explain why somebody sees a flow, and look after a person. */

let house: DashboardHouse
let token: string
beforeAll(async () => {
  house = await DashboardHouse.open()
  const scopes = ['flows:read', 'people:read', 'people:erase', 'settings:write']
  const made = ['token', 'create', 'Test', '--scope', ...scopes]
  token = (await house.place.json<{ token: string }>(made)).token
})
afterAll(() => house.close())

type Page = Awaited<ReturnType<DashboardHouse['visit']>>['page']

const manage = async <T>(path: string): Promise<T> =>
  (await apiOf(house.server, token)('GET', `/manage/${path}`)).json() as Promise<T>

const address = encodeURIComponent('https://app.example.com/projects')
const codeIn = (page: Page, name: string) =>
  page.locator('.code', { has: page.getByRole('button', { name: `Copy: ${name}` }) }).locator('pre')

test('every role gets the code that the command line prints, and can copy it', async () => {
  const printed = await house.place.run(['key', 'show', '--public-url', house.server.url])
  const { page } = await house.visit('/install', { role: 'viewer' })
  for (const [boxes, query] of [
    [[], ''],
    [['People sign in'], '?login=no'],
    [['Pin this version'], '?login=no&version=this'],
    [['People sign in'], '?version=this'],
  ] as const) {
    for (const box of boxes) await page.getByLabel(box).click()
    await page.waitForURL(`**/install${query}`)
    const tag = await codeIn(page, 'Tag').innerText()
    expect(tag).toContain(house.snippetKey)
    expect(printed.stdout).toContain(tag)
  }
  await page.getByText('For sites with a strict policy').click()
  expect(printed.stdout).toContain(await codeIn(page, 'Calls before the script loads').innerText())
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy: Content security policy' }).click()
  await page.getByText('Copied').waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  const { origin } = new URL(house.server.url)
  expect(copied).toBe(`script-src ${origin};\nconnect-src ${origin};\nimg-src ${origin}`)
})

/** Serves a page with this code, under the content policy that it needs. */
const siteWith = (html: string, policy: string) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(`<!doctype html><title>Site</title><body>${html}`, {
        headers: {
          'content-type': 'text/html',
          'content-security-policy': `default-src 'none'; ${policy}`,
        },
      }),
  })

test('a page with the code for pages or for tag managers is detected under the content policy shown beside it', async () => {
  const { page } = await house.visit('/install')
  await page.getByLabel('People sign in').click()
  await page.getByText('For sites with a strict policy').click()
  for (const [way, code] of [
    ['HTML', 'Tag'],
    ['Tag manager', 'Custom HTML'],
  ] as const) {
    await page.getByText(way, { exact: true }).click()
    const html = await codeIn(page, code).innerText()
    const allowed = await codeIn(page, 'Content security policy').innerText()
    // A tag manager's own code may run; the policy under test is about what that code loads and requests.
    const own = allowed.replace('script-src', "script-src 'unsafe-inline'").replaceAll('\n', ' ')
    const site = siteWith(html, own)
    try {
      const { page: visitor, noticed } = await house.browser.page()
      const flows = visitor.waitForResponse(response => response.url().includes('/api/v1/flows'))
      const events = visitor.waitForResponse(response => response.url().endsWith('/api/v1/events'))
      await visitor.goto(site.url.href)
      expect((await flows).status()).toBe(200)
      // Something was shown and reported, so the policy let the renderer load, too.
      expect((await events).status()).toBe(202)
      expect(noticed.complaints).toEqual([])
    } finally {
      site.stop(true)
    }
  }
  await comeBack(page)
  await page.getByText('First page loaded flows').waitFor()
  const { stages } = await manage<Installation>('install')
  const ticked = await page.locator('.first-steps li.done').count()
  expect(ticked).toBe(stages.filter(({ firstAt }) => firstAt !== null).length + 1)
})

test('findings are those of the API, with what to do', async () => {
  await house.ask('POST', '/events', { events: [{ kind: 'custom', userId: 'ann' }] })
  const { page } = await house.visit('/install')
  await page.getByText('Events rejected as invalid').waitFor()
  const { findings, rejected24h } = await manage<Installation>('install')
  expect(await page.locator('ul.entries strong').allInnerTexts()).toEqual(
    findings.map(({ message }) => message),
  )
  expect(await page.locator('ul.entries p:first-of-type').allInnerTexts()).toEqual(
    findings.map(({ fix }) => fix),
  )
  const times = page.locator('ul.entries time')
  expect(
    await times.evaluateAll(found => found.map(time => time.getAttribute('datetime'))),
  ).toEqual(findings.flatMap(({ since }) => since ?? []))
  expect(await times.count()).toBeGreaterThan(0)
  await page.getByText(`${rejected24h.invalid} invalid`, { exact: true }).waitFor()
  // Refusals are counted by the hour, so nothing says how many minutes ago the first one was.
  const refused = page.locator('ul.entries li', { hasText: 'Events rejected as invalid' })
  expect(await refused.locator('p').last().innerText()).toMatch(
    /^First seen in the hour of \d+ \w+( \d{4})?, \d\d:00$/,
  )
  await page.goto(house.at(''))
  await page.getByText(/^First seen in the hour of .* \d\d:00\. Look at the results/).waitFor()
})

test('an explanation rejects invalid values, shows the conditions of the API, and can be shared by address', async () => {
  const { page, noticed } = await house.visit('/explain?url=nonsense')
  const field = page.getByRole('textbox', { name: 'Page URL' })
  await page.getByText('Enter the full URL').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Enter a page URL.').waitFor()
  await requireSound(page, noticed)
  expect(noticed.requests.filter(url => url.endsWith('/manage/explain'))).toEqual([])
  await field.fill('https://app.example.com/projects')
  await page.getByText('Other traits').click()
  await page.getByRole('button', { name: 'Add trait' }).click()
  await page.getByLabel('Trait', { exact: true }).fill('plan')
  await page.getByLabel('Value').fill('pro')
  await page.getByLabel('User ID').fill('person-0')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('link', { name: 'Welcome tour' }).click()
  await page.getByText('Welcome tour is not shown').waitFor()
  const said = await page.locator('.rules > li > div > p:first-child').allTextContents()
  const answer = await apiOf(house.server, token)('POST', '/manage/explain', {
    ...{ flow: 'welcome', userId: 'person-0', traits: { plan: 'pro' } },
    url: 'https://app.example.com/projects',
  })
  const told = (await answer.json()) as { rules: { why: string }[]; instead: string }
  expect(said).toEqual(told.rules.map(({ why }) => why))
  expect(told.instead).toBe('news')
  await page.getByText('Spring news is shown instead.').waitFor()
  const { page: colleague } = await house.browser.page({
    storageState: await page.context().storageState(),
  })
  await colleague.goto(page.url())
  await colleague.getByText('Welcome tour is not shown').waitFor()
  expect(await colleague.getByLabel('Trait', { exact: true }).inputValue()).toBe('plan')
  expect(await colleague.getByLabel('Value').inputValue()).toBe('pro')
})

test('a role without access to people gets no link to them, and an explanation at their address', async () => {
  const { page } = await house.visit('/explain', { role: 'viewer' })
  await page.getByText('can check new visitors only').waitFor()
  expect(await page.getByLabel('User ID').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'People', exact: true }).count()).toBe(0)
  await page.goto(house.at(`/explain?url=${address}&user=person-0`))
  await page.getByText('No access').waitFor()
})

test('from a part of an id, support finds a person, what they did, and in two clicks why they see no flow', async () => {
  const id = 'a/b ?&=/../ü@example.com'
  const names = Array.from({ length: 120 }, (_, i) => `event-${i}`)
  await house.send(names.map(name => ({ kind: 'custom', name, userId: id })))
  const { page } = await house.visit('/people', { role: 'editor' })
  const search = page.getByRole('searchbox', { name: 'Search by email or ID' })
  await search.fill(' ü@EXAMPLE '.toLowerCase())
  await page.getByText(/^1 of \d+ people$/).waitFor()
  await page.getByRole('link', { name: id }).click()
  await page.getByRole('heading', { level: 1, name: id }).waitFor()
  const rows = page.locator('table tbody tr')
  await rows.nth(49).waitFor()
  const timeline = page.getByRole('table', { name: 'Timeline' })
  const shown = () => timeline.locator('tbody tr > :nth-child(2)').allInnerTexts()
  const { events } = await manage<PersonHistory>(
    `people/history?${new URLSearchParams({ userId: id })}`,
  )
  expect(await shown()).toEqual(events.map(({ name }) => name!))
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('All 120 events').waitFor()
  expect(await shown()).toEqual(names.toReversed())
  expect(await page.getByRole('button', { name: 'Erase' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Troubleshoot Welcome tour' }).click()
  await page.getByRole('heading', { level: 1, name: 'Troubleshoot' }).waitFor()
  expect(await page.getByLabel('User ID').inputValue()).toBe(id)
  expect(new URL(page.url()).searchParams.get('flow')).toBe('welcome')
})

test('an owner exports a person, erases them by typing their id, and allows them again', async () => {
  const { page, noticed } = await house.visit('/people?user=person-1')
  const pending = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const download = await pending
  expect(download.suggestedFilename()).toBe('person.json')
  const exported = (await Bun.file(await download.path()).json()) as { events: unknown[] }
  await page.getByText('Data downloaded.').waitFor()
  await page.getByText(`All ${exported.events.length} events`).waitFor()

  await page.getByRole('button', { name: 'Erase' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase person-1' })
  await dialog.getByText('This cannot be undone').waitFor()
  expect(await hardToUse(page)).toEqual([])
  const erase = dialog.getByRole('button', { name: 'Erase', exact: true })
  await dialog.getByLabel('Type person-1 to confirm').fill('person-2')
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByLabel('Type person-1 to confirm').fill('person-1')
  await erase.click()
  await page.getByText('person-1 erased.').waitFor()
  await page.getByText(`${exported.events.length} events,`).waitFor()
  await page.getByText('No data for person-1').waitFor()
  expect(await hardToUse(page)).toEqual([])

  await page.getByRole('button', { name: 'Lift erasure' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Lift erasure' }).click()
  await page.getByText('Erasure lifted. New data from person-1 is stored.').waitFor()
  await page.getByRole('button', { name: 'Lift erasure' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Lift erasure' }).click()
  await page.getByText('person-1 was not erased').waitFor()
  expect(noticed.complaints.filter(text => !text.includes('404'))).toEqual([])
})
