import { expect } from 'bun:test'
import type { Static } from '@sinclair/typebox'
import type { Activity } from '../../../src/storage/interfaces/events.ts'
import type { ListedFlow } from '../../support/binary.ts'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, requireSoundOnEveryScreen } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The page shows events as they arrive, as the API lists them and with the verdict that the sender got. */

let house: DashboardHouse
let welcome: ListedFlow
let sent = 0

beforeAll(async () => {
  house = await DashboardHouse.open()
  welcome = await house.flow('welcome')
})
afterAll(() => house.close())

/** Sends events that get each of the verdicts, under ids of their own. */
async function sendThree(userId = 'ann-lee'): Promise<string> {
  const id = `sent-${++sent}`
  const url = `https://app.example/projects/${id}`
  const viewed = { kind: 'step_viewed', userId, flowId: welcome.id, url }
  const stepId = welcome.steps[0]!.id
  const answer = await house.ask('POST', '/events', {
    events: [
      { ...viewed, stepId, id },
      { ...viewed, stepId, id },
      { ...viewed, stepId: 'step_of_no_flow' },
      { kind: 'custom', name: `order ${id}`, anonymousId: 'browser-1', url },
    ],
  })
  expect(await answer.json()).toMatchObject({ accepted: 2, duplicates: 1, rejected: 1 })
  return id
}

/** The page, once it is watching for events. */
async function opened(query = '', options: Parameters<DashboardHouse['visit']>[1] = {}) {
  const visited = await house.visit(`/activity${query}`, options)
  await visited.page.getByText(/Events since .*, newest first/).waitFor()
  return visited
}

const rowsOf = (page: Page): Promise<string[][]> =>
  page.evaluate(
    "[...document.querySelectorAll('.event-table tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))",
  )

test('without events the page says what to do, and links a new organisation to its installation', async () => {
  const { page } = await opened('?flow=welcome')
  await page.getByRole('heading', { name: 'Waiting for events' }).waitFor()
  expect(await page.getByText('No event has arrived yet.').count()).toBe(0)
  await page.route('**/manage/install', async route => {
    const response = await route.fetch()
    const installation = (await response.json()) as { stages: { firstAt: string | null }[] }
    for (const stage of installation.stages) stage.firstAt = null
    await route.fulfill({ response, json: installation })
  })
  await page.reload()
  await page.getByText('No event has arrived yet.').waitFor()
  await page.getByRole('link', { name: 'Check installation' }).waitFor()
})

test('the page shows events as they arrive, as the API returns them, until their person is erased', async () => {
  const { page, noticed } = await opened()
  const [answer] = await Promise.all([
    page.waitForResponse(async response => {
      if (!response.url().includes('/manage/activity?after=')) return false
      return ((await response.json()) as Static<typeof Activity>).events.length === 4
    }),
    sendThree('bob-ray'),
  ])
  const { events } = (await answer.json()) as Static<typeof Activity>
  await page.getByText(`order sent-${sent}`).waitFor()
  const rows = (await rowsOf(page)).slice(0, 4).toReversed()
  for (const [i, event] of events.entries()) {
    const [kind, , verdict, flow, url, person] = rows[i]!
    expect(kind!.toLowerCase()).toStartWith(event.kind!.replaceAll('_', ' '))
    expect(verdict!.toLowerCase()).toStartWith(event.verdict)
    if (event.message) expect(verdict).toContain(event.message)
    expect(flow).toStartWith(event.flowKey ? welcome.name : '')
    expect(url).toBe(event.url ?? '')
    expect(person).toContain(event.userId ?? event.anonymousId!)
  }
  await requireSoundOnEveryScreen(page, noticed)
  const erased = await house.place.run(['person', 'erase', 'bob-ray', '--org', 'harbor', '--yes'])
  expect([erased.status, erased.stderr]).toEqual([0, expect.any(String)])
  await page.getByText('bob-ray').first().waitFor({ state: 'detached' })
})

test('filters are kept in the address, and Back undoes them', async () => {
  const { page } = await opened('?kind=custom')
  const id = await sendThree()
  await page.getByText(`order ${id}`).waitFor()
  const column = async (place: number) => (await rowsOf(page)).map(cells => cells[place]!)
  for (const kind of await column(0)) expect(kind).toStartWith('Custom event')
  await page.getByLabel('Event', { exact: true }).selectOption('')
  await page.getByText('Rejected', { exact: true }).first().click()
  await page
    .getByText(/stepId/)
    .first()
    .waitFor()
  for (const verdict of await column(2)) expect(verdict).toStartWith('Rejected')
  expect(new URL(page.url()).search).toBe('?verdict=rejected')
  await page.getByLabel('Flow').selectOption('news')
  await page.getByText(/None of the \d+ events that arrived match/).waitFor()
  await page.goBack()
  await page
    .getByText(/stepId/)
    .first()
    .waitFor()
})

test('a paused page sends no requests, and Resume shows the events since', async () => {
  const { page, noticed } = await opened()
  await page.keyboard.press('Tab')
  const button = page.getByRole('button', { name: 'Pause' })
  await button.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Paused').waitFor()
  const requests = () => noticed.requests.filter(url => url.includes('/manage/activity')).length
  const before = requests()
  const id = await sendThree()
  // Another page that watches shows it and keeps polling, so this one would have polled as well.
  const { page: other, noticed: others } = await opened()
  await other.getByText(`order ${id}`).waitFor()
  const polls = () => others.requests.filter(url => url.includes('/manage/activity')).length
  const seen = polls()
  while (polls() < seen + 2) await other.waitForRequest(/manage\/activity/)
  expect(requests()).toBe(before)
  expect(await page.getByText(`order ${id}`).count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText(`order ${id}`).waitFor()
})

test('at the limit the seconds are counted down; a lost server is reported, and the page recovers', async () => {
  const { page } = await opened()
  const id = await sendThree()
  await page.getByText(`order ${id}`).waitFor()
  const { port } = new URL(house.server.url)
  await house.server.end('SIGKILL')
  await page.getByText('Server unreachable.').first().waitFor()
  expect(await page.getByText(`order ${id}`).count()).toBe(1)
  house.server = await house.place.serve(['--port', port])
  await page.getByText('Server unreachable.').first().waitFor({ state: 'detached' })
  const next = await sendThree()
  await page.getByText(`order ${next}`).waitFor()
  expect(await page.getByText(`order ${id}`, { exact: true }).count()).toBe(0)
  await house.place.run(['org', 'set', 'limits.manage', '1', '--org', 'harbor'])
  await page.getByText(/Retrying in \d+ seconds?\./).waitFor()
})
