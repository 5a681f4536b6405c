import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Tours that lead from page to page: on a site of many documents, and in an application. */

const flows = `
- key: led
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
- key: out
  targeting: { urls: [{ match: exact, pattern: /site/out }] }
  steps:
    - { key: one, kind: modal, title: Out }
    - { key: two, kind: modal, title: Away, navigate: "https://elsewhere.example/x" }
- key: app
  targeting: { urls: [{ match: prefix, pattern: /app }] }
  steps:
    - { key: one, kind: modal, title: App one }
    - { key: two, kind: modal, title: App two, navigate: /app/two }
    - { key: three, kind: modal, title: App three, navigate: "/app/two#/deep" }
`

let site: Site
let pages: ReturnType<typeof serve>
beforeAll(async () => {
  site = await Site.open(flows)
  pages = serve()
})
afterAll(async () => {
  pages.stop(true)
  await site.close()
})

/** A document for each address; `/site/guarded` leads to a login. */
function serve() {
  const tag = `<script async src="${site.server.url}/snippet.js" data-key="${site.snippetKey}"></script>`
  return Bun.serve({
    hostname: 'localhost',
    port: 0,
    fetch: request => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/site/guarded' && !request.headers.get('cookie')?.includes('in=1')) {
        return Response.redirect('/site/login', 302)
      }
      const start = searchParams.has('start') || pathname === '/site/login'
      const call = start
        ? '<script>(window.cairn ??= { q: [] }).q.push(["start", "asked"])</script>'
        : ''
      return new Response(
        `<!doctype html><html lang="en"><title>Own</title><h1>${pathname}</h1>${call}${tag}<a href="/site/guarded">in</a>`,
        { headers: { 'Content-Type': 'text/html' } },
      )
    },
  })
}

const on = (page: Page) => ({
  ...shown(page),
  says: (text: string) => shown(page).title.getByText(text, { exact: true }).waitFor(),
  place: () => page.locator('[data-cairn] .place').textContent(),
  elsewhere: page.locator('[data-cairn] .elsewhere'),
  link: page.locator('[data-cairn] .elsewhere a'),
})

const open = async (path: string) => {
  const { page, noticed } = await site.browser.page()
  const visited: string[] = []
  page.on('framenavigated', frame => visited.push(new URL(frame.url()).pathname))
  await page.goto(`http://localhost:${pages.port}${path}`)
  return { page, noticed, visited, ...on(page) }
}

const pathOf = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search

describe('a site of many documents', () => {
  test('Next and Back lead to the page of the step, and nothing is lost on the way', async () => {
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
    await page.waitForURL('**/site/c')
    await says('Three')
    await button('Done').click()
    await card.waitFor({ state: 'detached' })
    await allSent(page)
    await page.close()
    const { totals, steps } = await site.until('led', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, dismissals: 0 })
    expect(steps.map(({ reached, completed }) => [reached, completed])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ])
  })

  test("the browser's Back is not undone, and a link shows where the tour goes on", async () => {
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
  })

  test('start() leads to the page of the first step, and of the step that is due', async () => {
    const { page, says } = await open('/site/x')
    const start = () =>
      page.evaluate(() =>
        (window as never as { cairn: { start(key: string): void } }).cairn.start('asked'),
      )
    await start()
    await page.waitForURL('**/site/b')
    await says('Begin')
    await page.goto(`http://localhost:${pages.port}/site/x`)
    await page.waitForFunction(() => 'cairn' in window)
    await start()
    await page.waitForURL('**/site/b')
    await says('Begin')
  })

  test('a page that redirects elsewhere is offered as a link, and not opened again automatically', async () => {
    const { page, says, button, elsewhere, link, visited } = await open('/site/b?start')
    await says('Begin')
    await button('Next').click()
    await page.waitForURL('**/site/login')
    // The page's own call of start() leads there once more at most.
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

  test("nobody is led to another site, because it is no page of the tour's", async () => {
    const { says, button, elsewhere, link } = await open('/site/out')
    await says('Out')
    await button('Next').click()
    await elsewhere.waitFor()
    expect(await link.count()).toBe(0)
  })

  test('of two tabs one shows the tour, and the other one goes on when that is closed', async () => {
    const { page, says, button, card } = await open('/site/a')
    await says('One')
    const second = await page.context().newPage()
    await second.goto(`http://localhost:${pages.port}/site/b?from=tour`)
    await button('Next').click()
    await page.waitForURL('**/site/b?from=tour')
    await Promise.race([says('Two'), on(second).says('Two')])
    await page.close()
    await on(second).says('Two')
    await second.close()
    expect(await card.count().catch(() => 0)).toBe(0)
  })
})

describe('an application with its own router', () => {
  test('is told beforehand, and goes there without a page load', async () => {
    const { page, says, button, visited } = await open('/app')
    await says('App one')
    await page.evaluate(() => {
      const { cairn } = window as never as {
        cairn: {
          on(name: string, listener: (what: { url: string; preventDefault(): void }) => void): void
        }
      }
      cairn.on('navigate', what => {
        what.preventDefault()
        // As routers do, once everything the page needs has loaded.
        setTimeout(() => history.pushState(null, '', what.url), 50)
      })
      ;(window as never as { isSame: boolean }).isSame = true
    })
    await button('Next').click()
    await says('App two')
    await button('Next').click()
    await says('App three')
    expect(new URL(page.url()).hash).toBe('#/deep')
    await button('Back').click()
    await says('App two')
    expect(await page.evaluate(() => (window as never as { isSame: boolean }).isSame)).toBe(true)
    expect(visited[0]).toBe('/app')
  })

  test('has its pages loaded if it does not listen', async () => {
    const { page, says, button } = await open('/app')
    await says('App one')
    await button('Next').click()
    await page.waitForURL('**/app/two')
    await says('App two')
    // Another place in the same document, for which the browser loads nothing.
    await button('Next').click()
    await says('App three')
  })
})
