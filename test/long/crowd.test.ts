import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, type Numbers, Site, shown } from '../support/site.ts'

/** Many people each take their own path through a tour, under the default limits. */

/** Eight people for each path, in mixed order. */
const people = 48
/** As many people at a time as a small machine can handle without them slowing each other down. */
const together = 3

const flows = `
- key: welcome
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: hello, kind: modal, title: Hello }
    - { key: task, title: Add a task, target: { selector: button.task-add }, advance: { on: event, event: task_created } }
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 50 } }
    - { key: people, title: People, target: { selector: "#invite-people" } }
`

/** The paths that people take through the tour. */
const paths = ['complete', 'dismiss', 'skip', 'leave', 'reload', 'back'] as const
type Path = (typeof paths)[number]

const pathOf = (person: number): Path =>
  paths[(person * 7 + Math.floor(person / 6)) % paths.length]!

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
  const buckets = ['events', 'flows', 'fingerprint', 'health', 'heartbeat', 'status']
  const limits = Object.fromEntries(buckets.map(name => [name, null]))
  await site.place.run(['api', 'PATCH', '/settings', '--body', JSON.stringify({ limits })])
})
afterAll(() => site.close())

async function go(person: number, desk: Page): Promise<void> {
  const path = pathOf(person)
  const page = path === 'leave' ? await desk.context().newPage() : desk
  await page.goto(`${site.url}/projects?as=person-${person}`)
  const { title, button, card } = shown(page)
  const at = (text: string) => title.getByText(text, { exact: true }).waitFor()
  await at('Hello')
  if (path === 'dismiss') {
    await button('Close').click()
  } else if (path !== 'leave') {
    await button('Next').click()
    await at('Add a task')
    if (path === 'reload') {
      await page.reload()
      await at('Add a task')
    }
    if (path === 'back') {
      await button('Back').click()
      await at('Hello')
      await button('Next').click()
      await at('Add a task')
    }
    if (path === 'skip') await button('Skip').click()
    else await page.getByRole('button', { name: 'Add a task' }).click()
    await at('People')
    await button('Done').click()
    await card.waitFor({ state: 'detached' })
  }
  // The browser stays open, so it still sends what a page handed to it on leaving. If a busy machine
  // killed the page at once, the next visit sends it.
  if (page !== desk) await page.close()
  if (page !== desk || path === 'dismiss') {
    await desk.goto(`${site.url}/settings/people?as=person-${person}`)
  }
  await allSent(desk)
}

test('the analytics of many visits match what the people did, and hardly any request is rejected', async () => {
  let next = 0
  let rejected = 0
  let healthReports = 0
  const visitor = async () => {
    const { page, forget } = await site.shared({
      reducedMotion: 'reduce',
      viewport: { width: 800, height: 600 },
    })
    page.on('response', response => {
      if (response.status() === 429) rejected++
      else if (/\/api\/v1\/steps\/.*\/health/.test(response.url())) healthReports++
    })
    while (next < people) {
      await forget()
      await go(next++, page)
    }
  }
  await Promise.all(Array.from({ length: together }, visitor))

  const count = (...some: Path[]) =>
    Array.from({ length: people }, (_, person) => pathOf(person)).filter(path =>
      some.includes(path),
    ).length
  const through = count('complete', 'skip', 'reload', 'back')
  const isAll = ({ totals }: Numbers) =>
    totals.starts === people &&
    totals.completions === through &&
    totals.dismissals === count('dismiss')
  const { totals, steps } = await site.until('welcome', isAll)
  expect(totals).toMatchObject({
    starts: people,
    uniqueUsers: people,
    completions: through,
    uniqueCompleters: through,
    dismissals: count('dismiss'),
    inProgress: count('leave'),
  })
  const numbers = steps.map(({ key, reached, completed, skipped, targetMissing }) => {
    return [key, reached, completed, skipped, targetMissing]
  })
  expect(numbers).toEqual([
    ['hello', people, through, 0, 0],
    ['task', through, through - count('skip'), count('skip'), 0],
    ['gone', 0, 0, 0, through],
    ['people', through, through, 0, 0],
  ])
  // Only a few visitors report on elements, on behalf of all.
  expect(healthReports).toBeGreaterThan(2)
  expect(rejected).toBeLessThanOrEqual(3)
})
