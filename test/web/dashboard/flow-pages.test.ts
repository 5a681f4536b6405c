import { expect } from 'bun:test'
import type { Flow } from '../../../src/core/flow/flow.ts'
import type { Page } from '../../support/browser.ts'
import { DashboardHouse, hardToUse, type Manage, requireSound } from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

/** Health, versions and runs of a flow: they show what the API says, and ask before they change anything. */

let house: DashboardHouse
let manage: Manage

beforeAll(async () => {
  house = await DashboardHouse.open()
  manage = await house.manager('flows:read', 'flows:write', 'flows:publish', 'analytics:read')
  await report()
})
afterAll(() => house.close())

const element = {
  ...{ matchCount: 1, tag: 'button', role: 'button', name: 'New project', text: 'New project' },
  ancestors: [{ tag: 'header' }],
}

/** Six people miss the second step's element, and two looks suggest another selector; three find the third's. */
async function report(): Promise<void> {
  const { steps } = await house.flow('welcome')
  const tell = async (step: number, what: string, body: object) => {
    const url = 'https://app.example/projects?secret=1'
    const sent = { url, locale: 'en', flowVersion: 1, ...body }
    const answer = await house.ask('POST', `/steps/${steps[step]!.id}/${what}`, sent)
    if (!answer.ok) throw new Error(await answer.text())
  }
  const print = { ...element, selector: '#new' }
  await tell(1, 'fingerprint', { fingerprint: print })
  await tell(1, 'fingerprint', { fingerprint: { ...print, name: 'Add a project' } })
  const candidates = [{ ...element, selector: '#create' }]
  await tell(1, 'fingerprint', { fingerprint: null, candidates })
  const seen = { ...print, name: 'Create', role: 'link' }
  await tell(1, 'fingerprint', { fingerprint: seen, candidates })
  for (const person of [1, 2, 3, 4, 5, 6]) {
    const message = 'No element after waiting'
    await tell(1, 'health', { outcome: 'not_found', userId: `p${person}`, message })
    if (person > 3) await tell(2, 'health', { outcome: 'found', userId: `p${person}` })
  }
}

interface Draft {
  etag: string
  definition: { name: string; steps: { key: string; title: string; target: unknown }[] }
}

/** What the second step of the draft points at. */
const targetOfDraft = async () =>
  (await manage<Draft>('GET', '/flows/welcome/draft')).definition.steps[1]!.target

/** Gives the first step of the draft another title, as somebody else would. */
async function editDraft(title: string): Promise<void> {
  const { etag, definition } = await manage<Draft>('GET', '/flows/welcome/draft')
  definition.steps[0]!.title = title
  await manage('PUT', '/flows/welcome/draft', definition, etag)
}

const versionOf = async () => {
  const { versions } = await manage<{ versions: { version: number; note: string | null }[] }>(
    'GET',
    '/flows/welcome/versions',
  )
  return versions
}

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

const openTab = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Pages of this flow' })
    .locator('[aria-current=page]')
    .textContent()

describe('health', () => {
  test('shows the state, the people and the element of each step; a viewer cannot change anything', async () => {
    const { page } = await house.visit('/flows/welcome/health')
    await page.getByText('1 of 2 steps needs attention. Not enough data for 1 step.').waitFor()
    const lost = section(page, 'Start a project')
    expect(await openTab(page)).toBe('Health')
    const text = await lost.innerText()
    for (const said of [
      ...['Broken', 'Found for 0 of 6 people', 'not found for 6', 'No element after waiting'],
      ...['https://app.example/projects', '#create', 'latest pages'],
    ]) {
      expect(text).toContain(said)
    }
    expect(text).not.toContain('secret')
    const names = await lost.locator('table.element tr').allInnerTexts()
    const row = (part: string) => names.find(name => name.startsWith(part))!
    expect(row('Name')).toMatch(/New project\s+Create\s+changed/)
    expect(row('Role')).toMatch(/button\s+link\s+changed/)
    expect(row('Tag')).not.toContain('changed')
    await section(page, 'Invite your team')
      .getByText('3 of 5 people in the last 24 hours, with version 1')
      .waitFor()
    await section(page, 'Hello').getByText('No element to monitor').waitFor()
    // What is broken comes first, before steps that have no element.
    expect(await page.locator('section.step h2').allInnerTexts()).toEqual([
      ...['Start a project', 'Invite your team', 'Hello'],
    ])

    const { page: viewers } = await house.visit('/flows/welcome/health', { role: 'viewer' })
    await viewers.getByText('Suggested selector').waitFor()
    expect(await viewers.getByRole('button', { name: /Use in draft|snapshot/ }).count()).toBe(0)
  })

  test('shows the element that opens a resource centre, and leads to the editor', async () => {
    const centre = `key: own-help
kind: launcher
launcher: { target: "#help", items: [{ key: docs, title: Docs, href: /docs }] }
`
    await Bun.write(house.place.path('own-help.yaml'), centre)
    await house.place.run(['flows', 'push', 'own-help.yaml', '--publish'])
    const { flows } = (await (await house.ask('GET', '/flows')).json()) as { flows: Flow[] }
    const first = flows.find(({ key }) => key === 'own-help')?.launcher?.items[0]
    for (let person = 0; person < 6; person++) {
      const report = { outcome: 'not_found', userId: `p${person}` }
      await house.ask('POST', `/steps/${first?.id}/health`, report)
    }
    const { page } = await house.visit('/flows/own-help/health')
    const opener = section(page, 'Element that opens it')
    await opener.getByText('Broken', { exact: true }).first().waitFor()
    expect(await opener.innerText()).toContain('Found for 0 of 6 people')
    expect(await opener.getByText('Suggested selector').count()).toBe(0)
    await opener.getByRole('link', { name: 'Edit flow' }).click()
    await page.waitForURL('**/flows/own-help/edit')
  })

  test('has the draft remember what the element was like', async () => {
    const { page } = await house.visit('/flows/welcome/health')
    const lost = section(page, 'Start a project')
    await lost.getByRole('button', { name: 'Save element snapshot' }).click()
    const pinning = page.getByRole('dialog', { name: /Save the element snapshot/ })
    await pinning.getByRole('button', { name: 'Save snapshot' }).click()
    await page.getByRole('status').getByText('Snapshot saved in the draft.').waitFor()
    await lost.getByRole('button', { name: 'Save element snapshot' }).waitFor({ state: 'detached' })
    const fingerprint = { tag: 'button' }
    expect(await targetOfDraft()).toMatchObject({ selector: '#new', fingerprint })
  })
})

describe('versions', () => {
  test('publishing shows the changes, sends only what was read, and says who changed it since', async () => {
    await editDraft('Hello there')
    const { page } = await house.visit('/flows/welcome/versions')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: /^Publish version \d+\?$/ })
    await dialog.getByText('title: Hello there').waitFor()
    await dialog.getByText('Every page').waitFor()
    expect(await dialog.locator('.diff .added', { hasText: 'Hello there' }).innerText()).toContain(
      'Added:',
    )
    expect(await hardToUse(page)).toEqual([])
    const before = (await versionOf())[0]!.version
    await editDraft('Hello again')
    await dialog.getByLabel('Note').fill('For the spring release')
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await dialog.getByText(/Robot.* changed the draft/).waitFor()
    await dialog.getByText('title: Hello again').waitFor()
    expect((await versionOf())[0]!.version).toBe(before)
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page
      .getByRole('status')
      .getByText(`Version ${before + 1} is live.`)
      .waitFor()
    const [newest] = await versionOf()
    expect(newest).toMatchObject({ version: before + 1, note: 'For the spring release' })
    await page.getByRole('row', { name: /For the spring release/ }).waitFor()
    await page.getByText('No unpublished changes').waitFor()
  })

  test('a review counts whom a flow is for, names what it competes with, and begins with a share', async () => {
    const about = { targeting: { urls: [{ match: 'prefix', pattern: '/spring' }] } }
    const step = { key: 'one', kind: 'modal', title: 'One' }
    const key = 'reviewed'
    await manage('POST', '/push', { flows: [{ key, name: 'Reviewed', ...about, steps: [step] }] })
    const { page, noticed } = await house.visit(`/flows/${key}/versions`)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Publish version 1?' })
    await dialog.getByText(/^0 of \d+ people of the last 7 days/).waitFor()
    await dialog.getByRole('link', { name: 'Welcome tour' }).waitFor()
    await dialog.getByText('same priority').first().waitFor()
    await dialog.getByRole('button', { name: 'Preview on page' }).waitFor()
    await requireSound(page, noticed)
    await dialog.getByLabel('Show it to').selectOption('10')
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('status').getByText('Version 1 is live.').waitFor()
    const { definition } = await manage<Draft & { definition: object }>(
      'GET',
      `/flows/${key}/versions/1`,
    )
    expect(definition).toMatchObject({ rollout: { percent: 10 }, ...about })
    await manage('POST', `/flows/${key}/archive`, {})
  })

  test('any two are compared as the address says, and Back undoes a choice', async () => {
    const { page } = await house.visit('/flows/welcome/versions?from=1&to=2')
    const lines = page.locator('.diff li')
    await lines.first().waitFor()
    const { diff } = await manage<{ diff: string }>('GET', '/flows/welcome/diff?from=1&to=2')
    const told = (kind: string) =>
      diff
        .split('\n')
        .slice(2)
        .filter(line => line.startsWith(kind))
    expect(await page.locator('.diff .added').count()).toBe(told('+').length)
    expect(await page.locator('.diff .removed').count()).toBe(told('-').length)
    await page.getByLabel('From', { exact: true }).selectOption('2')
    await page.getByText('No differences').waitFor()
    expect(new URL(page.url()).search).toBe('?from=2&to=2')
    await page.goBack()
    await lines.first().waitFor()
    await page.getByRole('link', { name: 'Stop comparing' }).click()
    await lines.first().waitFor({ state: 'detached' })
  })

  test('discards a draft, and rolls back to an older version as a new one', async () => {
    await editDraft('A mistake')
    const { page } = await house.visit('/flows/welcome/versions')
    await page.getByRole('button', { name: 'Discard draft' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Discard draft' }).click()
    await page.getByRole('status').getByText('Draft discarded.').waitFor()
    const before = (await versionOf())[0]!.version
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    await dialog.getByText('title: Hello again').waitFor()
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    const sentence = `Version 1 is live again, as version ${before + 1}.`
    await page.getByRole('status').getByText(sentence).waitFor()
    const { diff } = await manage<{ diff: string }>(
      'GET',
      `/flows/welcome/diff?from=1&to=${before + 1}`,
    )
    expect(diff).toBe('')
  })

  test('unpublishes, archives and republishes a flow, and reports a busy or unreachable server', async () => {
    const { page } = await house.visit('/flows/news/versions')
    await page.getByRole('button', { name: 'Unpublish' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Visitors stop seeing it on their next page').waitFor()
    await dialog.getByRole('button', { name: 'Unpublish' }).click()
    await page.getByRole('status').getByText('Unpublished.').waitFor()
    // One button is left, and what it belongs to has a name of its own.
    const part = page.getByRole('region', { name: 'Stop using this flow' })
    await page.getByRole('button', { name: 'Unpublish' }).waitFor({ state: 'detached' })
    expect(await part.getByRole('button').allInnerTexts()).toEqual(['Archive'])
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByRole('heading', { name: 'Not published' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Version 1 is not shown' }).waitFor()
    const publish = page.getByRole('button', { name: 'Publish', exact: true })
    await publish.click()
    await dialog.getByText('Visitors get it on their next page').waitFor()
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('status').getByText('Version 1 is live.').waitFor()

    await page.getByRole('button', { name: 'Archive' }).click()
    const archive = dialog.getByRole('button', { name: 'Archive' })
    const path = '**/api/v1/manage/flows/news/archive'
    const json = { error: 'Busy', code: 'overloaded' }
    await page.route(path, route => route.fulfill({ status: 503, json }), { times: 1 })
    await archive.click()
    await dialog.getByText('Server busy.').waitFor()
    await page.route(path, route => route.abort(), { times: 1 })
    await archive.click()
    await dialog.getByText('Server unreachable.').waitFor()
    await archive.click()
    await page.getByRole('status').getByText('Archived.').waitFor()
    await publish.click()
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('status').getByText('Version 1 is live.').waitFor()
  })

  test('a viewer can read the ledger, but not change anything', async () => {
    const { page } = await house.visit('/flows/welcome/versions', { role: 'viewer' })
    await page.getByRole('row', { name: /For the spring release/ }).waitFor()
    expect(await openTab(page)).toBe('Versions')
    const changing = /Publish|Discard|Roll back|Unpublish|Archive/
    expect(await page.getByRole('button', { name: changing }).count()).toBe(0)
  })
})

describe('runs', () => {
  test('are those of the API, and are filtered by how they ended', async () => {
    const { page } = await house.visit('/flows/welcome/runs?tz=UTC')
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    expect(await openTab(page)).toBe('Runs')
    expect(await rows.count()).toBe(40)
    const { runs } = await manage<{ runs: { userId: string; outcome: string }[] }>(
      'GET',
      '/flows/welcome/runs',
    )
    const named = (await rows.locator('th').allInnerTexts()).map(text => text.trim())
    expect(named).toEqual(runs.map(({ userId }) => userId))
    await page.getByText('Completed 16').click()
    await page.waitForURL(/outcome=completed/)
    await page.locator('tbody tr', { hasText: 'Dismissed' }).first().waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(16)
    await page.goBack()
    await page.locator('tbody tr', { hasText: 'Dismissed' }).first().waitFor()
    expect(await rows.count()).toBe(40)
  })

  test('are listed in pages that have addresses; a range without runs says so', async () => {
    const { id: flowId } = await house.flow('news')
    await house.send(
      Array.from({ length: 60 }, (_, i) => ({
        ...{ kind: 'flow_started', flowId, userId: `reader-${i}`, runId: `r-${i}` },
        occurredAt: new Date(Date.now() - i * 60_000).toISOString(),
      })),
    )
    const { page } = await house.visit('/flows/news/runs?tz=UTC')
    const rows = page.locator('tbody tr')
    await rows.nth(49).waitFor()
    await page.getByRole('link', { name: 'Earlier runs' }).click()
    await page.getByText('reader-59').waitFor()
    expect(await rows.count()).toBe(10)
    expect(new URL(page.url()).searchParams.has('after')).toBe(true)
    expect(await hardToUse(page)).toEqual([])
    await page.getByRole('link', { name: 'Latest runs' }).click()
    await page.getByText('reader-0', { exact: true }).waitFor()
    expect(await rows.count()).toBe(50)
    await page.goto(house.at('/flows/welcome/runs?from=2001-01-01&to=2001-01-31&tz=UTC'))
    await page.getByRole('heading', { name: 'No runs' }).waitFor()
  })
})
