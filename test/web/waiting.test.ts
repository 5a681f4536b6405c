import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, leftLongAgo, Site, shown } from '../support/site.ts'

/** What else is shown while a tour waits for an element, or is for another page. */

const flows = `
- key: waits
  priority: 9
  targeting: { urls: [{ match: exact, pattern: "/home?case=waits" }] }
  steps:
    - { key: hello, kind: modal, title: Hello }
    - { key: later, title: Later, target: { selector: "#later", waitMs: 300, onMissing: wait } }
- key: never
  priority: 9
  targeting: { urls: [{ match: exact, pattern: "/home?case=never" }] }
  steps:
    - { key: later, title: Later, target: { selector: "#later", waitMs: 300, onMissing: wait } }
- key: news
  kind: announcement
  targeting: { urls: [{ match: prefix, pattern: "/home?case=" }, { match: prefix, pattern: /settings/people }] }
  steps: [{ key: one, kind: modal, title: News }]
- key: list
  kind: checklist
  targeting: { urls: [{ match: prefix, pattern: "/home?case=" }, { match: prefix, pattern: /projects }] }
  checklist: { items: [{ key: a, title: A }] }
- key: led
  targeting: { urls: [{ match: prefix, pattern: "/projects" }] }
  steps:
    - { key: one, kind: modal, title: Led one }
    - { key: two, title: Led two, page: { match: exact, pattern: /settings/notifications },
        target: { selector: h1 }, advance: { on: event, event: chosen } }
    - { key: three, kind: modal, title: Led three, page: { match: glob, pattern: "/projects/*" } }
    - { key: four, kind: modal, title: Led four, page: { match: exact, pattern: "https://elsewhere.example/x" } }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const on = (page: Page) => ({
  ...shown(page),
  says: (text: string) => shown(page).title.getByText(text, { exact: true }).waitFor(),
  elsewhere: page.locator('[data-cairn] .elsewhere'),
  link: page.locator('[data-cairn] .elsewhere a'),
})

const open = async (path: string) => {
  const { page } = await site.visit(path)
  return { page, ...on(page) }
}

/** Goes to another page as an application does, without a load. */
const move = (page: Page, path: string) =>
  page.evaluate(path => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)

const track = (page: Page, name: string) =>
  page.evaluate(
    name => (window as never as { cairn: { track(name: string): void } }).cairn.track(name),
    name,
  )

const addLater = (page: Page) =>
  page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('button'), { id: 'later' }))
    document.getElementById('later')?.append('Here it is')
  })

describe('a step whose element the page does not have', () => {
  test('hides no checklist while it waits, lets nothing interrupt its tour, and appears with it', async () => {
    const { page, says, button, panel, card } = await open('/home?case=waits')
    await says('Hello')
    expect(await panel.count()).toBe(0)
    await button('Next').click()
    await panel.waitFor()
    // Everything is evaluated again, as when somebody returns to a tab.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await move(page, '/settings/people')
    await panel.waitFor({ state: 'detached' })
    expect(await card.count()).toBe(0)
    await move(page, '/home?case=waits')
    await panel.waitFor()
    await addLater(page)
    await says('Later')
    await panel.waitFor({ state: 'detached' })
    await button('Done').click()
    await allSent(page)
    await page.close()
    const { totals, steps } = await site.until('waits', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, dismissals: 0 })
    expect(steps[1]).toMatchObject({ reached: 1, targetMissing: 0 })
    expect((await site.numbers('news')).totals.starts).toBe(0)
  })

  test('keeps the next flow waiting no longer than it waits itself, if nobody has seen its tour', async () => {
    const { page, says, panel, button } = await open('/home?case=never')
    await says('News')
    await button('Done').click()
    await panel.waitFor()
    await allSent(page)
    await page.close()
    const { totals } = await site.until('never', ({ totals }) => totals.starts === 1)
    expect(totals).toMatchObject({ inProgress: 1, dismissals: 0 })
  })
})

test('a person in the middle of a tour is interrupted on no page, until they have left it for long', async () => {
  const { page, says, button, card } = await open('/home?case=waits')
  await says('Hello')
  await page.goto(`${site.url}/settings/people`)
  // By now the page knows what is due, and would show it at once.
  await page.waitForFunction(() =>
    Object.keys(localStorage).some(name => name.endsWith(':heartbeat')),
  )
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  expect(await card.count()).toBe(0)
  await leftLongAgo(page)
  await page.reload()
  await says('News')
  await button('Done').click()
  await page.goto(`${site.url}/home?case=waits`)
  await says('Hello')
})

describe('a step that is for another page', () => {
  test('says so beside the checklist, leads there, and is counted once it is seen', async () => {
    const { page, says, button, panel, elsewhere, link, card, title } = await open('/projects')
    await says('Led one')
    await button('Next').click()
    await elsewhere.waitFor()
    expect(await elsewhere.textContent()).toContain('continues on another page')
    expect(await link.getAttribute('href')).toBe(`${site.url}/settings/notifications`)
    await panel.waitFor()
    // Only a step that is seen is advanced by this event.
    await track(page, 'chosen')
    await allSent(page)
    const before = await site.until('led', ({ totals }) => totals.starts > 0)
    expect(before.steps[1]).toMatchObject({ reached: 0, completed: 0, targetMissing: 0 })
    await page.reload()
    await link.click()
    await page.waitForURL('**/settings/notifications')
    await says('Led two')
    await elsewhere.waitFor({ state: 'detached' })

    // Leaves its page, and comes back as applications do, which draw a page after its address has changed.
    await move(page, '/projects')
    await elsewhere.waitFor()
    await page.evaluate(() => {
      history.pushState(null, '', '/settings/notifications')
      const main = document.querySelector('main')
      main?.replaceWith(main.cloneNode(true))
    })
    await says('Led two')
    await move(page, '/settings/people')
    await title.waitFor({ state: 'detached' })
    expect(await card.count()).toBe(0)
    await move(page, '/settings/notifications')
    await says('Led two')
    await track(page, 'chosen')

    // If many pages match, there is none to link to, and a page of another site is never linked to.
    await elsewhere.waitFor()
    expect(await link.count()).toBe(0)
    await move(page, '/projects/atlas')
    await says('Led three')
    await button('Next').click()
    await elsewhere.waitFor()
    expect(await link.count()).toBe(0)
    await button('End the tour').click()
    await elsewhere.waitFor({ state: 'detached' })
    await allSent(page)
    await page.close()
    const { totals, steps } = await site.until('led', ({ totals }) => totals.dismissals === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 0 })
    expect(steps.map(({ reached, completed }) => [reached, completed])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [0, 0],
    ])
  })
})
