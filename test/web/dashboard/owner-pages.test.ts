import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Me } from '../../../src/modules/access/schema.ts'
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
  expect(await links.count()).toBe(20)
}

const say = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

test('people without access get no links to the pages; an owner reads how to become the operator', async () => {
  const { page, noticed } = await house.visit('/settings', { role: 'editor' })
  await page.getByText('No access').waitFor()
  expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0)
  // The page sends no request that the server would reject.
  await requireSound(page, noticed)
  const { page: owners } = await house.visit('/server')
  await owners.getByText('cairn dashboard link --role operator').waitFor()
  expect(await owners.getByRole('link', { name: 'Server' }).count()).toBe(0)
})

describe('settings', () => {
  test('the key is rotated, and the previous one is listed until its time is over', async () => {
    const { page } = await house.visit('/settings/keys')
    await page.getByText(house.snippetKey).waitFor()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await dialog(page).getByLabel('Keep the old one valid for').selectOption('168')
    await dialog(page).getByRole('button', { name: 'Rotate key' }).click()
    await say(page, 'Key rotated.')
    await page.getByRole('row').getByText(house.snippetKey).waitFor()
    const { stdout } = await house.place.run(['key', 'show', '--json'])
    const current = await page.locator('.code code').innerText()
    expect(stdout).toContain(current)
    expect(current).not.toBe(house.snippetKey)
    await page.getByRole('button', { name: 'Copy: Current key' }).click()
    await page.getByText(/Copied|Selected/).waitFor()
  })

  test('every section is visible and found by its fields; an invalid origin is reported and not saved', async () => {
    const { page, noticed } = await house.visit('/settings/origins')
    await resize(page, { width: 375, height: 900 })
    await page.getByRole('button', { name: 'Allowed origins' }).click()
    await requireLinksInSight(page)
    await resize(page, { width: 1_280, height: 900 })
    await requireLinksInSight(page)
    const links = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    await page.getByLabel('Search settings').fill('time zone')
    expect(await links.allInnerTexts()).toEqual(['General'])
    await page.getByLabel('Search settings').fill('nothing like this')
    await page.getByText('No matching settings').waitFor()
    const field = page.getByLabel('Allowed origins', { exact: true })
    await field.fill('https://app.example.com\nhttps://x.example.com/path')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText(/“https:\/\/x.example.com\/path”: an origin has no path/i).waitFor()
    expect(await dialog(page).count()).toBe(0)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await house.place.json(['org', 'settings'])).toMatchObject({ origins: [] })
    noticed.complaints.length = 0
    await requireSound(page, noticed)
  })

  test('a saved value is in its field before it is read again, and an older answer does not undo it', async () => {
    const { page } = await house.visit('/settings/origins')
    const field = page.getByLabel('Allowed origins', { exact: true })
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
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    isSaved = true
    await say(page, 'Saved.')
    expect(await field.inputValue()).toBe('https://app.example.com')
    late.resolve()
    await rest(page)
    expect(await field.inputValue()).toBe('https://app.example.com')
    await field.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByText('on every site that has your key').waitFor()
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await say(page, 'Saved.')
  })

  test('limits: an owner reads them, the operator sets them', async () => {
    const { page: owners } = await house.visit('/settings/limits', { role: 'owner' })
    const label = 'Snippet activity'
    expect(await owners.getByLabel(label).isDisabled()).toBe(true)
    expect(await owners.getByRole('button', { name: 'Save' }).count()).toBe(0)
    const { page } = await house.visit('/settings/limits', { role: 'operator' })
    const field = page.getByLabel(label)
    await field.fill('99999999')
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await field.fill('25')
    await page.getByRole('button', { name: 'Save' }).click()
    await say(page, 'Saved.')
    await owners.reload()
    await owners.getByText('Set by the operator. Default: 10.').waitFor()
    expect(await owners.getByLabel(label).inputValue()).toBe('25')
  })

  test('retention and Do Not Track are changed, and each change is confirmed', async () => {
    const { page } = await house.visit('/settings/retention')
    const days = page.getByLabel('Delete raw events after')
    const save = page.getByRole('button', { name: 'Save' })
    for (const wrong of ['0', '3651', 'a week']) {
      await days.fill(wrong)
      await days.blur()
      await page.getByText(/1 .* 3,650/).waitFor()
      expect(await save.isDisabled()).toBe(true)
    }
    await days.fill('14')
    await save.click()
    await dialog(page).getByText('deleted permanently').waitFor()
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await say(page, 'Saved.')
    await page.getByRole('link', { name: 'Privacy', exact: true }).click()
    await page.getByLabel(/^Respect Do Not Track/).check()
    await save.click()
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await say(page, 'Saved.')
    expect(await house.place.json(['org', 'settings'])).toMatchObject({
      ...{ retentionDays: 14, honoursDoNotTrack: true },
    })
    // A field that is emptied returns to its default.
    await page.getByRole('link', { name: 'Retention', exact: true }).click()
    await days.fill('')
    await save.click()
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await say(page, 'Saved.')
    expect(await house.place.json(['org', 'settings'])).toMatchObject({ retentionDays: null })
  })

  test('identity: the first secret is shown once, and the new mode is confirmed', async () => {
    const { page } = await house.visit('/settings/identity')
    await page.getByRole('button', { name: 'Change mode' }).click()
    await dialog(page)
      .getByLabel(/^Observe/)
      .check()
    await dialog(page).getByRole('button', { name: 'Switch to observe' }).click()
    await say(page, 'The mode is observe.')
    await page.getByText('Copy your new secret now').waitFor()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await dialog(page).getByRole('button', { name: 'Rotate secret' }).click()
    await say(page, 'The previous one is valid until')
    await page.reload()
    await page.getByText('Previous', { exact: true }).waitFor()
    expect(await page.getByText('Copy your new secret now').count()).toBe(0)
  })

  test('a token is made, shown once, works, and is revoked', async () => {
    const { page } = await house.visit('/settings/tokens')
    await page.getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByLabel('Name').fill('CI')
    await dialog(page)
      .getByLabel(/See flows/)
      .check()
    await dialog(page).getByRole('button', { name: 'Create token' }).click()
    await say(page, 'Created “CI”.')
    const text = await page.locator('.code code').innerText()
    const use = () =>
      fetch(`${house.server.url}/api/v1/manage/flows`, {
        headers: { authorization: `Bearer ${text}` },
      })
    expect((await use()).status).toBe(200)
    expect(await hardToUse(page)).toEqual([])
    await page.getByRole('button', { name: 'Revoke “CI”' }).click()
    await dialog(page).getByRole('button', { name: 'Revoke' }).click()
    await say(page, 'Revoked “CI”.')
    expect((await use()).status).toBe(401)
    await page.getByLabel('Show expired and revoked tokens').check()
    expect(new URL(page.url()).search).toBe('?ended=1')
    await page.getByRole('link', { name: 'See creator' }).click()
    await page.getByText('Revoked a token').waitFor()
    expect(new URL(page.url()).pathname).toEndWith('/settings/audit')
  })

  test('an assistant gets an address, a token that writes drafts, and the lines for its client', async () => {
    const { page } = await house.visit('/settings/assistant')
    await page.getByText(`${house.server.url}/mcp`, { exact: true }).waitFor()
    await page.getByText(/claude mcp add .*Bearer TOKEN/).waitFor()
    await page.getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByRole('button', { name: 'Create token' }).click()
    await page.getByText('It is shown only once').waitFor()
    const token = await page.locator('.shown-once code').innerText()
    await page.getByText(new RegExp(`claude mcp add .*Bearer ${token}`)).waitFor()
    expect(await hardToUse(page)).toEqual([])
    const response = await fetch(`${house.server.url}/api/v1/manage/me`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { name, scopes } = (await response.json()) as { name: string; scopes: string[] }
    expect(name).toBe('Assistant')
    expect(scopes.toSorted()).toEqual(['analytics:read', 'flows:read', 'flows:write'])
  })
})

test('the audit log shows a change in words, not in JSON', async () => {
  const manage = await house.manager('flows:write')
  const rule = { attribute: 'plan', op: 'eq', value: 'free' }
  const filter = { rules: [rule], flows: [{ flow: 'welcome', outcome: 'dismissed' }] }
  await manage('POST', '/segments', { name: 'Free and gone', filter })
  const { page } = await house.visit('/settings/audit?subject=Free+and+gone')
  const line = page.getByRole('row', { name: 'Created a segment' })
  await line.getByText('filter plan is free, welcome: dismissed').waitFor()
})

test('a change of settings is under the organisation’s name, which finds it', async () => {
  const manage = await house.manager('settings:write')
  await manage('PATCH', '/settings', { retentionDays: 81 })
  const { name } = (await manage<Me>('GET', '/me')).organisation
  const { page } = await house.visit('/settings/audit')
  const line = page.getByRole('row', { name: 'Changed settings' }).first()
  await line.getByText(/retention, days from .+ to 81/).waitFor()
  await line.getByRole('link', { name }).click()
  await page.waitForURL(/subject=org_/)
  const search = page.getByRole('searchbox', { name: 'Changes of' })
  expect(await search.inputValue()).toBe(name)
  await page.getByRole('button', { name: 'Show all' }).click()
  await search.fill(name)
  await search.press('Enter')
  await page.waitForURL(/subject=org_/)
  await line.waitFor()
})

test('the audit log is filtered by subject and split into pages, each with an address', async () => {
  const { page } = await house.visit('/settings/audit?subject=welcome')
  await page.getByText('Pushed and published').waitFor()
  expect(await page.getByText('Signed in').count()).toBe(0)
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByText('Signed in').first().waitFor()
  const lines = await house.place.json<{ line: number }[]>(['audit'])
  await page.getByRole('row').nth(lines.length).waitFor()
  await page.goBack()
  expect(new URL(page.url()).search).toBe('?subject=welcome')
  await page.goto(house.at(`/settings/audit?before=${lines[0]!.line}`))
  await page.getByRole('link', { name: 'Newest' }).click()
  expect(new URL(page.url()).search).toBe('')
  await page.goto(house.at('/settings/audit?subject=nobody'))
  await page.getByText('No matching changes').waitFor()
  await page.goto(house.at('/settings/audit?before=nonsense'))
  await page.getByText('Unknown filter').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('Pushed and published').first().waitFor()
})

describe('the server', () => {
  test('has a short address, and says whether it is ready', async () => {
    const { page, noticed } = await house.enter({ role: 'operator' })
    await page.goto(`${house.server.url}/dashboard/server`)
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/dashboard/harbor/server')
    await page.getByText('No backups are scheduled.').waitFor()
    await requireSound(page, noticed)
  })

  test('shows the state of each node, and that the rate limit server is unreachable', async () => {
    const { page } = await house.enter({ role: 'operator' })
    await page.route('**/manage/server', async route => {
      const response = await route.fetch()
      const shared = { isShared: true, limitsServer: { isAway: true } }
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
    await page.getByText('counts rate limits is unreachable').waitFor()
    const nodes = page.getByRole('table', { name: 'Nodes' })
    await nodes.getByRole('row', { name: /a:1.*running/ }).waitFor()
    await nodes.getByRole('row', { name: /b:2.*silent.*17/ }).waitFor()
    await page.getByText('PostgreSQL’s own tools').waitFor()
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
    await dialog(page).getByRole('button', { name: 'Retry events' }).click()
    await say(page, '1 stored')
    await page.getByRole('button', { name: 'Drop all' }).click()
    await dialog(page).getByText('cannot undo this').waitFor()
    await dialog(page).getByRole('button', { name: 'Drop events' }).click()
    await say(page, '1 dropped')
    await page.getByText('No dead letters').waitFor()
    const { stdout } = await house.place.run(['person', 'export', 'ann', '--org', 'harbor'])
    expect(stdout).toContain('refused-one')
    expect(stdout).not.toContain('refused-two')
  })
})
