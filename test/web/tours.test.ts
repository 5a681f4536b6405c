import { expect } from 'bun:test'
import { rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** Tours in a real browser: from the first page to analytics. */

const flows = `
key: welcome
priority: 10
frequency: once
targeting: { urls: [{ match: prefix, pattern: /home }, { match: prefix, pattern: /projects }] }
steps:
  - { key: hello, kind: modal, title: Welcome aboard, body: "Five **short** stops." }
  - { key: project, title: Start with a project, target: { selector: "[data-tour=new-project]" }, advance: { on: click } }
  - { key: task, title: Break it into tasks, target: { selector: button.task-add, waitMs: 4000 }, advance: { on: event, event: task_created } }
  - { key: people, title: Bring your crew, target: { selector: "#invite-people" } }
  - { key: help, kind: hotspot, title: Help is here, target: { selector: "header [aria-label=Help]" }, buttons: [{ label: Finish, action: complete }] }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

test('a first visitor is led through the tour, and analytics say so', async () => {
  const { page, noticed } = await site.visit('/home')
  const { title, button } = shown(page)
  await title.getByText('Welcome aboard').waitFor()
  expect(await page.locator('[data-cairn] .body strong').textContent()).toBe('short')
  await button('Next').click()
  await title.getByText('Start with a project').waitFor()
  await page.getByRole('button', { name: 'New project' }).click()
  await title.getByText('Break it into tasks').waitFor()
  await page.getByRole('button', { name: 'Add a task' }).click()
  await title.getByText('Bring your crew').waitFor()
  await button('Next').click()
  await page.locator('[data-cairn] .spot').click()
  await button('Finish').click()
  await page.locator('[data-cairn] .card').waitFor({ state: 'detached' })
  await page.close()

  const { totals, steps } = await site.until('welcome', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1, dismissals: 0, inProgress: 0 })
  for (const step of steps) {
    expect(step).toMatchObject({ reached: 1, completed: 1, skipped: 0, targetMissing: 0 })
  }
  expect(noticed.complaints).toEqual([])
})

test('a reload and another page continue where the tour was; a reload is no dismissal', async () => {
  const before = await site.numbers('welcome')
  const { page } = await site.visit('/home')
  const { title, button } = shown(page)
  await button('Next').click()
  await title.getByText('Start with a project').waitFor()
  await page.reload()
  await title.getByText('Start with a project').waitFor()
  await page.goto(`${site.url}/projects`)
  await title.getByText('Start with a project').waitFor()
  await page.close()
  const { totals, steps } = await site.until(
    'welcome',
    ({ totals }) => totals.starts === before.totals.starts + 1,
  )
  expect(totals.dismissals).toBe(before.totals.dismissals)
  expect(totals.inProgress).toBe(before.totals.inProgress + 1)
  expect(steps[1]!.reached).toBe(before.steps[1]!.reached + 1)
})

test('a tour that was closed once does not come again', async () => {
  const { page } = await site.visit('/home')
  const { title, card } = shown(page)
  await title.waitFor()
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'detached' })
  await page.reload()
  await page.waitForFunction(
    () =>
      'cairn' in window && !('q' in (window.cairn as object) && (window.cairn as { q: unknown }).q),
  )
  await rest(page)
  expect(await card.count()).toBe(0)
  await page.close()
  await site.until('welcome', ({ totals }) => totals.dismissals === 1)
})
