import { expect, setDefaultTimeout } from 'bun:test'
import { installStub } from '../../src/web/install-code.ts'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** What nobody saw does not count as seen, what was put aside stays small, and mistakes are told. */

setDefaultTimeout(40_000)

const flows = `
- key: unseen
  priority: 5
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 50 } }
    - { key: lost, title: Lost, target: { selector: "#lost", waitMs: 50 } }
- key: next-in-line
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: one, kind: modal, title: Next in line }
- key: list
  kind: checklist
  frequency: until_completed
  targeting: { urls: [{ match: prefix, pattern: /settings/people }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const loaded = (page: Page) =>
  page.waitForFunction(() => typeof (window as never as { cairn?: { on?: unknown } }).cairn?.on)

test('a tour of which the page shows nothing is neither begun anew nor over, and the next one comes', async () => {
  const { page } = await site.visit('/projects?as=ann')
  const { title, button } = shown(page)
  await title.getByText('Next in line').waitFor()
  await button('Done').click()
  await page.reload()
  await loaded(page)
  await page.goto(`${site.url}/settings/notifications?as=ann`)
  await allSent(page)
  const { totals, steps } = await site.until('unseen', ({ totals }) => totals.starts === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 0, dismissals: 0, inProgress: 1 })
  expect(steps.map(({ reached, targetMissing }) => [reached, targetMissing])).toEqual([
    [0, 1],
    [0, 1],
  ])

  // Once the page has the element, they see it.
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const button = document.createElement('button')
      document.body.append(Object.assign(button, { id: 'gone', textContent: 'Here it is' }))
    })
  })
  await page.goto(`${site.url}/projects?as=ann`)
  await title.getByText('Gone').waitFor()
  await allSent(page)
  expect((await site.numbers('unseen')).totals).toMatchObject({ starts: 1, inProgress: 1 })
  await page.context().close()
})

test('a list that is finished is seen to be, and goes', async () => {
  const { page } = await site.visit('/settings/people?as=ben')
  const { panel } = shown(page)
  await panel.getByRole('button', { name: 'A' }).click()
  await panel.getByText('1 of 2').waitFor()
  await panel.getByRole('button', { name: 'B' }).click()
  await panel.getByText('All done').waitFor()
  expect(await panel.getByRole('button', { name: 'Hide this list' }).count()).toBe(0)
  await shown(page).button('Close').click()
  await panel.waitFor({ state: 'detached' })
  await page.reload()
  await allSent(page)
  expect(await page.locator('[data-cairn] .root > *').count()).toBe(0)
  const { totals } = await site.until('list', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1, dismissals: 0 })
  await page.context().close()
})

test('a list that was put aside comes back folded up; where there is little room it begins so', async () => {
  const { page } = await site.visit('/settings/people?as=cleo')
  const { panel, launcher } = shown(page)
  await panel.getByRole('button', { name: 'Hide this list' }).click()
  await panel.waitFor({ state: 'detached' })
  await page.reload()
  await launcher.waitFor()
  expect(await panel.count()).toBe(0)
  await page.context().close()

  const phone = await site.visit('/settings/people?as=dan', {
    viewport: { width: 375, height: 667 },
  })
  await shown(phone.page).launcher.waitFor()
  expect(await shown(phone.page).panel.count()).toBe(0)
  await shown(phone.page).launcher.click()
  await shown(phone.page).panel.waitFor()
  await phone.page.context().close()
})

test('what whoever owns the page has mistaken is told in the console, and never thrown', async () => {
  const { page, noticed } = await site.browser.page()
  await page.addInitScript(`${installStub}
    cairn.identify({ id: 1 }); cairn.track(); cairn.start('nope')
    globalThis.off = cairn.on('flow_complete', () => {})`)
  await page.goto(`${site.url}/settings/notifications`)
  await page.evaluate(() => (globalThis as never as { off(): void }).off())
  const told = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
  while (told().length < 4) await Bun.sleep(20)
  expect(told().toSorted()).toEqual([
    'cairn: identify() needs a user id, which is a text',
    expect.stringContaining('cairn: on() knows no "flow_complete", but flow_started, '),
    'cairn: start() found no published flow "nope"',
    'cairn: track() needs a name',
  ])
  await page.context().close()
})

test('a key that is refused is told once', async () => {
  const { page, noticed } = await site.browser.page()
  await page.route('**/api/v1/**', route =>
    route.fulfill({
      status: 401,
      headers: { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' },
      contentType: 'application/json',
      body: '{"error":"Unauthorized"}',
    }),
  )
  await page.goto(`${site.url}/settings/notifications`)
  const told = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
  while (told().length < 1) await Bun.sleep(20)
  await page.evaluate(() =>
    (window as never as { cairn: { track(n: string): void } }).cairn.track('x'),
  )
  await Bun.sleep(300)
  expect(told()).toEqual([expect.stringMatching(/^cairn: refused \(401\): the key is not current/)])
  await page.context().close()
})
