import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, call, html, Site, shown } from '../support/site.ts'

/** What starts a flow besides a page and an audience: buttons, items, clicks, events, and code. */

const modal = (key: string, more = '') =>
  `steps: [{ key: ${key}, kind: modal, title: ${key}${more} }]`

const flows = `
- key: first
  targeting: { urls: [{ match: exact, pattern: /buttons }] }
  ${modal('One', ', buttons: [{ label: Show me, action: start, flow: second }, { label: Gone, action: start, flow: nowhere }]')}
- key: second
  targeting: { urls: [{ match: exact, pattern: /elsewhere }], audience: { rules: [{ attribute: plan, op: eq, value: none }] } }
  ${modal('Two')}
- key: list
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /list }] }
  checklist: { items: [{ key: a, title: Take the tour, flow: second }, { key: b, title: Later }] }
- key: clicked
  frequency: always
  targeting: { urls: [{ match: prefix, pattern: /triggers }], audience: { rules: [{ attribute: plan, op: neq, value: free }] } }
  when: { trigger: { on: click, element: "#export, #settings" } }
  ${modal('Exporting')}
- key: tracked
  targeting: { urls: [{ match: prefix, pattern: /triggers }] }
  when: { trigger: { on: event, event: report_opened } }
  ${modal('Reports')}
- key: counted
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /counts }] }
  when: { trigger: { on: event, event: count_me } }
  ${modal('Counted')}
- key: counting
  targeting: { urls: [{ match: exact, pattern: /counts/button }] }
  ${modal('Counting', ', buttons: [{ label: Count, action: start, flow: counted }]')}
- key: counting-list
  targeting: { urls: [{ match: exact, pattern: /counts/list }] }
  checklist: { items: [{ key: a, title: Count this, flow: counted }] }
- key: numbered
  targeting: { urls: [{ match: regex, pattern: '/projects/\\d+(/edit)?' }] }
  ${modal('Project')}
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  pages = site.serve(({ searchParams }) =>
    html(`<a id="settings" href="/triggers/settings">Settings</a><button id="export">Export</button><button id="other"><span id="inner">Other</span></button>
      <script>(window.cairn ??= { q: [] }).q.push(${JSON.stringify(searchParams.has('early') ? ['track', 'report_opened'] : ['group', null])})</script>
      ${site.tag()}`),
  )
})
afterAll(() => site.close())

async function visit(path: string): Promise<{ page: Page; warnings: string[] }> {
  const { page } = await site.browser.page()
  const warnings: string[] = []
  page.on('console', message => {
    if (message.type() === 'warning') warnings.push(message.text())
  })
  await page.goto(pages + path)
  return { page, warnings }
}
const isThere = (page: Page) => page.waitForFunction('window.cairn && !cairn.q')
/** Why the flow is not shown here, once the page has judged it. */
const why = (page: Page, flow: string) =>
  page.evaluate(`cairn.why(${JSON.stringify(flow)})`) as Promise<{
    rules: { rule: string; holds: boolean | null; why: string }[]
  }>

describe('a button that starts a flow', () => {
  test('completes its own flow and shows the other one, whatever its rules say', async () => {
    const { page } = await visit('/buttons')
    await shown(page).says('One')
    await shown(page).button('Show me').click()
    await shown(page).says('Two')
    await shown(page).button('Done').click()
    await allSent(page)
    const done = ({ totals }: { totals: { completions: number } }) => totals.completions === 1
    for (const flow of ['first', 'second']) {
      expect(await site.until(flow, done)).toMatchObject({ totals: { starts: 1, dismissals: 0 } })
    }
  })

  test('says in the console that the flow is not published, and breaks nothing', async () => {
    const { page, warnings } = await visit('/buttons')
    await shown(page).button('Gone').click()
    await shown(page).card.waitFor({ state: 'detached' })
    await page.waitForFunction('!cairn.isActive()')
    expect(warnings).toEqual(['cairn: start() found no published flow "nowhere"'])
  })
})

test('an item starts a flow, to which the checklist gives way until it has ended', async () => {
  const { page } = await visit('/list')
  await shown(page).button('Take the tour').click()
  await shown(page).says('Two')
  await shown(page).panel.waitFor({ state: 'detached' })
  await shown(page).button('Done').click()
  await shown(page).panel.waitFor()
  expect(await page.evaluate("cairn.progress('list').completed")).toBe(1)
})

test('Results say what started each run', async () => {
  const ways: Record<string, (page: Page) => Promise<unknown>> = {
    '/counts/button': page => shown(page).button('Count').click(),
    '/counts/list': page => shown(page).button('Count this').click(),
    '/counts/code': page => call(page, 'start', 'counted'),
    '/counts': page => call(page, 'track', 'count_me'),
  }
  for (const [path, start] of Object.entries(ways)) {
    const { page } = await visit(path)
    await isThere(page)
    await start(page)
    await shown(page).says('Counted')
    await allSent(page)
  }
  const counted = await site.startedBy('counted', 4)
  expect(counted).toEqual({ button: 1, checklist: 1, code: 1, trigger: 1 })
  expect(await site.startedBy('counting', 1)).toEqual({ none: 1 })
})

describe('a trigger', () => {
  test('starts its flow at each click on the element, also after a flow has ended here', async () => {
    const { page } = await visit('/triggers')
    await isThere(page)
    const trigger = async () =>
      (await why(page, 'clicked')).rules.find(({ rule }) => rule === 'trigger')
    expect(await trigger()).toMatchObject({
      holds: false,
      why: expect.stringContaining('a click on #export'),
    })
    await page.click('#inner')
    for (const _ of [1, 2]) {
      await page.click('#export')
      await shown(page).says('Exporting')
      await shown(page).button('Done').click()
      await shown(page).card.waitFor({ state: 'detached' })
    }
    await call(page, 'track', 'report_opened')
    await shown(page).says('Reports')
  })

  test('leaves the audience and the frequency as they are', async () => {
    const { page } = await visit('/triggers')
    await isThere(page)
    await page.evaluate("cairn.identify('ann', { plan: 'free' })")
    await page.click('#export')
    await call(page, 'track', 'report_opened')
    await shown(page).says('Reports')
    await shown(page).button('Done').click()
    await shown(page).card.waitFor({ state: 'detached' })
    await call(page, 'track', 'report_opened')
    const rules = async (flow: string) =>
      (await why(page, flow)).rules.flatMap(({ rule, holds }) => (holds === false ? [rule] : []))
    expect(await rules('tracked')).toEqual(['frequency'])
    expect(await rules('clicked')).toContain('audience')
    expect(await page.evaluate('cairn.isActive()')).toBe(false)
  })

  test('starts its flow on the next page, once, if the page is left at that moment', async () => {
    const { page } = await visit('/leaving')
    await isThere(page)
    // Once timing is loaded, it knows all conditions.
    await page.waitForFunction(
      "cairn.why('clicked').then(({ rules }) => rules.every(({ holds }) => holds !== null))",
    )
    await page.click('#settings')
    await page.waitForURL('**/triggers/settings')
    await shown(page).says('Exporting')
    await shown(page).button('Done').click()
    await shown(page).card.waitFor({ state: 'detached' })
    await page.reload()
    await isThere(page)
    const rules = (await why(page, 'clicked')).rules
    expect(rules).toContainEqual(expect.objectContaining({ rule: 'trigger', holds: false }))
  })

  test('counts an event that the page tracked before it was left, and before it knew its flows', async () => {
    const { page } = await site.browser.page()
    await page.route('**/api/v1/flows*', () => {})
    await page.goto(`${pages}/leaving?early`)
    await isThere(page)
    await page.unroute('**/api/v1/flows*')
    await page.goto(`${pages}/triggers`)
    await shown(page).says('Reports')
  })

  test('is of the person who caused it', async () => {
    const { page } = await visit('/leaving')
    await isThere(page)
    await page.evaluate("cairn.identify('ann')")
    await page.click('#settings')
    await page.waitForURL('**/triggers/settings')
    await shown(page).says('Exporting')
    await page.evaluate("cairn.reset({ userId: 'bob' })")
    await shown(page).card.waitFor({ state: 'detached' })
    const rules = (await why(page, 'clicked')).rules
    expect(rules).toContainEqual(expect.objectContaining({ rule: 'trigger', holds: false }))
  })

  test('counts an event that the page has tracked before it knew its flows', async () => {
    const { page } = await visit('/triggers?early')
    await shown(page).says('Reports')
  })
})

test('a page is matched by a regular expression, and a run goes on where it matches', async () => {
  const { page } = await visit('/projects/12')
  await shown(page).says('Project')
  await page.goto(`${pages}/projects/new`)
  await isThere(page)
  await page.waitForFunction('cairn.progress("numbered") !== null')
  expect(await page.evaluate('cairn.isActive()')).toBe(false)
  await page.goto(`${pages}/projects/12/edit?tab=1`)
  await shown(page).says('Project')
})

test('what only a newer server knows starts nothing, and its buttons close the step', async () => {
  const { page } = await site.browser.page()
  const newer = [
    ['"match":"regex"', '"match":"resembles"'],
    ['"on":"click"', '"on":"hover"'],
    ['"action":"start"', '"action":"teleport"'],
  ] as const
  await page.route('**/api/v1/flows*', async route => {
    const response = await route.fetch()
    const body = newer.reduce(
      (text, [own, its]) => text.replaceAll(own, its),
      await response.text(),
    )
    await route.fulfill({ response, body })
  })
  await page.goto(`${pages}/buttons`)
  await shown(page).button('Show me').click()
  await shown(page).card.waitFor({ state: 'detached' })
  const { rules } = await why(page, 'first')
  expect(rules).toContainEqual(expect.objectContaining({ rule: 'frequency', holds: false }))
  const failed = async (flow: string) =>
    (await why(page, flow)).rules.flatMap(({ rule, holds }) => (holds === false ? [rule] : []))
  await page.goto(`${pages}/triggers`)
  await isThere(page)
  await page.click('#export')
  expect(await failed('clicked')).toEqual(['trigger'])
  await page.goto(`${pages}/projects/12`)
  await isThere(page)
  expect(await failed('numbered')).toEqual(['url'])
  expect(await page.evaluate('cairn.isActive()')).toBe(false)
})

describe('highlight()', () => {
  const highlight = (page: Page, selector: string | null, tip: object = { title: 'Here' }) =>
    page.evaluate(`cairn.highlight(${JSON.stringify(selector)}, ${JSON.stringify(tip)})`)

  test('shows a tip that Escape, a press elsewhere and null close, and reports nothing', async () => {
    const { page } = await visit('/highlight')
    await isThere(page)
    const { card } = shown(page)
    const isGone = () => card.waitFor({ state: 'detached' })
    const tip = { title: 'Export', body: 'As **CSV** <b>or</b> more' }
    expect(await highlight(page, '#export', tip)).toBe(true)
    await shown(page).says('Export')
    expect(await card.locator('.body').innerHTML()).toBe(
      '<p>As <strong>CSV</strong> &lt;b&gt;or&lt;/b&gt; more</p>',
    )
    await page.keyboard.press('Escape')
    await isGone()
    expect(await highlight(page, '#other')).toBe(true)
    await shown(page).says('Here')
    await page.click('h1')
    await isGone()
    expect(await highlight(page, '#other')).toBe(true)
    expect(await highlight(page, '#export', tip)).toBe(true)
    await shown(page).says('Export')
    expect(await card.count()).toBe(1)
    expect(await highlight(page, null)).toBe(false)
    await isGone()
    expect(
      await page.evaluate("Object.keys(localStorage).some(name => name.includes(':out:'))"),
    ).toBe(false)
  })

  test('says once in the console what the page does not have', async () => {
    const { page, warnings } = await visit('/highlight')
    await isThere(page)
    expect(await highlight(page, '#gone')).toBe(false)
    expect(await highlight(page, '#gone')).toBe(false)
    expect(await highlight(page, '#[')).toBe(false)
    expect(await highlight(page, '#export', {})).toBe(false)
    expect(warnings).toEqual([
      'cairn: highlight() found no visible element "#gone"',
      'cairn: highlight() found no visible element "#["',
      'cairn: highlight() needs a title or a body',
    ])
  })

  test('gives way to a step, and shows nothing beside one', async () => {
    const { page } = await visit('/highlight')
    await isThere(page)
    expect(await highlight(page, '#export')).toBe(true)
    await call(page, 'start', 'second')
    await shown(page).says('Two')
    expect(await shown(page).card.count()).toBe(1)
    expect(await highlight(page, '#export')).toBe(false)
  })
})
