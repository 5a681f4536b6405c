import { expect } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { AuthoredSite } from '../support/authored-site.ts'
import type { Noticed, Page } from '../support/browser.ts'
import { DashboardHouse, hardToUse } from '../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'

/** An author picks elements and previews drafts on a customer's page with a strict policy. */

let house: DashboardHouse
let site: AuthoredSite
let token: string
beforeAll(async () => {
  house = await DashboardHouse.open()
  site = new AuthoredSite(house.server, house.snippetKey)
  const made = ['token', 'create', 'CI', '--scope', 'flows:write']
  token = (await house.place.json<{ token: string }>(made)).token
})
afterAll(async () => {
  await site.stop()
  await house.close()
})

interface Session {
  id: string
  code: string
  typedCode: string
  openAddress: string
  state: string
  proposals: {
    element: string
    page: string
    mayNamePerson: boolean
    isWrapper: boolean
    candidates: { selector: string; matchCount: number; grade: string }[]
    fingerprint: Record<string, unknown>
  }[]
}

async function manage(method: string, rest: string, body?: object): Promise<Session> {
  const response = await fetch(`${house.server.url}/api/v1/manage/author-sessions${rest}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.status === 204 ? (null as never) : ((await response.json()) as Session)
}

const begin = (path = '/projects') =>
  manage('POST', '', { flow: 'welcome', step: 'create', url: site.origin + path })

/** The panel as screen readers get it, because that is the one way into a closed shadow root. */
async function panelOf(page: Page): Promise<string> {
  const devtools = await page.context().newCDPSession(page)
  const { nodes } = await devtools.send('Accessibility.getFullAXTree')
  const named = nodes as { role?: { value: string }; name?: { value: string } }[]
  return named.map(({ role, name }) => `${role?.value} ${name?.value}`).join('\n')
}

async function reads(page: Page, text: string): Promise<void> {
  await until(
    () => panelOf(page),
    told => told.includes(text),
  )
}

/** A page of the site with a picker whose ticket has been redeemed. */
async function authored(
  options: Parameters<typeof house.browser.page>[0] = {},
  path = '/projects',
) {
  const session = await begin(path)
  const { page, noticed } = await house.browser.page(options)
  await Promise.all([page.waitForResponse(/\/author\/redeem$/), page.goto(session.openAddress)])
  await reads(page, 'Point at an element')
  return { session, page, noticed }
}

/** Clicks by moving the mouse, because the element under it gets no events. */
async function click(page: Page, name: string): Promise<void> {
  await clickAt(page, (await page.getByRole('button', { name }).first().boundingBox())!)
}

async function clickAt(
  page: Page,
  box: { x: number; y: number; width: number; height: number },
): Promise<void> {
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await Promise.all([
    page.waitForResponse(/\/author\/picks$/),
    (async () => {
      await page.mouse.down()
      await page.mouse.up()
    })(),
  ])
}

const latest = async ({ id }: Session) => (await manage('GET', `/${id}`)).proposals.at(-1)!
const clicksOn = (page: Page) => page.evaluate('window.clicks') as Promise<string[]>
const toCairn = ({ requests }: Noticed) =>
  requests
    .filter(url => url.startsWith(house.server.url))
    .map(url => url.slice(house.server.url.length).replace(/[?#].*|-[0-9a-f]{16}/g, ''))

test('a clicked element is proposed, with selectors and their grades, and the page gets no click', async () => {
  const { session, page, noticed } = await authored()
  expect(await panelOf(page)).toContain(`Code ${[...session.code].join(' ')}`)
  await click(page, 'New project')
  await reads(page, 'The dashboard has button “New project”')
  expect(await latest(session)).toMatchObject({
    element: 'button “New project”',
    page: `${site.origin}/projects`,
    mayNamePerson: false,
    candidates: [
      { selector: '[data-testid="new-project"]', matchCount: 1, grade: 'strong' },
      { selector: '#new', matchCount: 1, grade: 'strong' },
      { selector: '.primary', matchCount: 1, grade: 'fair' },
    ],
    fingerprint: { selector: '[data-testid="new-project"]', matchCount: 1, tag: 'button' },
  })
  // An element in an open shadow root, then one that is disabled and so gets no clicks.
  await click(page, 'More')
  expect((await latest(session)).candidates[0]).toMatchObject({ selector: '#more', matchCount: 1 })
  await click(page, 'Import')
  expect((await latest(session)).element).toBe('button “Import”')
  await click(page, 'Account of Ann Miller')
  const ofPerson = await latest(session)
  expect(ofPerson.mayNamePerson).toBe(true)
  expect(ofPerson.candidates[0]!.selector).toBe('.profile')
  await reads(page, 'may be the name of a person')
  expect(await clicksOn(page)).toEqual([])
  // The page's policy requires Trusted Types, and nothing violated it; no flow is in the way.
  expect(noticed.complaints).toEqual([])
})

test('what was given by hand is proposed first, then id, name, and role with a name', async () => {
  const { session, page } = await authored({}, '/given')
  const picked = async (name: string) => {
    const text = page.locator('main').getByText(name, { exact: true })
    await clickAt(page, (await text.boundingBox())!)
    const { candidates, isWrapper, element } = await latest(session)
    return {
      isWrapper,
      element,
      ...candidates[0]!,
      all: candidates.map(({ selector }) => selector),
    }
  }
  const found: [name: string, best: string, then?: string[]][] = [
    [
      'All',
      '[data-tour="a-a"]',
      ['[data-action="b-a"]', '[data-cy="c-a"]', '[data-name="door"]', '#a'],
    ],
    ['Export', '[data-feature="export-data"]', ['#b', 'button[name="n"]']],
    ['Save', 'button[name="save"]'],
    ['Usage', '[role="tab"][aria-label="Usage"]'],
    // The text in a button stands for the button.
    ['Pay now', '[data-action="pay"]'],
    // What several elements have is no name of one of them.
    ['Once', '#once'],
  ]
  for (const [name, best, then = []] of found) {
    const { selector, matchCount, isWrapper, all } = await picked(name)
    expect([name, selector, matchCount, isWrapper]).toEqual([name, best, 1, false])
    expect(all.slice(1, 1 + then.length)).toEqual(then)
  }
  expect((await picked('Inside')).selector).toStartWith('[data-testid="panel"]')
  await picked('Plans')
  // From the text up to what is around it and a button.
  await page.keyboard.press('ArrowUp')
  await Promise.all([page.waitForResponse(/\/author\/picks$/), page.keyboard.press('Enter')])
  expect(await latest(session)).toMatchObject({ isWrapper: true, element: 'div .around' })
})

test('the keyboard alone can pick, leave picking and return to it', async () => {
  const { session, page } = await authored()
  await page.keyboard.press('Tab')
  // From the first link up to the list that it is in, then along to the profile.
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowRight')
  await Promise.all([page.waitForResponse(/\/author\/picks$/), page.keyboard.press('Enter')])
  expect((await latest(session)).element).toBe('button “Account of Ann Miller”')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowDown')
  await Promise.all([page.waitForResponse(/\/author\/picks$/), page.keyboard.press('Enter')])
  expect((await latest(session)).element).toBe('link “Projects”')
  await page.keyboard.press('Escape')
  await reads(page, 'Clicks go to the page')
  // The focus is on the panel's own buttons by now; this leads back to picking.
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await reads(page, 'Point at an element')
  // Of the panel, the page only notices its host element.
  expect((await clicksOn(page)).filter(on => on !== 'div#')).toEqual([])
})

test('picking continues across pages, whether the router or the browser navigates', async () => {
  const { session, page, noticed } = await authored()
  await page.keyboard.press('Escape')
  await reads(page, 'Clicks go to the page')
  await page.getByRole('link', { name: 'Team' }).click()
  await page.getByRole('heading', { name: 'Team' }).waitFor()
  await Promise.all([page.waitForResponse(/\/author\/step$/), page.goto(`${site.origin}/team`)])
  await reads(page, 'Point at an element')
  await click(page, 'Invite your team')
  const picked = await latest(session)
  expect([picked.page, picked.candidates[0]!.selector]).toEqual([`${site.origin}/team`, '#invite'])
  expect(noticed.complaints).toEqual([])
})

test('the ticket is removed from the address at once, and nothing else of the page is sent', async () => {
  const session = await begin('/projects?filter=mine')
  const { page, noticed } = await house.browser.page()
  const sent: string[] = []
  page.on('request', request => {
    if (request.url().startsWith(house.server.url)) sent.push(request.postData() ?? '')
  })
  await Promise.all([page.waitForResponse(/\/author\/redeem$/), page.goto(session.openAddress)])
  expect(page.url()).toBe(`${site.origin}/projects?filter=mine`)
  expect(site.requests.join()).not.toContain('cairn-author')
  await reads(page, 'Point at an element')
  await click(page, 'New project')
  const all = sent.join('\n')
  expect(all).not.toContain('typed by a person')
  expect(all).not.toContain('filter=mine')
  expect(all).not.toContain('Website')
  // No tour begins, and none is counted, while its author is at work.
  expect(toCairn(noticed).toSorted()).toEqual([
    '/author/picks',
    '/author/redeem',
    '/snippet-author.js',
    // It has the hash that the picker is verified by.
    '/snippet-renderer.js',
    '/snippet.js',
  ])
})

test('the fragment that a router uses stays as it was', async () => {
  const session = await begin('/projects#/board/7')
  const { page } = await house.browser.page()
  await Promise.all([page.waitForResponse(/\/author\/redeem$/), page.goto(session.openAddress)])
  expect(page.url()).toBe(`${site.origin}/projects#/board/7`)
})

test('the panel works while a modal dialog of the page is open, and after it is closed', async () => {
  const { session, page } = await authored()
  await page.evaluate(`{
    const dialog = document.createElement('dialog')
    const save = document.createElement('button')
    save.id = 'save'
    save.textContent = 'Save it'
    save.onclick = () => dialog.close()
    dialog.append(save)
    document.body.append(dialog)
    dialog.showModal()
  }`)
  await reads(page, 'Point at an element')
  await click(page, 'Save it')
  expect((await latest(session)).candidates[0]!.selector).toBe('#save')
  await reads(page, 'Choose there which selector to use.')
  await page.keyboard.press('Escape')
  await reads(page, 'Clicks go to the page')
  await page.getByRole('button', { name: 'Save it' }).click()
  await reads(page, 'Clicks go to the page')
})

test('a page without a ticket makes no additional requests', async () => {
  const { page, noticed } = await house.browser.page()
  await page.goto(`${site.origin}/projects`)
  await page.getByRole('heading', { name: 'News' }).waitFor()
  expect(toCairn(noticed).filter(path => path.includes('author'))).toEqual([])
})

test('a spent ticket is explained in a sentence, and the page gets its clicks again', async () => {
  const { session, page } = await authored()
  const again = await house.browser.page()
  await Promise.all([
    again.page.waitForResponse(/\/author\/redeem$/),
    again.page.goto(session.openAddress),
  ])
  await reads(again.page, 'This session has ended, or was for another page')
  await again.page.getByRole('button', { name: 'New project' }).click()
  expect(await clicksOn(again.page)).toEqual(['button#new'])
  await again.page.context().close()
  // As when its author closes the dashboard's dialog.
  await manage('DELETE', `/${session.id}`)
  await click(page, 'New project')
  await reads(page, 'This session has ended')
})

test('a ticket is worth nothing on a page of another origin', async () => {
  const other = new AuthoredSite(house.server, house.snippetKey)
  const session = await begin()
  const { page } = await house.browser.page()
  const ticket = session.openAddress.split('#')[1]
  await Promise.all([
    page.waitForResponse(/\/author\/redeem$/),
    page.goto(`${other.origin}/projects#${ticket}`),
  ])
  await reads(page, 'This session has ended, or was for another page')
  expect((await manage('GET', `/${session.id}`)).state).toBe('ended')
  await page.context().close()
  await other.stop()
})

test('if a login drops the ticket, its author can type a code instead', async () => {
  const session = await begin('/login')
  const { page } = await house.browser.page()
  await page.goto(session.openAddress)
  await page.waitForURL(`${site.origin}/projects`)
  await page.getByRole('heading', { name: 'News' }).waitFor()
  expect((await manage('GET', `/${session.id}`)).state).toBe('waiting')
  await Promise.all([
    page.waitForResponse(/\/author\/redeem$/),
    page.evaluate(`cairn.author(${JSON.stringify(session.typedCode.toLowerCase())})`),
  ])
  await reads(page, 'Point at an element')
  expect((await manage('GET', `/${session.id}`)).state).toBe('connected')
})

test('a page that pins the snippet by its hash verifies the picker as well', async () => {
  const response = await fetch(`${house.server.url}/snippet.js`)
  const text = await response.text()
  const integrity = `sha384-${new Bun.CryptoHasher('sha384').update(text).digest('base64')}`
  const pinned = new AuthoredSite(house.server, house.snippetKey, { file: 'snippet.js', integrity })
  const url = `${pinned.origin}/projects`
  const session = await manage('POST', '', { flow: 'welcome', step: 'create', url })
  const { page, noticed } = await house.browser.page()
  await Promise.all([page.waitForResponse(/\/author\/redeem$/), page.goto(session.openAddress)])
  await reads(page, 'Point at an element')
  expect(noticed.complaints).toEqual([])
  await page.context().close()
  // A picker with any other content is not run.
  await page.context().close()
  const changed = await house.browser.page()
  await changed.page.route(/snippet-author/, async route => {
    const real = await route.fetch()
    await route.fulfill({ response: real, body: `${await real.text()};window.stolen = true` })
  })
  const next = await manage('POST', '', { flow: 'welcome', step: 'create', url })
  await changed.page.goto(next.openAddress)
  await changed.page.getByRole('heading', { name: 'News' }).waitFor()
  expect(await changed.page.evaluate('window.stolen')).toBeUndefined()
  await changed.page.context().close()
  await pinned.stop()
})

test('the panel passes the accessibility rules of axe-core', async () => {
  const session = await begin()
  const { page } = await house.browser.page()
  // Opens its shadow root, because otherwise no script can look into it.
  await page.addInitScript(`{
    const attach = Element.prototype.attachShadow
    Element.prototype.attachShadow = function (how) { return attach.call(this, { ...how, mode: 'open' }) }
  }`)
  await Promise.all([page.waitForResponse(/\/author\/redeem$/), page.goto(session.openAddress)])
  await page.getByText('Point at an element').waitFor()
  const ofPanel = async () =>
    (await hardToUse(page)).filter(found => /panel|class="(code|icon|modes)"|<dl|<li/.test(found))
  expect(await ofPanel()).toEqual([])
  await click(page, 'Account of Ann Miller')
  await page.getByText('may be the name of a person').waitFor()
  expect(await ofPanel()).toEqual([])
})

test('the health page opens the page in a tab and puts the picked selector into the draft, also in a narrow window', async () => {
  const { page, noticed } = await house.visit('/flows/welcome/health', {
    role: 'editor',
    viewport: { width: 360, height: 700 },
  })
  const section = page.getByRole('region', { name: 'Invite your team' })
  await section.getByRole('button', { name: 'Pick on page' }).click()
  const dialog = page.getByRole('dialog')
  const address = dialog.getByLabel('Page URL')
  await address.fill('/team')
  await dialog.getByRole('button', { name: 'Open page', exact: true }).click()
  await dialog.getByText('Enter the whole address').waitFor()
  expect(await hardToUse(page)).toEqual([])
  await address.fill(`${site.origin}/team`)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), address.press('Enter')])
  await dialog.getByText('Waiting for the page').waitFor()
  expect(await hardToUse(page)).toEqual([])
  await reads(tab, 'Point at an element')
  expect(await tab.evaluate('window.opener')).toBeNull()
  await click(tab, 'Account of Ann Miller')
  await click(tab, 'Invite your team')
  const code = (await dialog.locator('.pick-code strong').textContent())!
  expect(await panelOf(tab)).toContain(`Code ${[...code].join(' ')}`)

  // An element that only surrounds the button is not preselected.
  await tab.keyboard.press('ArrowUp')
  await Promise.all([tab.waitForResponse(/\/author\/picks$/), tab.keyboard.press('Enter')])

  await page.bringToFront()
  await dialog.getByText('Connected').waitFor()
  await dialog.getByText('This element contains other controls.').waitFor()
  expect(await dialog.getByRole('radio', { checked: true }).count()).toBe(0)
  expect(await dialog.getByRole('button', { name: 'Use selector' }).isDisabled()).toBe(true)
  await click(tab, 'Invite your team')
  await dialog.getByRole('group', { name: 'button “Invite your team”' }).waitFor()
  expect(await dialog.getByRole('radio', { name: '#invite' }).isChecked()).toBe(true)
  await dialog.getByText('Picked before: 3').click()
  await dialog.getByRole('radio', { name: '.profile' }).check()
  expect(await hardToUse(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Use selector' }).click()
  await dialog
    .getByRole('heading', { name: 'Use another selector for “Invite your team”?' })
    .waitFor()
  await dialog.getByRole('button', { name: 'Use in draft' }).click()
  await page
    .getByText('Draft updated with .profile')
    .or(page.getByText('had this selector already'))
    .waitFor()
  // Picking ends on the page, and the dialog remembers the address.
  await click(tab, 'Invite your team')
  await reads(tab, 'This session has ended')
  await section.getByRole('button', { name: 'Pick on page' }).click()
  expect(await address.inputValue()).toBe(`${site.origin}/team`)
  expect(noticed.complaints).toEqual([])
})

test('picking is not offered to people who may not write flows', async () => {
  const { page } = await house.visit('/flows/welcome/health', { role: 'viewer' })
  await page.getByRole('region', { name: 'Invite your team' }).waitFor()
  expect(await page.getByRole('button', { name: 'Pick on page' }).count()).toBe(0)
})

describe('a preview link', () => {
  interface Made {
    id: string
    link: string
    expiresAt: string
  }

  const draft = (title: string) => `key: drafted
name: Drafted tour
targeting:
  urls: [{ match: exact, pattern: /nowhere }]
  audience: { match: all, rules: [{ attribute: plan, op: eq, value: never }] }
steps:
  - { key: create, title: ${title}, target: { selector: "#new" }, buttons: [{ label: Next, action: next }] }
  - { key: invite, title: Invite them, target: { selector: "#invite" }, page: { match: exact, pattern: /team } }
`

  async function push(title: string): Promise<void> {
    const { place } = house
    await Bun.write(join(place.folder, 'drafted.yaml'), draft(title))
    const { status, stderr } = await place.run(['flows', 'push', 'drafted.yaml'])
    if (status !== 0) throw new Error(stderr)
  }

  const preview = (...more: string[]) =>
    house.place.json<Made>(['flows', 'preview', ...more, '--page', `${site.origin}/projects`])

  const badge = (page: Page) => page.getByRole('region', { name: 'Cairn: preview of a draft' })

  test('shows the draft on every page whatever its rules, marks it as a preview, and counts nothing', async () => {
    await push('First text')
    const { link } = await preview('drafted')
    const { page, noticed } = await house.browser.page()
    await page.goto(link)
    await page.getByRole('dialog', { name: 'First text' }).waitFor()
    expect(page.url()).toBe(`${site.origin}/projects`)
    expect(site.requests.join()).not.toContain('cairn-preview')
    await badge(page).getByText('Preview — nothing is counted').waitFor()
    await badge(page).getByText('Step 1 of 2').waitFor()
    // The page can still make its calls. None is counted.
    await page.evaluate(
      "window.cairn.identify('ann', {plan: 'pro'}); window.cairn.track('clicked')",
    )
    await page.evaluate("window.cairn.on('flow_started', () => {})()")

    // A reload shows the newest text.
    await push('Second text')
    await page.goto(`${site.origin}/projects`)
    await page.getByRole('dialog', { name: 'Second text' }).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    // The next step is on another page, where the preview continues after a page load.
    await page.goto(`${site.origin}/team`)
    await page.getByRole('dialog', { name: 'Invite them' }).waitFor()
    await badge(page).getByText('Step 2 of 2').waitFor()

    const requested = new Set(toCairn(noticed))
    expect([...requested].toSorted()).toEqual([
      '/preview/flow',
      '/snippet-preview.js',
      '/snippet-renderer.js',
      '/snippet.js',
    ])
    const stored = await page.evaluate('Object.keys(localStorage).join()')
    expect(stored).not.toMatch(/:(past|runs?|out)\b/)
    expect(noticed.complaints).toEqual([])

    // The flows that the preview held back start.
    await badge(page).getByRole('button', { name: 'End preview' }).click()
    await page.getByRole('heading', { name: 'News' }).waitFor()
    expect(await badge(page).count()).toBe(0)
    expect(toCairn(noticed)).toContain('/api/v1/flows')
    await page.reload()
    await page.getByRole('heading', { name: 'News' }).waitFor()
    expect(await badge(page).count()).toBe(0)
  })

  test('says how the flow ended, and restarts it', async () => {
    await push('Once more')
    const { link } = await preview('drafted')
    const { page } = await house.browser.page()
    await page.goto(link)
    await page.getByRole('dialog', { name: 'Once more' }).waitFor()
    await page.getByRole('button', { name: 'Close' }).first().click()
    await badge(page).getByText('The flow was closed.').waitFor()
    await badge(page).getByRole('button', { name: 'Start again' }).click()
    await page.getByRole('dialog', { name: 'Once more' }).waitFor()
  })

  test('shows the flow of a local file without storing it', async () => {
    await Bun.write(
      join(house.place.folder, 'loose.yaml'),
      draft('Loose').replace('drafted', 'loose'),
    )
    const { link } = await preview('--file', 'loose.yaml')
    const { page } = await house.browser.page()
    await page.goto(link)
    await page.getByRole('dialog', { name: 'Loose' }).waitFor()
    const listed = await house.place.json<{ key: string }[]>(['flows', 'list'])
    expect(listed.map(({ key }) => key)).not.toContain('loose')
  })

  test('says that it has ended or is for another origin, and the page works as usual', async () => {
    await push('Secret')
    const { id, link } = await preview('drafted')
    const other = new AuthoredSite(house.server, house.snippetKey)
    const elsewhere = await house.browser.page()
    await elsewhere.page.goto(`${other.origin}/projects#${link.split('#')[1]}`)
    await badge(elsewhere.page).getByText('Ask for a new one').waitFor()
    await elsewhere.page.getByRole('heading', { name: 'News' }).waitFor()
    expect(await elsewhere.page.getByText('Secret').count()).toBe(0)
    await elsewhere.page.context().close()
    await other.stop()

    const { page } = await house.browser.page()
    await page.goto(link)
    await page.getByRole('dialog', { name: 'Secret' }).waitFor()
    const { stdout } = await house.place.run(['api', 'GET', '/previews'])
    expect(stdout).toContain(id)
    expect(stdout).not.toContain(link.split('=')[1]!)
    await house.place.run(['api', 'DELETE', `/previews/${id}`])
    await page.reload()
    await badge(page).getByText('Ask for a new one').waitFor()
    await page.getByRole('heading', { name: 'News' }).waitFor()
    await badge(page).getByRole('button', { name: 'Close' }).click()
    await until(
      () => badge(page).count(),
      count => count === 0,
    )
    const audit = await house.place.run(['audit', '--json'])
    expect(audit.stdout).toContain('flow.preview')
    expect(audit.stdout).toContain('flow.end_preview')
    expect(audit.stdout).not.toContain(link.split('=')[1]!)
  })
})
