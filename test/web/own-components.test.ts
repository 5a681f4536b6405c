import { expect } from 'bun:test'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, html, Site } from '../support/site.ts'

/** What `@cairn/vue` gives an application that draws everything itself, over the stores that `@cairn/react` uses too. */

const flows = `
- key: centre
  kind: launcher
  title: Help
  launcher:
    items:
      - { key: list, title: First steps, flow: list }
      - { key: news, title: News, announcements: true }
- key: list
  kind: checklist
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /nowhere }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
- key: fresh
  kind: announcement
  targeting: { urls: [{ match: exact, pattern: /nowhere }] }
  steps: [{ key: one, kind: modal, title: Fresh }]
`

const sdk = join(import.meta.dir, '../../src/sdk')

/** The application as one script, with the package's source in place of the installed package. */
async function bundledApp(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '../sdk/own-components.ts')],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'own source',
        setup(build) {
          const path = join(sdk, 'browser/index.ts')
          build.onResolve({ filter: /^@cairn\/browser$/ }, () => ({ path }))
        },
      },
    ],
  })
  return outputs[0]!.text()
}

let site: Site
let pages: string
beforeAll(async () => {
  const [opened, script] = await Promise.all([Site.open(flows), bundledApp()])
  site = opened
  pages = site.serve(({ pathname }) =>
    pathname === '/app.js'
      ? new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
      : html(
          `<body data-url="${site.server.url}" data-key="${site.snippetKey}"><main id="app"></main>
          <script type="module" src="/app.js"></script>`,
        ),
  )
})
afterAll(() => site.close())

test('it draws a resource centre and the checklist that it starts', async () => {
  const { page, noticed } = await site.browser.page()
  await page.goto(`${pages}/`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('region', { name: 'Help' }).waitFor()
  await page.getByText('no list').waitFor()
  await press('Help (1)')
  await press('First steps')
  await page.getByRole('region', { name: '0 %' }).waitFor()
  await press('A')
  await page.getByRole('region', { name: '50 %' }).waitFor()
  await page.getByRole('button', { name: 'Done: A' }).waitFor()
  expect(await page.getByText('wrong launcher').count()).toBe(0)
  expect(await page.locator('[data-cairn]').count()).toBe(0)
  await allSent(page)
  expect(await site.startedBy('list', 1)).toEqual({ launcher: 1 })
  expect(noticed.complaints).toEqual([])
})
