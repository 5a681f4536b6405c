import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, type Numbers, Site, shown } from '../support/site.ts'

/** Many people each take their own way through a tour, under the limits that every organisation has. */

/** So many that each way is taken eight times, among all the others. */
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

/** How a person goes through the tour. */
const ways = ['complete', 'dismiss', 'skip', 'leave', 'reload', 'back'] as const
type Way = (typeof ways)[number]

const wayOf = (person: number): Way => ways[(person * 7 + Math.floor(person / 6)) % ways.length]!

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
  const limits = ['events', 'flows', 'fingerprint', 'health', 'heartbeat', 'status']
  const defaults = limits.flatMap(name => [`--${name}`, 'default'])
  await site.place.run(['org', 'limits', 'harbor', ...defaults])
})
afterAll(() => site.close())

async function go(person: number, desk: Page): Promise<void> {
  const way = wayOf(person)
  const page = way === 'leave' ? await desk.context().newPage() : desk
  await page.goto(`${site.url}/projects?as=person-${person}`)
  const { title, button, card } = shown(page)
  const at = (text: string) => title.getByText(text, { exact: true }).waitFor()
  await at('Hello')
  if (way === 'dismiss') {
    await button('Close').click()
  } else if (way !== 'leave') {
    await button('Next').click()
    await at('Add a task')
    if (way === 'reload') {
      await page.reload()
      await at('Add a task')
    }
    if (way === 'back') {
      await button('Back').click()
      await at('Hello')
      await button('Next').click()
      await at('Add a task')
    }
    if (way === 'skip') await button('Skip').click()
    else await page.getByRole('button', { name: 'Add a task' }).click()
    await at('People')
    await button('Done').click()
    await card.waitFor({ state: 'detached' })
  }
  // The browser stays open, so it still sends what a page handed to it on leaving. If a busy machine
  // killed the page at once, the next visit sends it.
  if (page !== desk) await page.close()
  if (page !== desk || way === 'dismiss') {
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

  const count = (...some: Way[]) =>
    Array.from({ length: people }, (_, person) => wayOf(person)).filter(way => some.includes(way))
      .length
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
