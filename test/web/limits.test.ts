import { expect, setDefaultTimeout } from 'bun:test'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** A site with fifty visitors a minute, under the limits that every organisation has. */

setDefaultTimeout(300_000)

const visitors = 50
/** How many visitors come at the same time. */
const lanes = 5

const flows = `
- key: tour
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  steps:
    - { key: one, title: One, target: { selector: .task-add } }
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 30 } }
    - { key: three, title: Three, target: { selector: "#invite-people" } }
- key: list
  kind: checklist
  targeting: { urls: [{ match: prefix, pattern: /projects }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
  const limits = ['events', 'flows', 'fingerprint', 'health', 'heartbeat', 'status']
  const usual = limits.flatMap(name => [`--${name}`, 'default'])
  await site.place.run(['org', 'limits', 'harbor', ...usual])
})
afterAll(() => site.close())

test('fifty visitors in a minute see their tour, nothing is lost, and hardly any request is refused', async () => {
  const answers = new Map<string, number>()
  const refused = new Map<string, number>()
  let next = 0

  const visitor = async () => {
    const { page, forget } = await site.shared({
      reducedMotion: 'reduce',
      viewport: { width: 800, height: 600 },
    })
    page.on('response', response => {
      const route = response.url().match(/\/api\/v1\/(?:steps\/[^/]+\/)?([a-z]+)/)?.[1]
      if (!route || response.request().method() === 'OPTIONS') return
      const counts = response.status() === 429 ? refused : answers
      counts.set(route, (counts.get(route) ?? 0) + 1)
    })
    while (next < visitors) {
      const person = next++
      await forget()
      await page.goto(`${site.url}/projects?as=person-${person}`)
      const { title, button } = shown(page)
      await title.getByText('One').waitFor()
      await button('Next').click()
      await title.getByText('Three').waitFor()
      await button('Done').click()
      await title.getByText('Three').waitFor({ state: 'detached' })
      await allSent(page)
    }
  }
  await Promise.all(Array.from({ length: lanes }, visitor))

  const { totals } = await site.until('tour', ({ totals }) => totals.completions === visitors)
  expect(totals).toMatchObject({ starts: visitors, completions: visitors, dismissals: 0 })
  // Only a few visitors report on elements, on behalf of all.
  expect(answers.get('health')).toBeGreaterThan(2)
  const sum = [...refused.values()].reduce((all, count) => all + count, 0)
  expect(sum).toBeLessThanOrEqual(3)
})
