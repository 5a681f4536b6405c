import { expect } from 'bun:test'
import { createHmac } from 'node:crypto'
import { until } from '../../scripts/support/until.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Pages of an organisation that requires proof of who is there. */

const flowOf = (key: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps: [{ key: one, kind: modal, title: One }]
`
const list = `
- key: list
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/projects?case=list" }] }
  steps: []
  checklist: { items: [{ key: photo, title: Photo, completeOn: { event: photo_added } }, { key: team, title: Team }] }
`

let site: Site
let secret = ''
beforeAll(async () => {
  site = await Site.open(flowOf('proven') + flowOf('late') + list)
  const { secrets } = await site.place.json<{ secrets: { secret: string }[] }>([
    'org',
    'identity',
    'harbor',
    '--mode',
    'enforce',
  ])
  secret = secrets[0]!.secret
})
afterAll(() => site.close())

const right = (person: string) => createHmac('sha256', secret).update(person).digest('hex')

/** Identifies a person as a page does that has the hash from its back end. */
const identify = (page: Page, person: string, userHash: string) =>
  page.evaluate(
    ([person, hash]) => {
      type Identify = (userId: string, traits: object, userHash: string) => void
      const { cairn } = window as never as { cairn: { identify: Identify } }
      cairn.identify(person, {}, hash)
    },
    [person, userHash] as const,
  )

const open = async (name: string) => {
  const visitor = await site.visit(`/projects?case=${name}`, { clock: true })
  return { ...visitor, ...shown(visitor.page) }
}

test('events and progress carry the hash, and are accepted', async () => {
  const { page, person, title, button, noticed } = await open('proven')
  await title.getByText('One').waitFor()
  const refused: string[] = []
  page.on('response', response => {
    if (response.status() >= 400) refused.push(response.url())
  })
  await identify(page, person, right(person))
  await button('Done').click()
  await allSent(page)
  await site.until('proven', ({ totals }) => totals.completions === 1)
  // Until the page says otherwise, the snippet remembers the person and their hash.
  await page.goto(`${site.url}/projects?case=list`)
  const progress = () => noticed.requests.find(url => url.includes('/checklist-progress')) ?? ''
  expect(new URL(await until(progress)).searchParams.get('userHash')).toBe(right(person))
  await rest(page)
  expect(refused).toEqual([])
})

test('events from before the page knew the hash are proven once it does', async () => {
  const { page, person, title, button } = await open('late')
  await button('Done').click()
  await title.waitFor({ state: 'detached' })
  await identify(page, person, right(person))
  await allSent(page)
  const { totals } = await site.until('late', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, completions: 1 })
})

test('without the right hash nothing is counted, and tours are shown all the same', async () => {
  const before = (await site.numbers('late')).totals
  const { page, person, title, button } = await open('late')
  await title.waitFor()
  await identify(page, person, 'f'.repeat(64))
  await button('Done').click()
  await title.waitFor({ state: 'detached' })
  const answered = page.waitForResponse(response => response.url().endsWith('/events'))
  await pass(page, 6_000)
  expect((await answered).ok()).toBe(false)
  await page.close()
  expect((await site.numbers('late')).totals).toEqual(before)
})

test('a wrong hash is reported in the console with its own message, and holds up nothing else', async () => {
  const { page, person, noticed } = await open('list')
  const { panel } = shown(page)
  await panel.waitFor()
  const events = page.waitForResponse(
    response => response.url().endsWith('/events') && response.status() === 401,
  )
  await identify(page, person, 'f'.repeat(64))
  // Before anything of theirs is reported.
  const told = () => noticed.complaints.filter(text => text.startsWith('cairn: '))
  await until(() => told().length > 0)
  await page.evaluate(() =>
    (window as never as { cairn: { track(n: string): void } }).cairn.track('x'),
  )
  await pass(page, 6_000)
  await events
  // The flows can still be loaded, without the user, because their bucket is not paused.
  await page.reload()
  await panel.waitFor()
  expect(new Set(told())).toEqual(
    new Set(['cairn: refused (401): the user hash is missing or wrong ("cairn org identity")']),
  )
})

test('the hash of a person who has signed out is kept nowhere in the browser', async () => {
  const { page } = await site.visit('/home')
  const hash = right('leaver')
  const told = page.waitForResponse(response => response.url().includes(hash))
  await identify(page, 'leaver', hash)
  expect((await told).status()).toBe(200)
  const kept = () => page.evaluate(() => JSON.stringify({ ...localStorage }))
  // By now the flows are stored as loaded for this person.
  await page.waitForFunction(() =>
    Object.entries(localStorage).some(([k, v]) => k.endsWith(':flows') && v.includes('leaver')),
  )
  await page.evaluate(() => (window as never as { cairn: { reset(): void } }).cairn.reset())
  expect(await kept()).not.toContain(hash)
})
