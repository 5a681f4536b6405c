import { expect } from 'bun:test'
import { installStub } from '../../src/web/install-code.ts'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { html, Site, shown } from '../support/site.ts'

/** Questions that pages ask the snippet, and the debug panel that answers people. */

const flows = `
- key: paid
  frequency: always
  priority: 2
  targeting:
    urls: [{ match: exact, pattern: /home }]
    audience: { rules: [{ attribute: group.plan, op: eq, value: pro }] }
  steps: [{ key: one, kind: modal, title: For companies that pay }]
- key: hello
  frequency: once
  targeting: { urls: [{ match: exact, pattern: /home }] }
  steps: [{ key: one, kind: modal, title: Hello }, { key: two, kind: modal, title: Bye }]
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  const { url } = site.server
  pages = site.serve(({ searchParams }) => {
    const [script, first] = [searchParams.get('script') ?? '/snippet.js', searchParams.get('first')]
    return html(
      `<script nonce="abc">${installStub};${first ?? ''}</script>
      <script nonce="abc" async src="${url}${script}" data-key="${site.snippetKey}"></script>`,
      {
        'Content-Security-Policy': `default-src 'none'; img-src data:; script-src 'nonce-abc' ${url}; connect-src ${url}; require-trusted-types-for 'script'`,
      },
    )
  })
})
afterAll(() => site.close())

async function visit(query: Record<string, string> = {}, clock = false) {
  const { page, noticed } = await site.browser.page({ clock })
  await page.goto(`${pages}/home?${new URLSearchParams(query)}`)
  return { page, noticed }
}
/** The value of an expression in the page, as JSON. */
const ask = <Answer>(page: Page, what: string) => page.evaluate(what) as Promise<Answer>

test('identify() answers once the server has, even if it was called before the script loaded', async () => {
  const { page } = await visit({ first: "met = cairn.identify('ann')" })
  expect(await ask<string>(page, 'met')).toBe('known')
  expect(await ask<string>(page, "cairn.identify('ann')")).toBe('known')
  expect(await ask<string>(page, "cairn.identify('bob', { plan: 'pro' })")).toBe('known')
  expect(await ask<string>(page, 'cairn.identify({})')).toBe('invalid')
})

test('identify() says if the server does not believe it, and if the server cannot be asked', async () => {
  await site.place.run(['org', 'set', 'identityMode', 'enforce'])
  const { page } = await visit({ first: "met = cairn.identify('ann', {}, 'f00')" })
  const refused = await ask<string>(page, 'met')
  await site.place.run(['org', 'set', 'identityMode', 'off'])
  expect(refused).toBe('refused')
  expect(await ask<string>(page, "cairn.consent(false), cairn.identify('eve')")).toBe('alone')
})

test('an early identify() is answered even if the script never loads', async () => {
  const first = "met = cairn.identify('ann'); is = cairn.isActive(); far = cairn.progress('hello')"
  const { page } = await visit({ script: '/gone.js', first }, true)
  await page.clock.runFor(6_000)
  expect(await ask<unknown[]>(page, 'met.then(met => [met, is, far])')).toEqual([
    'alone',
    false,
    null,
  ])
})

test('a group’s traits are found under group., and last until the person changes', async () => {
  const { page } = await visit({
    first: "cairn.group('acme', { plan: 'pro' }); cairn.identify('gina')",
  })
  const { title } = shown(page)
  await title.getByText('For companies that pay').waitFor()
  expect(await ask<boolean>(page, "cairn.isActive('paid')")).toBe(true)
  await page.reload()
  await title.getByText('For companies that pay').waitFor()
  const met = await ask<string>(page, "cairn.reset({ userId: 'gus', traits: { role: 'owner' } })")
  expect(met).toBe('known')
  await title.getByText('Hello').waitFor()
  const why = await ask<{ rules: { rule: string; holds: boolean; parts: { why: string }[] }[] }>(
    page,
    "cairn.why('paid')",
  )
  const audience = why.rules.find(({ rule }) => rule === 'audience')
  expect([audience?.holds, audience?.parts[0]?.why]).toEqual([
    false,
    'there is no group.plan (eq "pro" is required)',
  ])
})

test('flows() lists the flows, and why() says why one is not shown, also by the page’s own rules', async () => {
  const { page } = await visit({ first: "met = cairn.identify('cleo')" })
  const { title, button } = shown(page)
  await title.getByText('Hello').waitFor()
  await button('Next').click()
  await title.getByText('Bye').waitFor()
  const listed = await ask<Record<string, unknown>[]>(page, 'cairn.flows()')
  expect(listed).toMatchObject([
    { key: 'paid', kind: 'tour', isActive: false, isDue: false },
    {
      key: 'hello',
      isActive: true,
      isDue: true,
      progress: { completed: 1, total: 2, percent: 50 },
    },
  ])
  await page.evaluate('cairn.stop()')
  const why = await ask<{ isActive: boolean; rules: { why: string; holds: boolean | null }[] }>(
    page,
    "cairn.why('hello')",
  )
  const failed = why.rules.filter(({ holds }) => holds === false).map(({ why }) => why)
  expect(failed[0]).toStartWith('once, and it was dismissed on')
  expect(failed[1]).toBe('one has ended on this page: the next page may show another')
  expect(await ask<null>(page, "cairn.why('nothing')")).toBeNull()
})

test('the debug panel says who is there, what is shown and what was sent, and survives page loads', async () => {
  const { page, noticed } = await visit({ first: "cairn.debug(); met = cairn.identify('dora')" })
  const panel = page
    .locator('[data-cairn=debug]')
    .getByRole('region', { name: 'Cairn on this page' })
  await panel.getByText('dora', { exact: true }).waitFor()
  await panel.getByText('shown', { exact: true }).waitFor()
  await panel.getByText(/^paid/).click()
  await panel.getByText('there is no group.plan').waitFor()
  await page.evaluate("cairn.track('saved')")
  await panel.getByText('saved', { exact: true }).waitFor()
  await page.evaluate("dispatchEvent(new Event('online'))")
  await panel.getByText('stored').first().waitFor()
  await page.reload()
  await panel.waitFor()
  await panel.getByRole('button', { name: 'Close' }).click()
  await panel.waitFor({ state: 'detached' })
  expect(await ask<null>(page, "sessionStorage.getItem('cairn-debug')")).toBeNull()
  expect(noticed.complaints).toEqual([])
})
