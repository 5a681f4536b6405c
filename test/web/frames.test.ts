import { expect } from 'bun:test'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, html, Site, shown } from '../support/site.ts'

/** Applications in frames: those that people see, and those that they do not, as for renewing a token. */

const flows = ['framed', 'whole']
  .map(
    key => `
- key: ${key}
  targeting: { urls: [{ match: prefix, pattern: /${key} }] }
  steps: [{ key: one, kind: modal, title: One }]
`,
  )
  .join('')

/** How pages hide a frame. */
const hidden = {
  none: 'display: none',
  'no-size': 'width: 0; height: 0; border: 0',
  'one-pixel': 'width: 1px; height: 1px; border: 0',
  outside: 'position: absolute; left: -9999px',
  invisible: 'visibility: hidden',
  transparent: 'opacity: 0',
  clipped: 'position: absolute; clip: rect(0, 0, 0, 0)',
}
const visible = 'position: fixed; inset: 0; width: 600px; height: 400px'

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  const tag = site.tag()
  const frames = (more: string) =>
    Object.entries(hidden)
      .map(
        ([name, style]) => `<iframe ${more} name=${name} style="${style}" src="/framed"></iframe>`,
      )
      .join('')
  const bodies: Record<string, string> = {
    '/framed': tag,
    '/same': `${frames('')}<div style="visibility: hidden"><iframe src="/framed"></iframe></div>`,
    '/sandboxed': frames('sandbox="allow-scripts"'),
    '/whole': `<iframe src="/whole/frame" style="display: none"></iframe>${tag}`,
    '/whole/frame': tag,
  }
  pages = site.serve(({ pathname }) => html(bodies[pathname] ?? ''))
})
afterAll(() => site.close())

async function open(path: string, clock = false) {
  const visitor = await site.browser.page({ clock })
  await visitor.page.goto(pages + path)
  return visitor
}

const style = (page: Page, name: string, value: string) =>
  page.locator(`iframe[name=${name}]`).evaluate((frame, value) => {
    frame.setAttribute('style', value)
  }, value)

const cardIn = (page: Page, name: string) =>
  page.frameLocator(`iframe[name=${name}]`).locator('[data-cairn] .card')

test('frames that nobody sees do nothing until they are seen', async () => {
  const { page, noticed } = await open('/same', true)
  await pass(page, 120_000)
  expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
  expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
  expect(await page.evaluate('navigator.locks.query().then(({ held }) => held)')).toEqual([])
  // One after the other: a frame that is hidden again leaves its place to the next.
  for (const [name, value] of Object.entries(hidden)) {
    await style(page, name, visible)
    // The browser tells the frame in its own time, and the frame then checks by the page's.
    const card = cardIn(page, name)
    while (!(await card.isVisible())) await pass(page, 500)
    await style(page, name, value)
    // Clipped, it could as well be scrolled out of sight, which hides no application.
    if (name !== 'clipped') while ((await card.count()) > 0) await pass(page, 500)
  }
})

test('nor do frames that may not look at the page around them', async () => {
  const { page, noticed } = await open('/sandboxed')
  await rest(page)
  expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
  await style(page, 'none', visible)
  await cardIn(page, 'none').waitFor()
})

test('a hidden copy of an application neither keeps it waiting nor is counted', async () => {
  const { page } = await open('/whole')
  const { card, button } = shown(page)
  await card.waitFor()
  await button('Done').click()
  await allSent(page)
  const { totals } = await site.until('whole', ({ totals }) => totals.completions === 1)
  expect(totals.starts).toBe(1)
})
