import { expect } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { builtBinary, Workplace } from '../../support/binary.ts'
import { type Page, TestBrowser } from '../../support/browser.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'
import { settleBeforeActions } from '../../support/settling.ts'

/** A newcomer's first minutes: from an empty server to a tour on a page, in the dashboard alone. */

let browser: TestBrowser
const place = new Workplace()
let stop: () => Promise<unknown> = async () => {}
beforeAll(async () => {
  browser = await TestBrowser.open({}, settleBeforeActions)
})
afterAll(async () => {
  await stop()
  await browser.close()
  await place.close()
})

/** Starts a server on a terminal, with an empty folder. @returns the link that it prints */
async function linkOfNewServer(): Promise<string> {
  let shown = ''
  const decoder = new TextDecoder()
  const ports = ['--port', '0', '--management-port', '0']
  const child = Bun.spawn([await builtBinary(), 'serve', ...ports, '--data', place.dataDir], {
    cwd: place.folder,
    env: { TERM: 'dumb' },
    terminal: {
      cols: 200,
      data: (_, data) => {
        shown += decoder.decode(data, { stream: true })
      },
    },
  })
  stop = () => {
    child.kill()
    return child.exited
  }
  const link = /http:\S+\/dashboard\/sign-in#[\w-]{43}/
  await until(
    () => shown,
    text => link.test(text),
  )
  return link.exec(shown)![0]
}

const siteWith = (html: string) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(`<!doctype html><title>Our app</title><body>${html}<h1>Projects</h1>`, {
        headers: { 'content-type': 'text/html' },
      }),
  })

const done = (page: Page) => page.locator('.first-steps > li.done')

test('an empty server leads to a published tour on a page, without a shell', async () => {
  const link = await linkOfNewServer()
  const startedAt = performance.now()
  const { page, noticed } = await browser.page()
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in with this link' }).click()
  await page.getByText('Your first flow').waitFor()
  expect(await done(page).count()).toBe(0)
  // Until then nobody was signed in, which the browser reports.
  noticed.complaints.splice(0)

  const code = page.locator('.code', { has: page.getByRole('button', { name: 'Copy: Tag' }) })
  const site = siteWith(await code.locator('pre').innerText())
  try {
    const { page: visitor, noticed: ofVisitor } = await browser.page()
    await visitor.goto(site.url.href)
    await done(page).nth(0).waitFor()

    await page.getByRole('link', { name: 'Welcome tour' }).click()
    const dialog = page.getByRole('dialog', { name: 'Welcome tour' })
    await dialog
      .frameLocator('iframe')
      .getByRole('heading', { name: 'Welcome! Good to have you here' })
      .waitFor()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Hello, newcomer')
    await dialog.getByRole('button', { name: 'Create draft' }).click()
    await page.getByRole('heading', { level: 1, name: 'Hello, newcomer' }).waitFor()
    expect(new URL(page.url()).pathname).toEndWith('/flows/hello-newcomer/edit')

    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Version 1 is live').waitFor()

    // The browser that was there before may keep its flows for a minute.
    const { page: guest, noticed: ofGuest } = await browser.page()
    await guest.goto(site.url.href)
    const tour = guest.getByRole('dialog', { name: 'Welcome! Good to have you here' })
    await tour.waitFor()
    await tour.getByRole('button', { name: 'Show me around' }).click()
    await guest.getByRole('heading', { name: 'Start with one small thing' }).waitFor()
    await page.getByText('Needs attention').or(page.getByText('Needs a person')).waitFor()
    expect([...noticed.complaints, ...ofVisitor.complaints, ...ofGuest.complaints]).toEqual([])
  } finally {
    site.stop(true)
  }
  // A person reads as well; what the dashboard itself takes is far below a minute, also on a slow machine.
  console.log(`From the link to the tour: ${Math.round((performance.now() - startedAt) / 1_000)} s`)
})
