import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Tours whose steps are shown in another order than they are listed in, or are left out. */

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
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const on = (page: Page) => ({
  ...shown(page),
  says: (text: string) => shown(page).title.getByText(text, { exact: true }).waitFor(),
  place: () => page.locator('[data-cairn] .place').textContent(),
})

const open = async (path: string) => {
  const { page } = await site.visit(path)
  return { page, ...on(page) }
}

test('a run whose step a new version lacks continues after the steps it has seen, never before', async () => {
  const { page, says, place, button } = await open('/home?case=renewed')
  await says('A')
  await button('Next').click()
  await says('C')
  await button('Next').click()
  await says('Last d')
  expect(await place()).toBe('4 of 4')
  await allSent(page)
  await site.publish(flows.replace(renewed('d'), renewed('e')))
  // As if the page had loaded its flows long ago.
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

const track = (page: Page, name: string) =>
  page.evaluate(
    name => (window as never as { cairn: { track(name: string): void } }).cairn.track(name),
    name,
  )

test('a button leads to the step it names, Back to the step before, and the place counts that path', async () => {
  const { page, says, place, button } = await open('/home?case=fork')
  await says('What do you want?')
  await button('Invite').click()
  await says('Invite')
  // Only the end follows, because the only button onwards leads there.
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

test('a step whose rule fails is left out, and not counted as viewed, skipped, missing or dropped', async () => {
  const { page, says, button, card } = await open('/home?case=fork')
  await says('What do you want?')
  await track(page, 'project_created')
  await button('Report').click()
  await says('Report')
  await button('Next').click()
  await says('The end')
  await button('Bye').click()
  await card.waitFor({ state: 'detached' })
  await allSent(page)
  await page.close()
  const { steps } = await site.until('fork', ({ totals }) => totals.completions === 1)
  const numbers = (key: string) => {
    const { reached, completed, skipped, targetMissing } = steps.find(step => step.key === key)!
    return { reached, completed, skipped, targetMissing }
  }
  const nothing = { reached: 0, completed: 0, skipped: 0, targetMissing: 0 }
  expect(numbers('paid')).toEqual(nothing)
  expect(numbers('end')).toMatchObject({ reached: 2 })
})
