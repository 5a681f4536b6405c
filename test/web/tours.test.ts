import { expect } from 'bun:test'
import { type Page, rest } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, call, html, leftLongAgo, Site, type StepNumbers, shown } from '../support/site.ts'

/** Tours from the first step to analytics: their order, their waits, and their way across pages. */

const renewed = (last: string) => `
- key: renewed
  targeting: { urls: [{ match: exact, pattern: "/home?case=renewed" }] }
  steps:
    - { key: a, kind: modal, title: A }
    - { key: b, title: B, target: { selector: "#gone", waitMs: 100 } }
    - { key: c, kind: modal, title: C }
    - { key: ${last}, kind: modal, title: Last ${last} }
`

const flows = `
- key: welcome
  frequency: once
  targeting: { urls: [{ match: exact, pattern: /home }, { match: exact, pattern: /projects/atlas }] }
  steps:
    - { key: hello, kind: modal, title: Welcome aboard, body: "Five **short** stops." }
    - { key: project, title: Start with a project, target: { selector: "[data-tour=new-project]" }, advance: { on: click } }
    - { key: task, title: Break it into tasks, target: { selector: button.task-add, waitMs: 4000 }, advance: { on: event, event: task_created } }
    - { key: people, title: Bring your crew, target: { selector: "#invite-people" } }
    - { key: help, kind: hotspot, title: Help is here, target: { selector: "header [aria-label=Help]" }, buttons: [{ label: Finish, action: complete }] }
${renewed('d')}
- key: fork
  targeting: { urls: [{ match: prefix, pattern: "/home?case=fork" }] }
  steps:
    - key: start
      kind: modal
      title: What do you want?
      buttons:
        - { label: Invite, action: next }
        - { label: Report, action: next, goto: report }
        - { label: Nothing, action: next, goto: "end" }
    - { key: invite, kind: modal, title: Invite, buttons: [{ label: On, action: next, goto: "end" }, { label: Return, action: back }] }
    - { key: report, kind: modal, title: Report }
    - key: paid
      kind: modal
      title: Paid
      when: { rules: [{ attribute: plan, op: eq, value: pro }] }
    - key: new
      kind: modal
      title: New here
      when: { rules: [{ event: project_created, value: false }] }
    - { key: end, kind: modal, title: The end, buttons: [{ label: Again, action: next, goto: start }, { label: Return, action: back }, { label: Bye, action: complete }] }
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
  targeting: { urls: [{ match: exact, pattern: "/home?case=waits" }, { match: exact, pattern: "/home?case=never" }, { match: prefix, pattern: /settings/people }] }
  steps: [{ key: one, kind: modal, title: News }]
- key: list
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/home?case=waits" }, { match: exact, pattern: "/home?case=never" }, { match: prefix, pattern: "/projects?case=led" }] }
  checklist: { items: [{ key: a, title: A }] }
- key: led
  targeting: { urls: [{ match: prefix, pattern: "/projects?case=led" }] }
  steps:
    - { key: one, kind: modal, title: Led one }
    - { key: two, title: Led two, page: { match: exact, pattern: /settings/notifications },
        target: { selector: h1 }, advance: { on: event, event: chosen } }
    - { key: three, kind: modal, title: Led three, page: { match: glob, pattern: "/projects/*" } }
    - { key: four, kind: modal, title: Led four, page: { match: exact, pattern: "https://elsewhere.example/x" } }
- key: documents
  targeting: { urls: [{ match: prefix, pattern: /site/a }] }
  steps:
    - { key: one, kind: modal, title: One }
    - { key: two, kind: modal, title: Two, navigate: "/site/b?from=tour" }
    - { key: three, kind: modal, title: Three, page: { match: prefix, pattern: /site/c }, navigate: /site/c }
- key: asked
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /nowhere }] }
  steps:
    - { key: begin, kind: modal, title: Begin, navigate: /site/b }
    - { key: guarded, kind: modal, title: Guarded, navigate: /site/guarded }
- key: app
  targeting: { urls: [{ match: prefix, pattern: /app }] }
  steps:
    - { key: one, kind: modal, title: App one }
    - { key: two, kind: modal, title: App two, navigate: /app/two }
    - { key: three, kind: modal, title: App three, navigate: "/app/two#/deep" }
`

let site: Site
let documents: string
beforeAll(async () => {
  site = await Site.open(flows)
  documents = site.serve(({ pathname, searchParams }, request) => {
    if (pathname === '/site/guarded' && !request.headers.get('cookie')?.includes('in=1')) {
      return Response.redirect('/site/login', 302)
    }
    const start = searchParams.has('start') || pathname === '/site/login'
    const call = '<script>(window.cairn ??= { q: [] }).q.push(["start", "asked"])</script>'
    return html(`${start ? call : ''}${site.tag()}`)
  })
})
afterAll(() => site.close())

const open = async (path: string) => {
  const { page, noticed } = await site.browser.page()
  const visited: string[] = []
  page.on('framenavigated', frame => visited.push(new URL(frame.url()).pathname))
  const origin = /^\/(site|app)/.test(path) ? documents : site.url
  await page.goto(origin + path)
  return { page, noticed, visited, ...shown(page) }
}

/** Goes to another page without a page load, as single-page applications do. */
const move = (page: Page, path: string) =>
  page.evaluate(
    `history.pushState(null, '', '${path}'), dispatchEvent(new PopStateEvent('popstate'))`,
  )

const pathOf = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search

const countsOf = (steps: readonly StepNumbers[]) =>
  steps.map(({ reached, completed, skipped, targetMissing }) =>
    [reached, completed, skipped, targetMissing].join(' '),
  )

test('a first visitor sees the tour once, across a reload and another page', async () => {
  const { page, noticed, says, button, card } = await open('/home')
  await says('Welcome aboard')
  expect(await page.locator('[data-cairn] .body strong').textContent()).toBe('short')
  await button('Next').click()
  await says('Start with a project')
  await page.reload()
  await says('Start with a project')
  await page.goto(`${site.url}/projects/atlas`)
  await says('Start with a project')
  await page.getByRole('button', { name: 'New project' }).click()
  await says('Break it into tasks')
  await page.getByRole('button', { name: 'Add a task' }).click()
  await says('Bring your crew')
  await button('Next').click()
  await page.locator('[data-cairn] .spot').click()
  await button('Finish').click()
  await card.waitFor({ state: 'detached' })
  await page.goto(`${site.url}/home`)
  await rest(page)
  expect(await card.count()).toBe(0)
  await allSent(page)
  const { totals, steps } = await site.until('welcome', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1, dismissals: 0, inProgress: 0 })
  expect(countsOf(steps)).toEqual(Array(5).fill('1 1 0 0'))
  expect(noticed.complaints).toEqual([])
})

test('a tour that was closed once does not come again', async () => {
  const { page, says, card } = await open('/home')
  await says('Welcome aboard')
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'detached' })
  await page.reload()
  await rest(page)
  expect(await card.count()).toBe(0)
  await allSent(page)
  await site.until('welcome', ({ totals }) => totals.dismissals === 1)
})

describe('the order of steps', () => {
  test('a run whose step is missing in a new version continues after the steps that were shown', async () => {
    const { page, says, place, button } = await open('/home?case=renewed')
    await says('A')
    await button('Next').click()
    await says('C')
    await button('Next').click()
    await says('Last d')
    expect(await place()).toBe('4 of 4')
    await allSent(page)
    await site.publish(flows.replace(renewed('d'), renewed('e')))
    // Acts as if the page had loaded its flows long ago.
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.clearBrowserCache')
    await page.evaluate(() => {
      for (const name of Object.keys(localStorage)) {
        if (/:(flows|heartbeat)$/.test(name)) localStorage.removeItem(name)
      }
    })
    await page.reload()
    await says('Last e')
    expect(await place()).toBe('4 of 4')
  })

  test('a button opens the step it names, Back the previous step, and the progress counts that path', async () => {
    const { page, says, place, button } = await open('/home?case=fork')
    await says('What do you want?')
    await button('Invite').click()
    await says('Invite')
    // Only the end follows, because the only forward button leads there.
    expect(await place()).toBe('2 of 3')
    await button('Return').click()
    await says('What do you want?')
    await button('Report').click()
    await says('Report')
    expect(await place()).toBe('2 of 4')
    await button('Next').click()
    await says('New here')
    expect(await place()).toBe('3 of 4')
    await page.reload()
    await says('New here')
    await page.keyboard.press('ArrowRight')
    await says('The end')
    expect(await place()).toBe('4 of 4')
    await button('Return').click()
    await says('New here')
    await button('Back').click()
    await says('Report')
    await button('Back').click()
    await says('What do you want?')
    await button('Nothing').click()
    await says('The end')
    await button('Return').click()
    await says('What do you want?')
  })

  test('a step whose rule fails is omitted, and not counted as viewed, skipped, missing or dropped', async () => {
    const { page, says, button, card } = await open('/home?case=fork')
    await says('What do you want?')
    await call(page, 'track', 'project_created')
    await button('Report').click()
    await says('Report')
    await button('Next').click()
    await says('The end')
    await button('Bye').click()
    await card.waitFor({ state: 'detached' })
    await allSent(page)
    const { steps } = await site.until('fork', ({ totals }) => totals.completions === 1)
    const named = (key: string) => countsOf(steps.filter(step => step.key === key))
    expect(named('paid')).toEqual(['0 0 0 0'])
    expect(steps.at(-1)).toMatchObject({ key: 'end', completed: 1 })
  })
})

describe('a step whose element the page does not have', () => {
  test('does not hide a checklist or allow another flow while it waits, and appears with the element', async () => {
    const { page, says, button, panel, card } = await open('/home?case=waits')
    await says('Hello')
    expect(await panel.count()).toBe(0)
    await button('Next').click()
    await panel.waitFor()
    // The page evaluates everything again, as when somebody returns to the tab.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await move(page, '/settings/people')
    await panel.waitFor({ state: 'detached' })
    expect(await card.count()).toBe(0)
    await move(page, '/home?case=waits')
    await panel.waitFor()
    await page.evaluate(() => {
      const button = document.createElement('button')
      document.body.append(Object.assign(button, { id: 'later', textContent: 'Here it is' }))
    })
    await says('Later')
    await panel.waitFor({ state: 'detached' })
    await button('Done').click()
    await allSent(page)
    const { totals, steps } = await site.until('waits', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, dismissals: 0 })
    expect(steps[1]).toMatchObject({ reached: 1, targetMissing: 0 })
    expect((await site.numbers('news')).totals.starts).toBe(0)
  })

  test('delays the next flow by its own wait at most, if nobody has seen its tour', async () => {
    const { page, says, panel, button } = await open('/home?case=never')
    await says('News')
    await button('Done').click()
    await panel.waitFor()
    await allSent(page)
    const { totals } = await site.until('never', ({ totals }) => totals.starts === 1)
    expect(totals).toMatchObject({ inProgress: 1, dismissals: 0 })
  })
})

test('no page interrupts a person’s tour, until they have left it for a long time', async () => {
  const { page, says, button, card } = await open('/home?case=waits')
  await says('Hello')
  await page.goto(`${site.url}/settings/people`)
  await rest(page)
  expect(await card.count()).toBe(0)
  await leftLongAgo(page)
  await page.reload()
  await says('News')
  await button('Done').click()
  await page.goto(`${site.url}/home?case=waits`)
  await says('Hello')
})

test('a step for another page links there beside the checklist, and is counted once it is seen', async () => {
  const { page, says, button, panel, elsewhere, link, card, title } =
    await open('/projects?case=led')
  await says('Led one')
  await button('Next').click()
  await elsewhere.waitFor()
  expect(await elsewhere.textContent()).toContain('continues on another page')
  expect(await link.getAttribute('href')).toBe(`${site.url}/settings/notifications`)
  await panel.waitFor()
  // The event advances only a visible step.
  await call(page, 'track', 'chosen')
  await allSent(page)
  const before = await site.until('led', ({ totals }) => totals.starts > 0)
  expect(before.steps[1]).toMatchObject({ reached: 0, completed: 0, targetMissing: 0 })
  await page.reload()
  await link.click()
  await page.waitForURL('**/settings/notifications')
  await says('Led two')
  await elsewhere.waitFor({ state: 'detached' })

  // Returns to the page as applications do, which draw a page after they change its address.
  await move(page, '/projects?case=led')
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
  await call(page, 'track', 'chosen')

  // There is no link if many pages match, or if the page belongs to another site.
  await elsewhere.waitFor()
  expect(await link.count()).toBe(0)
  await move(page, '/projects/borealis')
  await says('Led three')
  await button('Next').click()
  await elsewhere.waitFor()
  expect(await link.count()).toBe(0)
  await button('End the tour').click()
  await elsewhere.waitFor({ state: 'detached' })
  await allSent(page)
  const { totals, steps } = await site.until('led', ({ totals }) => totals.dismissals === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 0 })
  const counts = steps.map(({ reached, completed }) => `${reached} ${completed}`)
  expect(counts).toEqual(['1 1', '1 1', '1 1', '0 0'])
})

describe('on a site with several documents', () => {
  test('Next and Back open the page of the step, and every step is counted once', async () => {
    const { page, says, place, button, card } = await open('/site/a')
    await says('One')
    await button('Next').click()
    await page.waitForURL('**/site/b?from=tour')
    await says('Two')
    expect(await place()).toBe('2 of 3')
    await button('Next').click()
    await page.waitForURL('**/site/c')
    await says('Three')
    await button('Back').click()
    await page.waitForURL('**/site/b?from=tour')
    await says('Two')
    await button('Next').click()
    await says('Three')
    await button('Done').click()
    await card.waitFor({ state: 'detached' })
    await allSent(page)
    const { totals, steps } = await site.until('documents', ({ totals }) => totals.completions > 0)
    expect(totals).toMatchObject({ starts: 1, dismissals: 0 })
    expect(countsOf(steps)).toEqual(Array(3).fill('1 1 0 0'))
  })

  test("the browser's Back button works, and only one of two tabs shows the tour", async () => {
    const { page, says, button, elsewhere, link } = await open('/site/a')
    await says('One')
    await button('Next').click()
    await says('Two')
    await page.goBack()
    await elsewhere.waitFor()
    expect(pathOf(page)).toBe('/site/a')
    await link.click()
    await page.waitForURL('**/site/b?from=tour')
    await says('Two')
    const second = await page.context().newPage()
    await second.goto(page.url())
    await rest(second)
    expect(await shown(second).card.count()).toBe(0)
    await page.close()
    await shown(second).says('Two')
  })

  test('start() opens the page of the first step, or of the step that is due', async () => {
    const { page, says } = await open('/site/x')
    for (const _ of ['first', 'due']) {
      await page.goto(`${documents}/site/x`)
      await page.waitForFunction(() => 'cairn' in window)
      await call(page, 'start', 'asked')
      await page.waitForURL('**/site/b')
      await says('Begin')
    }
  })

  test('a page that redirects elsewhere is offered as a link, and not opened again automatically', async () => {
    const { page, says, button, elsewhere, link, visited } = await open('/site/b?start')
    await says('Begin')
    await button('Next').click()
    await page.waitForURL('**/site/login')
    // The page's own call of start() opens it once more at most.
    await elsewhere.waitFor()
    expect(visited.filter(path => path === '/site/login').length).toBeLessThanOrEqual(2)
    expect(await link.getAttribute('href')).toContain('/site/guarded')
    await page.reload()
    await elsewhere.waitFor()
    expect(pathOf(page)).toBe('/site/login')
    await page.context().addCookies([{ name: 'in', value: '1', url: page.url() }])
    await link.click()
    await page.waitForURL('**/site/guarded')
    await says('Guarded')
    await button('Back').click()
    await page.waitForURL('**/site/b')
    await says('Begin')
  })
})

test('an application with its own router gets a navigate event, and navigates without a page load', async () => {
  const { page, says, button } = await open('/app')
  await says('App one')
  await page.evaluate(`isSame = true
    cairn.on('navigate', what => {
      what.preventDefault()
      // Routers change the address once the page's data has loaded.
      setTimeout(() => history.pushState(null, '', what.url), 50)
    })`)
  await button('Next').click()
  await says('App two')
  await button('Next').click()
  await says('App three')
  expect(new URL(page.url()).hash).toBe('#/deep')
  await button('Back').click()
  await says('App two')
  expect(await page.evaluate('isSame')).toBe(true)
})

test('without a listener the browser loads the page', async () => {
  const { page, says, button } = await open('/app')
  await says('App one')
  await button('Next').click()
  await page.waitForURL('**/app/two')
  await says('App two')
  // A fragment of the same document needs no page load.
  await button('Next').click()
  await says('App three')
})
