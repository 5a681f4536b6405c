import { expect } from 'bun:test'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** One person in several browsers: a flow's frequency applies to the person, and the browsers share a run. */

const tour = (key: string) => `
- key: ${key}
  frequency: once
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: one, kind: modal, title: ${key} one }
    - { key: two, kind: modal, title: ${key} two }
`
const list = (key: string, more = '') => `
- key: ${key}
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  ${more}
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
`

const tours = ['dismissed', 'open', 'late', 'slow', 'stuck', 'busy', 'midway', 'seen', 'closed']
const flows = `
${tours.map(key => tour(key)).join('')}
${tour('again').replace('once', 'until_completed')}
${list('done')}
${list('ticked', 'frequency: always')}
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const at = (page: Page, text: string) =>
  shown(page).title.getByText(text, { exact: true }).waitFor()

/** A browser whose person is identified before the snippet loads; by themselves, neither waits for the other. */
const open = async (key: string, person: string) => {
  const visitor = await site.browser.page({ person })
  const { page } = visitor
  await page.route(
    '**/snippet.js',
    async route => {
      await page.waitForFunction(() => {
        const { cairn } = window as never as { cairn?: { q?: [name: string][] } }
        return cairn?.q?.some(([name]) => name === 'identify')
      })
      await route.continue()
    },
    { times: 1 },
  )
  await page.goto(`${site.url}/projects?case=${key}`)
  return { ...visitor, ...shown(page) }
}

const told = (page: Page) =>
  page.waitForResponse(response => /\/flows\?userId/.test(response.url()))

const identify = (page: Page, userId: string) =>
  page.evaluate(id => {
    const { cairn } = window as never as { cairn: { identify(id: string): void } }
    cairn.identify(id)
  }, userId)

/** A page without a user, at an address that has no tour. */
const openAsStranger = async (prepare: (page: Page) => Promise<unknown> = async () => {}) => {
  const { page, noticed } = await site.browser.page({ clock: true })
  await page.route('**/app.js', route =>
    route.fulfill({ body: '', contentType: 'text/javascript' }),
  )
  await prepare(page)
  await page.goto(`${site.url}/home`)
  await page.waitForFunction(() => 'track' in ((window as never as { cairn?: object }).cairn ?? {}))
  return { page, noticed, ...shown(page) }
}
const goTo = (page: Page, key: string) =>
  page.evaluate(key => history.pushState(null, '', `/projects?case=${key}`), key)

const isOfUser = /\/flows\?userId/

const isNotShown = async (page: Page, held?: RegExp) => {
  await rest(page, held)
  expect(await page.locator('[data-cairn] .card, [data-cairn] .launcher').count()).toBe(0)
}

/** Reloads the page as after a time so long that the flows are requested again. */
const askAgain = async (page: Page) => {
  await page.evaluate(() => {
    for (const name of Object.keys(localStorage)) {
      if (name.endsWith(':flows')) localStorage.removeItem(name)
    }
  })
  await page.reload()
}

test('a tour that was dismissed in one browser is not shown in another', async () => {
  const first = await open('dismissed', 'ann')
  await first.button('Close').click()
  await allSent(first.page)
  const second = await open('dismissed', 'ann')
  await isNotShown(second.page)
  const other = await open('dismissed', 'bob')
  await at(other.page, 'dismissed one')
  for (const { page } of [first, second, other]) await page.close()
  const { totals } = await site.until('dismissed', ({ totals }) => totals.starts === 2)
  expect(totals).toMatchObject({ starts: 2, dismissals: 1, uniqueUsers: 2 })
})

test('a run is shared by another browser, and once it ends there it has ended in both', async () => {
  const first = await open('open', 'ann')
  await first.button('Next').click()
  await at(first.page, 'open two')
  await allSent(first.page)
  const second = await open('open', 'ann')
  await at(second.page, 'open one')
  await second.button('Next').click()
  await second.button('Done').click()
  await second.page.close()
  const { totals } = await site.until('open', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
  await askAgain(first.page)
  await isNotShown(first.page)
  await first.page.close()
  const third = await open('open', 'ann')
  await isNotShown(third.page)
  await third.page.close()
  expect((await site.numbers('open')).totals).toMatchObject({ starts: 1, inProgress: 0 })
})

/** Begins a tour in one browser and closes it in another. The first browser learns of both. */
const closedElsewhere = async (key: string) => {
  const first = await open(key, 'ann')
  await first.button('Next').click()
  await at(first.page, `${key} two`)
  await allSent(first.page)
  await askAgain(first.page)
  await at(first.page, `${key} two`)
  const second = await open(key, 'ann')
  await second.button('Close').click()
  await allSent(second.page)
  await second.page.close()
  await askAgain(first.page)
  return first
}

test('a run that has ended elsewhere is not continued', async () => {
  const { page } = await closedElsewhere('closed')
  await isNotShown(page)
  await page.close()
  expect((await site.numbers('closed')).totals).toMatchObject({ starts: 1, dismissals: 1 })
})

test('a flow that may be shown again after it ended elsewhere is a new run', async () => {
  const { page } = await closedElsewhere('again')
  await at(page, 'again one')
  await allSent(page)
  await page.close()
  const { totals } = await site.until('again', ({ totals }) => totals.starts === 2)
  expect(totals).toMatchObject({ dismissals: 1, inProgress: 1 })
})

test('a checklist that is done in one browser is not begun in another', async () => {
  const first = await open('done', 'ann')
  await first.panel.getByText('A', { exact: true }).click()
  await first.panel.getByText('B', { exact: true }).click()
  await first.launcher.waitFor({ state: 'detached' })
  await allSent(first.page)
  const second = await open('done', 'ann')
  await isNotShown(second.page)
  for (const { page } of [first, second]) await page.close()
  const { totals } = await site.until('done', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
})

test('a checklist is one run in all browsers, however often it may be shown', async () => {
  const first = await open('ticked', 'ann')
  await first.panel.getByText('A', { exact: true }).click()
  await allSent(first.page)
  const second = await open('ticked', 'ann')
  await second.panel.getByText('B', { exact: true }).click()
  await second.launcher.waitFor({ state: 'detached' })
  await allSent(second.page)
  for (const { page } of [first, second]) await page.close()
  const { totals } = await site.until('ticked', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
})

test('if a user is identified after the flows have loaded, nothing begins before the server answers', async () => {
  const first = await open('slow', 'ann')
  await first.button('Close').click()
  await allSent(first.page)
  const moved = Promise.withResolvers<void>()
  const { page } = await openAsStranger(page =>
    page.route(/\/flows\?userId/, async route => {
      await moved.promise
      await route.continue()
    }),
  )
  const answered = told(page)
  await identify(page, 'ann')
  await goTo(page, 'slow')
  await pass(page, 1_500, isOfUser)
  await isNotShown(page, isOfUser)
  moved.resolve()
  expect((await answered).status()).toBe(200)
  await isNotShown(page)
})

test('the flows of a user are waited for no longer than three seconds', async () => {
  const { page, noticed } = await openAsStranger(page => page.route(isOfUser, () => {}))
  // The jump in time would time out a request that has no answer yet.
  await rest(page)
  await page.clock.pauseAt(Date.now() + 60_000)
  await identify(page, 'eve')
  await goTo(page, 'stuck')
  await page.clock.runFor(2_900)
  await page.evaluate(() => navigator.locks.query())
  expect(noticed.requests.filter(url => url.includes('renderer'))).toEqual([])
  await page.clock.runFor(200)
  await page.clock.resume()
  await at(page, 'stuck one')
})

test('the flows of a user are not waited for any longer if the first flows came late', async () => {
  const late = Promise.withResolvers<void>()
  const { page } = await openAsStranger(async page => {
    await page.route(/\/flows/, async route => {
      await late.promise
      await route.continue()
    })
    await page.route(isOfUser, () => {})
  })
  await pass(page, 4_000, /\/flows/)
  await identify(page, 'fay')
  await goTo(page, 'stuck')
  const asked = page.waitForRequest(isOfUser)
  late.resolve()
  await asked
  await pass(page, 3_100, isOfUser)
  // Without an answer the request itself times out after half a minute.
  await shown(page).title.getByText('stuck one').waitFor({ timeout: 15_000 })
})

test('if the server is busy, the browser decides', async () => {
  const { page } = await openAsStranger(page =>
    page.route(/\/flows\?userId/, route =>
      route.fulfill({
        status: 503,
        headers: { 'Retry-After': '60', 'Access-Control-Allow-Origin': '*' },
        contentType: 'application/json',
        body: '{"error":"Overloaded","code":"overloaded"}',
      }),
    ),
  )
  await identify(page, 'eve')
  await goTo(page, 'busy')
  await at(page, 'busy one')
})

const flowsAsked = ({ requests }: { requests: string[] }) =>
  requests.filter(url => /\/api\/v1\/flows(\?|$)/.test(url)).map(url => new URL(url).search)

test('the flows of a user are requested once, however many pages they see', async () => {
  const { page, noticed } = await open('seen', 'zoe')
  await at(page, 'seen one')
  for (const path of ['/home', '/projects', '/settings/people']) await page.goto(site.url + path)
  await rest(page)
  expect(flowsAsked(noticed)).toEqual(['?userId=zoe'])
})

test('a user known from the page before is in the request, however late a page identifies them', async () => {
  const { page, noticed } = await open('seen', 'yara')
  await at(page, 'seen one')
  // Otherwise the answer of this page could be taken for that of the next one.
  await rest(page)
  const named = Promise.withResolvers<void>()
  await page.route('**/app.js', async route => {
    await named.promise
    await route.continue()
  })
  const answered = told(page)
  await page.evaluate(() => {
    for (const name of Object.keys(localStorage)) {
      if (name.endsWith(':flows')) localStorage.removeItem(name)
    }
  })
  await page.goto(`${site.url}/home`, { waitUntil: 'commit' })
  expect((await answered).status()).toBe(200)
  named.resolve()
  await page.waitForLoadState('load')
  await rest(page)
  expect(flowsAsked(noticed)).toEqual(['?userId=yara', '?userId=yara'])
})

test('a visitor who signs in during a tour stays where they are', async () => {
  const { page, card, button } = await openAsStranger()
  await goTo(page, 'midway')
  await at(page, 'midway one')
  await button('Next').click()
  await at(page, 'midway two')
  await card.evaluate(element => element.setAttribute('data-same', ''))
  const answered = told(page)
  await identify(page, 'mia')
  expect((await answered).status()).toBe(200)
  await rest(page)
  // The very same element, not a redrawn one.
  expect(await page.locator('[data-cairn] .card[data-same] h2').innerText()).toBe('midway two')
  await button('Done').click()
  await allSent(page)
  await page.close()
  const { totals } = await site.until('midway', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, uniqueUsers: 1, inProgress: 0 })
})

test('a page that is left during a request does not hold up the next one', async () => {
  const { page } = await openAsStranger()
  const flowsAreKept = () => Object.keys(localStorage).some(name => name.endsWith(':flows'))
  await page.waitForFunction(flowsAreKept)
  await page.route('**/flows?userId*', () => {}, { times: 1 })
  const asking = page.waitForRequest(/\/flows\?userId/)
  await identify(page, 'traveller')
  await asking
  const asked = told(page)
  await page.goto(`${site.url}/settings/people`)
  expect((await asked).status()).toBe(200)
})

test('a gateway’s headers about its own limits do not make a page ask endlessly', async () => {
  let asked = 0
  const { page } = await openAsStranger(async page => {
    await page.route('**/api/v1/flows', async route => {
      if (route.request().method() === 'OPTIONS') return route.continue()
      asked++
      const response = await route.fetch()
      const headers = { ...response.headers(), 'x-ratelimit-remaining': '10000000' }
      await route.fulfill({ response, headers })
    })
  })
  await pass(page, 20_000)
  expect(asked).toBe(1)
})
