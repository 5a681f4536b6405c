import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../browser/playwright.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/**
 * A page may keep an older snippet (by integrity, or in its own bundle), and a newer snippet may talk to
 * an older server. Each of them shows what it knows, and does not fail at anything else.
 */

/** The last snippet before the second edition, as it was built. */
const folder = join(import.meta.dir, '../fixtures/snippet-first-edition')
const fileOf = new Map(
  readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]),
)
const script = [...fileOf.keys()].find(name => /^snippet-\w{16}\.js$/.test(name))!

/** Every field that the second edition added. */
const newer = `
key: newer
kind: tour
frequency: once
locale: en
texts: { de: { steps: { hello: { title: Hallo } } } }
schedule: { from: '2020-01-01' }
when: { delayMs: 0 }
rollout: { percent: 100 }
theme: { accent: '#0b7285', preset: soft, progress: dots, spotlight: dim }
targeting: { urls: [{ match: exact, pattern: /projects }] }
steps:
  - key: hello
    kind: slideout
    title: Hello
    buttons: [{ label: On, action: next, goto: last }]
  - key: middle
    kind: modal
    title: In between
    when: { match: all, rules: [{ attribute: plan, op: eq, value: pro }] }
    question: { type: rating, scale: stars }
  - { key: last, kind: modal, title: The last one, navigate: /projects }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(newer)
})
afterAll(() => site.close())

/** Has a page load the older snippet whenever it asks for the script. */
async function withOlderSnippet(page: Page): Promise<void> {
  await page.route(/\/snippet[\w-]*\.js$/, async route => {
    const name = new URL(route.request().url()).pathname.slice(1)
    const body = fileOf.get(name === 'snippet.js' ? script : name)
    const headers = { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'text/javascript' }
    await route.fulfill(body === undefined ? { status: 404 } : { body, headers })
  })
}

describe('an older snippet', () => {
  test('shows a newer flow in the order of its steps, and its reports are counted', async () => {
    const { page, noticed } = await site.browser.page()
    await withOlderSnippet(page)
    await page.goto(`${site.url}/projects`)
    const { title, button } = shown(page)
    await title.getByText('Hello', { exact: true }).waitFor()
    await button('On').click()
    await title.getByText('In between').waitFor()
    await button('Next').click()
    await title.getByText('The last one').waitFor()
    await button('Done').click()
    const { totals, steps } = await site.until('newer', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 1 })
    expect(steps.map(({ reached }) => reached)).toEqual([1, 1, 1])
    // The page uses an event that was added since; the snippet says so, and goes on.
    expect(noticed.complaints).toEqual([expect.stringContaining('on() knows no "navigate"')])
  })
})

describe('the newer snippet', () => {
  test('shows the flows of an older server', async () => {
    const { page, noticed } = await site.browser.page()
    const [flow] = await site.flows()
    const { id, key, name, version, publishedAt, priority, steps } = flow!
    const older = {
      ...{ id, key, name, kind: 'tour', version, publishedAt, priority, frequency: 'once' },
      targeting: { urls: [], audience: { match: 'all', rules: [] } },
      theme: { accent: '#0b7285', background: null, text: null, radius: 8 },
      steps: steps.map(({ id, key, position, title, body, target, placement, advance }) => ({
        ...{ id, key, position, kind: 'modal', title, body, target, placement, advance },
        buttons: [],
      })),
      checklist: null,
    }
    await page.route(/\/api\/v1\/flows(\?|$)/, route =>
      route.fulfill({
        json: { flows: [older], version: 'older' },
        headers: { 'Access-Control-Allow-Origin': '*' },
      }),
    )
    await page.goto(`${site.url}/projects`)
    const { title, button } = shown(page)
    for (const [text, press] of [
      ['Hello', 'Next'],
      ['In between', 'Next'],
      ['The last one', 'Done'],
    ] as const) {
      await title.getByText(text, { exact: true }).waitFor()
      await button(press).click()
    }
    await title.waitFor({ state: 'detached' })
    expect(noticed.complaints).toEqual([])
  })
})
