import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Page, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** What nobody saw does not count as seen, and a list that was put aside stays folded. */

const flows = `
- key: unseen
  priority: 5
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 1500 } }
    - { key: lost, title: Lost, target: { selector: "#lost", waitMs: 1500 } }
- key: next-in-line
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: one, kind: modal, title: Next in line }
- key: slow
  targeting: { urls: [{ match: prefix, pattern: /settings/notifications }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 8000 } }
- key: other-list
  kind: checklist
  targeting: { urls: [{ match: prefix, pattern: /settings/notifications }] }
  checklist: { items: [{ key: a, title: A }] }
- key: list
  kind: checklist
  frequency: until_completed
  targeting: { urls: [{ match: prefix, pattern: /settings/people }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
- key: hidden
  targeting: { urls: [{ match: exact, pattern: "/home?case=hidden" }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 1000 } }
- key: other-tab
  targeting: { urls: [{ match: exact, pattern: "/home?case=other-tab" }] }
  steps: [{ key: one, kind: modal, title: Other tab }]
- key: over-list
  targeting: { urls: [{ match: exact, pattern: "/home?case=over" }] }
  steps: [{ key: one, kind: modal, title: Over the list }]
- key: list-below
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/home?case=over" }] }
  checklist: { items: [{ key: a, title: A, completeOn: { event: did_a } }] }
- key: late
  targeting: { urls: [{ match: prefix, pattern: "/late" }] }
  steps:
    - { key: late, title: Late, target: { selector: "#late", waitMs: 50 } }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const stored = (page: Page, text: string) =>
  page.waitForFunction(text => JSON.stringify({ ...localStorage }).includes(text), text)

const loaded = (page: Page) =>
  page.waitForFunction(() => typeof (window as never as { cairn?: { on?: unknown } }).cairn?.on)

test('a tour whose elements are all missing neither starts again nor ends, and the next one is shown', async () => {
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
})

test('a hidden tab with nothing to show does not keep the others waiting', async () => {
  const { page } = await site.visit('/home?case=hidden')
  await stored(page, 'runs:steps')
  await page.evaluate(() =>
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }),
  )
  await stored(page, 'target_missing')
  const other = await page.context().newPage()
  await other.goto(`${site.url}/home?case=other-tab`)
  await shown(other).title.getByText('Other tab').waitFor()
})

test('an element that one page lacked and the next one has is reported as found', async () => {
  const { page } = await site.browser.page()
  const told: string[] = []
  page.on('request', request => {
    if (request.url().includes('/health')) told.push(JSON.parse(request.postData() ?? '').outcome)
  })
  await page.goto(`${site.url}/late`)
  await stored(page, 'target_missing')
  await page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('button'), { id: 'late' }))
    document.getElementById('late')?.append('Here it is')
    history.pushState(null, '', '/late/2')
  })
  await shown(page).title.getByText('Late').waitFor()
  await until(() => told.length >= 2)
  expect(told).toEqual(['not_found', 'found'])
})

test('a list that is finished behind a tour is over, and is not opened after the tour ends', async () => {
  const { page } = await site.visit('/home?case=over')
  await shown(page).title.getByText('Over the list').waitFor()
  await stored(page, 'runs:checklist')
  await page.evaluate("cairn.track('did_a')")
  await shown(page).button('Done').click()
  await shown(page).panel.getByText('All done').waitFor()
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(kept).not.toContain('runs:checklist')
  expect(kept).not.toContain('checklist_opened')
})

test('a list is shown while a tour is still looking for its elements', async () => {
  const { page } = await site.visit('/settings/notifications?as=eve')
  await shown(page).panel.waitFor()
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(kept).toContain('runs:steps')
  expect(kept).not.toContain('target_missing')
})

test('a finished list says that it is done, and can be closed for good', async () => {
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
  await rest(page)
  expect(await page.locator('[data-cairn] .root > *').count()).toBe(0)
  const { totals } = await site.until('list', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1, dismissals: 0 })
})

test('a list that was put aside comes back folded up; on a small screen it starts folded up', async () => {
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
})
