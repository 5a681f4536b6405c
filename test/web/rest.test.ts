import { expect, setDefaultTimeout } from 'bun:test'
import { pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** Once a page rests, what is due on it is shown. Tests that expect nothing to be shown rely on this. */

setDefaultTimeout(300_000)

const flows = `
- key: due
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: here, kind: modal, title: Here }
- key: late
  targeting: { urls: [{ match: prefix, pattern: /settings }] }
  steps:
    - { key: none, title: Never, target: { selector: "#none", waitMs: 20000 } }
    - { key: here, kind: modal, title: Here }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

test.each([true, false])('a page that rests shows what is due, with a clock: %p', async clock => {
  for (let i = 0; i < 5; i++) {
    const { page } = await site.visit('/projects', { clock })
    await rest(page)
    expect(await shown(page).title.count()).toBe(1)
    await page.context().close()
  }
})

test('on a page with a clock, pass() lets the time pass that its script waits for', async () => {
  const { page } = await site.visit('/settings/people', { clock: true })
  await rest(page)
  expect(await shown(page).title.count()).toBe(0)
  await pass(page, 25_000)
  expect(await shown(page).title.textContent()).toBe('Here')
  await page.context().close()
})

test('rest() waits for an answer that is held back', async () => {
  const { page } = await site.browser.page()
  const held = Promise.withResolvers<void>()
  await page.route('**/snippet-renderer-*', async route => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${site.url}/projects`)
  let isAtRest = false
  const resting = rest(page).then(() => {
    isAtRest = true
  })
  await rest(page, /renderer/)
  expect(isAtRest).toBe(false)
  held.resolve()
  await resting
  expect(await shown(page).title.count()).toBe(1)
  await page.context().close()
})

test('a wait whose time is up says what was on the page', async () => {
  const { page } = await site.visit('/projects')
  await rest(page)
  const waiting = page.getByText('Never').waitFor({ timeout: 100 })
  await expect(waiting).rejects.toThrow(
    new RegExp(`The page was ${site.url}/projects with the heading “.+” and the text: .*Here`),
  )
})
