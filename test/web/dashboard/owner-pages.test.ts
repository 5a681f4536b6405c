import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import type { NodeList } from '../../../src/modules/operations/schema.ts'
import { type Page, rest } from '../../support/browser.ts'
import { DashboardHouse, hardToUse, requireSound, resize } from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { cure, poison } from '../../support/ledger.ts'

/** Settings, the audit log and the server: for owners, and for the operator. */

let house: DashboardHouse
beforeAll(async () => {
  house = await DashboardHouse.open()
})
afterAll(() => house.close())

const dialog = (page: Page) => page.getByRole('dialog')
/** Requires that no link to a section is covered or outside the window. */
async function requireLinksInSight(page: Page): Promise<void> {
  const links = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
  await links.first().waitFor()
  for (const link of await links.all()) {
    const { x, y, width, height } = (await link.boundingBox())!
    const at = `elementFromPoint(${x + width - 1}, ${y + height / 2}).closest('a')?.textContent`
    expect(await page.evaluate(`document.${at}`)).toBe(await link.innerText())
  }
  expect(await links.count()).toBe(15)
}

const say = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

test('people without access get no links to the pages; an owner reads how to become the operator', async () => {
  const { page, noticed } = await house.visit('/settings', { role: 'editor' })
  await page.getByText('No access').waitFor()
  expect(await page.getByRole('link', { name: /Settings|Audit/ }).count()).toBe(0)
  // The page sends no request that the server would reject.
  await requireSound(page, noticed)
  const { page: owners } = await house.visit('/server')
  await owners.getByText('cairn dashboard link --role operator').waitFor()
  expect(await owners.getByRole('link', { name: 'Server' }).count()).toBe(0)
  expect(await owners.getByRole('link', { name: 'Settings' }).count()).toBe(1)
})

describe('settings', () => {
  test('the key is rotated, and the previous one is listed until its time is over', async () => {
    const { page } = await house.visit('/settings')
    await page.getByText(house.snippetKey).waitFor()
    await page.getByRole('button', { name: 'Rotate the key…' }).click()
    await dialog(page).getByLabel('What is current now works for another').selectOption('168')
    await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click()
    await say(page, 'The key above is new.')
    await page.getByRole('row').getByText(house.snippetKey).waitFor()
    const { stdout } = await house.place.run(['key', 'show', '--json'])
    const current = await page.locator('.code code').innerText()
    expect(stdout).toContain(current)
    expect(current).not.toBe(house.snippetKey)
    await page.getByRole('button', { name: 'Copy: Current key' }).click()
    await page.getByText(/Copied|Selected/).waitFor()
  })

  test('every section is visible; an invalid origin is reported at its field and not saved', async () => {
    const { page, noticed } = await house.visit('/settings/origins')
    for (const width of [375, 1_280]) {
      await resize(page, { width, height: 900 })
      await requireLinksInSight(page)
    }
    const field = page.getByLabel('Origins', { exact: true })
    await field.fill('https://app.example.com\nhttps://x.example.com/path\napp.example.com')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByText(/“https:\/\/x.example.com\/path”: an origin has no path. “app.example.com”: write/)
      .waitFor()
    expect(await dialog(page).count()).toBe(0)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await requireSound(page, noticed)
  })

  test('a saved value is in its field before it is read again, and an older answer does not undo it', async () => {
    const { page } = await house.visit('/settings/origins')
    const field = page.getByLabel('Origins', { exact: true })
    await field.waitFor()
    await rest(page)
    const late = Promise.withResolvers<void>()
    let isSaved = false
    // A request from before the change gets the answer of that time, and gets it last.
    await page.route('**/manage/settings', async route => {
      if (route.request().method() === 'PATCH') return route.continue()
      const response = isSaved ? null : await route.fetch()
      await late.promise
      await (response ? route.fulfill({ response }) : route.continue())
    })
    const requested = page.waitForRequest('**/manage/settings')
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await requested
    await field.fill('https://app.example.com')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByRole('button', { name: 'Change origins' }).click()
    isSaved = true
    await say(page, 'The snippet may run at 1 origin now.')
    expect(await field.inputValue()).toBe('https://app.example.com')
    late.resolve()
    await rest(page)
    expect(await field.inputValue()).toBe('https://app.example.com')
    await page.getByText('Any origin may').waitFor({ state: 'detached' })
    await field.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByText('The snippet will run on every page').waitFor()
    await dialog(page).getByRole('button', { name: 'Change origins' }).click()
    await say(page, 'The snippet may run anywhere now.')
  })

  test('limits: an owner reads them, the operator sets them', async () => {
    const { page: owners } = await house.visit('/settings/limits', { role: 'owner' })
    await owners.getByText('cairn org set limits.events').waitFor()
    expect(await owners.getByRole('button', { name: /^Change/ }).count()).toBe(0)
    const { page } = await house.visit('/settings/limits', { role: 'operator' })
    await page.getByRole('button', { name: 'Change heartbeat' }).click()
    const field = dialog(page).getByLabel('Requests a minute')
    await field.fill('99999999')
    await dialog(page).getByRole('button', { name: 'Set the limit' }).click()
    await dialog(page).getByText('Must be at most').first().waitFor()
    await field.fill('25')
    await dialog(page).getByRole('button', { name: 'Set the limit' }).click()
    await say(page, 'The limit of heartbeat is 25 a minute now.')
    await owners.reload()
    await owners.getByRole('row', { name: /heartbeat.*10.*25/ }).waitFor()
  })

  test('retention and Do Not Track are changed, and each change is confirmed', async () => {
    const { page } = await house.visit('/settings/retention')
    await page.getByText('For a number of days').click()
    const days = page.getByRole('textbox', { name: 'Days' })
    for (const wrong of ['0', '3651', 'a week']) {
      await days.fill(wrong)
      await days.blur()
      await page.getByText('Must be a whole number of days, 1 to 3,650').waitFor()
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    }
    await days.fill('14')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByText('nothing brings them back').waitFor()
    await dialog(page).getByRole('button', { name: 'Change retention' }).click()
    await say(page, 'Raw events are kept for 14 days now.')
    await page.getByRole('link', { name: 'Privacy', exact: true }).click()
    await page.getByRole('button', { name: 'Honour them…' }).click()
    await dialog(page).getByRole('button', { name: 'Honour them' }).click()
    await say(page, 'are honoured now')
  })

  test('identity: the first secret is shown once, and the new mode is confirmed', async () => {
    const { page } = await house.visit('/settings/identity')
    await page.getByRole('button', { name: 'Change the mode…' }).click()
    await dialog(page)
      .getByLabel(/^Observe/)
      .check()
    await dialog(page).getByRole('button', { name: 'Switch to observe' }).click()
    await say(page, 'The mode is observe now.')
    await page.getByText('The new secret, shown this once').waitFor()
    await page.getByRole('button', { name: 'Rotate the secret…' }).click()
    await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click()
    await say(page, 'What was current works until')
    await page.reload()
    await page.getByText('The one before').waitFor()
    expect(await page.getByText('shown this once').count()).toBe(0)
  })

  test('a token is made, shown once, works, and is revoked', async () => {
    const { page } = await house.visit('/settings/tokens')
    await page.getByRole('button', { name: 'Make a token…' }).click()
    await dialog(page).getByLabel('Name').fill('CI')
    await dialog(page)
      .getByLabel(/See flows/)
      .check()
    await dialog(page).getByRole('button', { name: 'Make the token' }).click()
    await say(page, '“CI” works now.')
    const text = await page.locator('.code code').innerText()
    const use = () =>
      fetch(`${house.server.url}/api/v1/manage/flows`, {
        headers: { authorization: `Bearer ${text}` },
      })
    expect((await use()).status).toBe(200)
    expect(await hardToUse(page)).toEqual([])
    await page.getByRole('button', { name: 'Revoke “CI”' }).click()
    await dialog(page).getByRole('button', { name: 'Revoke' }).click()
    await say(page, '“CI” opens nothing any more.')
    expect((await use()).status).toBe(401)
    await page.getByLabel('Show those that have ended').check()
    expect(new URL(page.url()).search).toBe('?ended=1')
    await page.getByRole('link', { name: 'Who made it?' }).click()
    await page.getByText('Revoked a token').waitFor()
    expect(new URL(page.url()).pathname).toEndWith('/audit')
  })
})

test('the audit log is filtered by subject and split into pages, each with an address', async () => {
  const { page } = await house.visit('/audit?subject=welcome')
  await page.getByText('Pushed and published').waitFor()
  expect(await page.getByText('Signed in').count()).toBe(0)
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByText('Signed in').first().waitFor()
  const lines = await house.place.json<{ line: number }[]>(['audit'])
  await page.getByRole('row').nth(lines.length).waitFor()
  await page.goBack()
  expect(new URL(page.url()).search).toBe('?subject=welcome')
  await page.goto(house.at(`/audit?before=${lines[0]!.line}`))
  await page.getByRole('link', { name: 'Newest' }).click()
  expect(new URL(page.url()).search).toBe('')
  await page.goto(house.at('/audit?subject=nobody'))
  await page.getByText('Nothing like this was changed').waitFor()
  await page.goto(house.at('/audit?before=nonsense'))
  await page.getByText('Unknown filter').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('Pushed and published').first().waitFor()
})

describe('the server', () => {
  test('has a short address, and its figures match the metrics', async () => {
    const { page } = await house.enter({ role: 'operator' })
    await page.goto(`${house.server.url}/dashboard/server`)
    await page.getByText('Who sends').waitFor()
    expect(new URL(page.url()).pathname).toBe('/dashboard/harbor/server')
    const metrics = await (await fetch(`${house.server.managementUrl}/metrics`)).text()
    const [, stored = ''] = /cairn_events_total\{verdict="accepted"\} (\d+)/.exec(metrics) ?? []
    await page.getByText(`${stored} since the start`).waitFor()
    await page.getByText('Ready', { exact: true }).waitFor()
  })

  test('shows the state of each node, and that the rate limit server is unreachable', async () => {
    const { page } = await house.enter({ role: 'operator' })
    await page.route('**/manage/server', async route => {
      const response = await route.fetch()
      const shared = { isShared: true, limitsServer: { isAway: true, decidedAlone: 1_234 } }
      await route.fulfill({ response, json: { ...(await response.json()), ...shared } })
    })
    const node = { startedAt: new Date().toISOString(), release: '1.0.0', change: 7 }
    const list: NodeList = {
      ...{ isShared: true, change: 7 },
      nodes: [
        { ...node, name: 'a:1', state: 'running', silentSeconds: 1, jobs: ['retention'] },
        { ...node, name: 'b:2', state: 'silent', silentSeconds: 17, jobs: [] },
      ],
    }
    await page.route('**/manage/nodes', route => route.fulfill({ json: list }))
    await page.goto(house.at('/server'))
    await page.getByText('is away; 1,234 were decided without it').waitFor()
    const nodes = page.getByRole('table', { name: 'Nodes' })
    await nodes.getByRole('row', { name: /a:1.*running.*retention/ }).waitFor()
    await nodes.getByRole('row', { name: /b:2.*silent for 17/ }).waitFor()
    await page.getByText('by the tools of PostgreSQL').waitFor()
    expect(await hardToUse(page)).toEqual([])
  })

  test('dead letters are retried or dropped, each after confirmation', async () => {
    const database = new Database(join(house.place.folder, 'cairn-data/cairn.db'))
    database.run('pragma busy_timeout = 5000')
    poison(database, 'refused-')
    for (const name of ['refused-one', 'refused-two']) {
      await house.ask('POST', '/events', {
        events: [{ id: name, kind: 'custom', name, userId: 'ann' }],
      })
    }
    cure(database)
    database.close()
    const { page } = await house.visit('/server', { role: 'operator' })
    await page.getByRole('button', { name: 'Retry custom' }).first().click()
    await dialog(page).getByRole('button', { name: 'Retry' }).click()
    await say(page, '1 stored')
    await page.getByRole('button', { name: 'Drop all…' }).click()
    await dialog(page).getByText('Nothing brings it back').waitFor()
    await dialog(page).getByRole('button', { name: 'Drop' }).click()
    await say(page, '1 dropped')
    await page.getByText('the database has refused nothing').waitFor()
    const { stdout } = await house.place.run(['person', 'export', 'ann', '--org', 'harbor'])
    expect(stdout).toContain('refused-one')
    expect(stdout).not.toContain('refused-two')
  })
})
