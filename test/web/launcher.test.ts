import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { installStub } from '../../src/web/install-code.ts'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, call, html, Site, shown } from '../support/site.ts'

/** A launcher on a page with a strict policy: what it offers, its unread count, keyboard and results. */

const nowhere = 'targeting: { urls: [{ match: exact, pattern: /nowhere }] }'
const only = (path: string) => `targeting: { urls: [{ match: exact, pattern: "${path}" }] }`

const flows = `
- key: help
  kind: launcher
  title: Help
  ${only('/home')}
  launcher:
    items:
      - { key: tour, title: Take the tour, flow: welcome }
      - { key: list, title: First steps, flow: first-steps }
      - { key: docs, title: Read the guide, href: /guide }
      - { key: news, title: What is new, announcements: true }
      - { key: gone, title: Not published, flow: unpublished }
- key: own
  kind: launcher
  title: Own help
  ${only('/own')}
  launcher:
    target: "#help"
    items: [{ key: docs, title: Read the guide, href: /guide }, { key: news, title: News, announcements: true }]
- key: late
  kind: launcher
  title: Late help
  ${only('/late')}
  launcher: { target: "#late-help", items: [{ key: docs, title: Read the guide, href: /guide }] }
- key: beside
  kind: launcher
  title: Beside
  ${only('/beside')}
  launcher: { items: [{ key: docs, title: Read the guide, href: /guide }] }
- key: sides
  kind: launcher
  title: Sides
  ${only('/sides')}
  launcher: { side: start, items: [{ key: docs, title: Read the guide, href: /guide }, { key: list, title: To do list, flow: beside-list }] }
- key: beside-list
  kind: checklist
  title: To do
  targeting: { urls: [{ match: exact, pattern: /beside }, { match: exact, pattern: /sides }] }
  checklist: { items: [{ key: a, title: A }] }
- key: welcome
  title: Welcome
  ${nowhere}
  steps: [{ key: one, kind: modal, title: Welcome aboard }]
- key: first-steps
  kind: checklist
  title: First steps
  ${nowhere}
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
- key: dark
  kind: announcement
  title: Dark mode is here
  ${nowhere}
  steps: [{ key: one, kind: modal, title: Dark mode is here }]
- key: paid
  kind: announcement
  title: For paying people
  targeting: { urls: [{ match: exact, pattern: /nowhere }], audience: { rules: [{ attribute: plan, op: eq, value: pro }] } }
  steps: [{ key: one, kind: modal, title: For paying people }]
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  const { url } = site.server
  pages = site.serve(({ searchParams }) => {
    const person = searchParams.get('as')
    const identify = person ? `cairn.identify('${person}', { plan: 'free' })` : ''
    return html(
      `<a href="#nothing" id="help">Help</a>
      <script nonce="abc">${installStub};${identify}</script>
      <script nonce="abc" async src="${url}/snippet.js" data-key="${site.snippetKey}"></script>`,
      {
        'Content-Security-Policy': `default-src 'none'; img-src data:; script-src 'nonce-abc' ${url}; connect-src ${url}; require-trusted-types-for 'script'`,
      },
    )
  })
})
afterAll(() => site.close())

const visit = async (path: string, options = {}) => {
  const { page, noticed } = await site.browser.page(options)
  await page.goto(pages + path)
  return { page, noticed, ...shown(page) }
}

const opener = (page: Page, name: string) =>
  page.locator('[data-cairn] .launcher').and(page.getByRole('button', { name, exact: true }))

test('it opens a tour, and the result of each opening is counted', async () => {
  const { page, noticed, panel, says, button } = await visit('/home?as=ann')
  await opener(page, 'Help 1 unread').click()
  await panel.waitFor()
  expect(await panel.locator('.item .title').allTextContents()).toEqual([
    ...['Take the tour', 'First steps0 of 2', 'Read the guide', 'Dark mode is here'],
  ])
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await opener(page, 'Help 1 unread').click()
  await button('Take the tour').click()
  await says('Welcome aboard')
  // One thing at a time.
  expect(await page.locator('[data-cairn] .launcher').count()).toBe(0)
  expect(await page.evaluate('cairn.isActive()')).toBe(true)
  await button('Done').click()
  await opener(page, 'Help 1 unread').waitFor()
  expect(await page.evaluate('cairn.isActive()')).toBe(false)
  await allSent(page)
  const { totals, steps } = await site.until('help', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 2, completions: 1, dismissals: 1, uniqueUsers: 1 })
  const completed = steps.map(({ key, completed }) => `${key} ${completed}`)
  expect(completed).toEqual(['tour 1', 'list 0', 'docs 0', 'news 0', 'gone 0'])
  expect(await site.startedBy('welcome', 1)).toEqual({ launcher: 1 })
  expect(await site.startedBy('help', 2)).toEqual({ unread: 2 })
  expect(noticed.complaints).toEqual([])
})

test('an announcement that was read is read in another browser too', async () => {
  const { unread = 0, none = 0 } = await site.startedBy('help', 0)
  const { page, button, says } = await visit('/home?as=bob')
  await opener(page, 'Help 1 unread').click()
  await page.getByRole('button', { name: 'New Dark mode is here' }).click()
  await says('Dark mode is here')
  await button('Done').click()
  await opener(page, 'Help').waitFor()
  await allSent(page)
  await site.until('dark', ({ totals }) => totals.completions === 1)
  const elsewhere = await visit('/home?as=bob')
  await opener(elsewhere.page, 'Help').click()
  await elsewhere.panel.waitFor()
  expect(await elsewhere.panel.locator('.unread').count()).toBe(0)
  // It stays there, to be read again.
  await elsewhere.page.getByRole('button', { name: 'Dark mode is here' }).click()
  await elsewhere.says('Dark mode is here')
  await allSent(elsewhere.page)
  expect(await site.startedBy('help', unread + none + 2)).toEqual({
    ...{ unread: unread + 1, none: none + 1 },
  })
})

test('it opens a checklist, with its progress', async () => {
  const { page, panel, button } = await visit('/home?as=cleo')
  await opener(page, 'Help 1 unread').click()
  await button('First steps 0 of 2').click()
  await panel.getByRole('progressbar').waitFor()
  await button('A').click()
  await button('Close').click()
  await opener(page, 'Help 1 unread').click()
  await button('First steps 1 of 2').waitFor()
})

test('a list and a resource centre that are open together have names of their own', async () => {
  const { page } = await visit('/sides', { viewport: { width: 900, height: 700 } })
  await page.getByRole('dialog', { name: 'To do' }).waitFor()
  await opener(page, 'Sides').click()
  await page.getByRole('dialog', { name: 'Sides' }).waitFor()
  await page.getByRole('dialog', { name: 'To do' }).waitFor()
  // The list that is chosen is there already, so the focus shows where.
  await page.getByRole('button', { name: 'To do list 0 of 1' }).click()
  await page.locator('[data-cairn] :focus').getByText('A', { exact: true }).waitFor()
  await page.getByRole('dialog', { name: 'Sides' }).waitFor({ state: 'hidden' })
})

test('the keyboard opens it, moves in it and leaves it', async () => {
  const { page, panel } = await visit('/home?as=dora')
  const launcher = opener(page, 'Help 1 unread')
  await launcher.focus()
  await page.keyboard.press('Enter')
  await panel.waitFor()
  expect(await launcher.getAttribute('aria-expanded')).toBe('true')
  await page.keyboard.press('Tab')
  const focused = page.locator('[data-cairn] :focus')
  expect(await focused.textContent()).toBe('Take the tour')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  expect(await focused.getAttribute('aria-expanded')).toBe('false')
})

test('a link leads there, and the choice is counted although the page is left', async () => {
  const { page, button } = await visit('/home?as=eve')
  await opener(page, 'Help 1 unread').click()
  await button('Read the guide').click()
  await page.waitForURL(`${pages}/guide`)
  const { steps } = await site.until('help', ({ steps }) => steps[2]?.completed === 1)
  expect(steps[2]).toMatchObject({ key: 'docs', completed: 1 })
})

test('the page’s own element opens it, and shows how much is unread', async () => {
  const { page, panel, launcher } = await visit('/own')
  const link = page.locator('#help[data-cairn-unread="1"][aria-expanded=false]')
  await link.click()
  await panel.waitFor()
  expect(page.url()).toBe(`${pages}/own`)
  expect(await launcher.count()).toBe(0)
  await page.locator('h1').click()
  await panel.waitFor({ state: 'hidden' })
  await call(page, 'start', 'own')
  await panel.waitFor()
})

test('health says whether pages have the element that opens it', async () => {
  const health = async (outcome: 'found' | 'not_found') => {
    const check = ['steps', 'check', '--flow', 'late', '--json']
    const { steps } = JSON.parse((await site.place.run(check)).stdout) as {
      steps: { selector: string; title: string; reports: Record<string, number> }[]
    }
    return steps[0]?.reports[outcome] === 1 ? steps[0] : null
  }
  const { page, panel } = await visit('/late?as=finn')
  expect(
    await until(
      () => health('not_found'),
      step => step !== null,
    ),
  ).toMatchObject({
    ...{ selector: '#late-help', title: 'Element that opens it' },
  })
  await page.evaluate("document.querySelector('#help').id = 'late-help'")
  await page.locator('#late-help[aria-expanded=false]').click()
  await panel.waitFor()
  await until(
    () => health('found'),
    step => step !== null,
  )
})

test('it keeps clear of a checklist in the same corner', async () => {
  for (const viewport of [
    { width: 900, height: 700 },
    { width: 360, height: 640 },
  ]) {
    const { page, button } = await visit('/beside', { viewport })
    const list = page.locator('[data-cairn] .launcher:not(.centre-button)')
    if (viewport.width > 600) await button('Close').click()
    await list.waitFor()
    await opener(page, 'Beside').waitFor()
    await page.waitForFunction(() => {
      const { document } = globalThis as never as {
        document: { querySelector(of: string): { shadowRoot: never } }
      }
      const root = document.querySelector('[data-cairn]').shadowRoot as {
        querySelector(of: string): { offsetTop: number; offsetHeight: number }
      }
      const own = root.querySelector('.centre-button')
      const other = root.querySelector('.launcher:not(.centre-button)')
      return other.offsetTop - own.offsetTop - own.offsetHeight >= 24
    })
    await opener(page, 'Beside').click()
    await button('Read the guide').waitFor()
    expect(await list.isVisible()).toBe(true)
  }
})

test('a page ignores a flow of a kind that its snippet does not know', async () => {
  const { page } = await site.browser.page()
  await page.route('**/api/v1/flows*', async route => {
    const response = await route.fetch()
    const answer = (await response.json()) as { flows: object[] }
    const [first] = answer.flows
    const made = {
      ...first,
      id: 'flow_new',
      key: 'new',
      kind: 'hologram',
      priority: 9,
      steps: [{}],
    }
    const flows = [made, ...answer.flows]
    await route.fulfill({ response, json: { ...answer, flows } })
  })
  await page.goto(`${pages}/home`)
  await opener(page, 'Help 1 unread').waitFor()
  await call(page, 'start', 'new')
  expect(await page.evaluate("cairn.isActive('new')")).toBe(false)
})
