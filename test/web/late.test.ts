import { expect } from 'bun:test'
import { installStub } from '../../src/web/install-code.ts'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Pages that identify their user late, or never, or identify another one than before. */

const announcement = (key: string, more: string) => `
- key: ${key}
  kind: announcement
  ${more}
  targeting:
    urls: [{ match: exact, pattern: /${key} }]
    audience: { match: all, rules: [${key.startsWith('paid') ? '{ attribute: plan, op: neq, value: free }' : ''}] }
  steps: [{ key: one, kind: modal, title: ${key} }]
`
const paid = ['paid-free', 'paid-pro', 'paid-late', 'paid-public', 'paid-sent', 'paid-start']
const once = ['once', 'once-public', 'once-other', 'once-refused', 'once-consented', 'once-never']
const always = ['always', 'tracked', 'left', 'end']

const flows = `
- key: sign
  kind: checklist
  frequency: always
  targeting: { urls: [{ match: prefix, pattern: / }] }
  checklist: { items: [{ key: a, title: A }] }
- key: tour
  frequency: until_completed
  targeting: { urls: [{ match: exact, pattern: /tour }] }
  steps: [{ key: one, kind: modal, title: tour one }, { key: two, kind: modal, title: tour two }]
${paid.map(key => announcement(key, 'frequency: always')).join('')}
${once.map(key => announcement(key, 'frequency: once')).join('')}
${always.map(key => announcement(key, 'frequency: always')).join('')}
`

let site: Site
let server: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  site = await Site.open(flows)
  server = Bun.serve({ hostname: 'localhost', port: 0, fetch: answer })
})
afterAll(async () => {
  server.stop(true)
  await site.close()
})

const waits = ' data-identify="wait" data-identify-timeout="600000"'

/** A page with the snippet, with attributes for its tag from the query. It keeps a list of what was shown. */
function answer(request: Request): Response {
  const { searchParams } = new URL(request.url)
  const tag = searchParams.get('tag') ?? ''
  const first = searchParams.get('first') ?? ''
  const script = `${installStub};seen = []; cairn.on('step_viewed', ({ flowKey }) => seen.push(flowKey)); cairn.on('flow_dismissed', () => seen.push('dismissed'));${first}`
  return new Response(
    `<!doctype html><html lang="en"><title>Late</title><h1>Late</h1><script>${script}</script>
    <script async src="${site.server.url}/snippet.js" data-key="${site.snippetKey}"${tag}></script>`,
    { headers: { 'Content-Type': 'text/html' } },
  )
}

interface Visit {
  tag?: string
  /** Calls of the page before the script has loaded. */
  first?: string
  /** A page that is open already, to visit in the same browser. */
  page?: Page
}

async function visit(path: string, { tag = waits, first = '', page }: Visit = {}) {
  const own = page ?? (await site.browser.page()).page
  const bodies: Record<string, unknown>[] = []
  own.on('request', request => {
    if (!request.url().includes('/events')) return
    bodies.push(...JSON.parse(request.postData() ?? '{"events":[]}').events)
  })
  await own.goto(`http://localhost:${server.port}${path}?${new URLSearchParams({ tag, first })}`)
  return { page: own, bodies, ...shown(own) }
}

const say = (page: Page, what: string) => page.evaluate(`cairn.${what}`)
const seen = (page: Page) => page.evaluate('seen') as Promise<string[]>

/** Waits until everything that may be shown at once is shown. Whatever is not shown by then is waiting. */
const isAtWork = (page: Page) => shown(page).panel.or(shown(page).card).first().waitFor()

/** Goes to a last page and waits for its flow: whatever was due earlier has been shown by then, or never is. */
async function atTheEnd(page: Page): Promise<string[]> {
  await page.evaluate("history.pushState(null, '', '/end')")
  await shown(page).title.getByText('end', { exact: true }).waitFor()
  return (await seen(page)).filter(key => key !== 'end')
}

const told = (page: Page) => page.waitForResponse(response => /flows\?userId/.test(response.url()))

/** Identifies a user, and waits until the server has told what they have done. */
async function identify(page: Page, ...args: unknown[]): Promise<void> {
  const answered = told(page)
  await say(page, `identify(...${JSON.stringify(args)})`)
  await answered
}

const numbers = async (page: Page, key: string) => {
  await allSent(page)
  const { starts, dismissals, inProgress } = (await site.numbers(key)).totals
  return { starts, dismissals, inProgress }
}

test('a free user never sees what is for others, even if the page identifies them late', async () => {
  const { page } = await visit('/paid-free')
  await isAtWork(page)
  await identify(page, 'free-1', { plan: 'free' })
  expect(await atTheEnd(page)).toEqual([])
  expect(await numbers(page, 'paid-free')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
})

test('a user of its audience sees a flow once the page has identified them', async () => {
  const { page, title } = await visit('/paid-pro')
  await isAtWork(page)
  expect(await seen(page)).toEqual([])
  await identify(page, 'pro-1', { plan: 'pro' })
  await title.getByText('paid-pro').waitFor()
})

test('a user who is identified before the script has loaded is not waited for', async () => {
  const { title } = await visit('/paid-pro', {
    first: "cairn.identify('pro-2', { plan: 'pro' })",
  })
  await title.getByText('paid-pro').waitFor()
})

test('after the timeout the page shows what visitors may see, and hides again what the user may not', async () => {
  const tag = ' data-identify="wait" data-identify-timeout="200"'
  const { page, title } = await visit('/paid-late', { tag })
  await title.getByText('paid-late').waitFor()
  await identify(page, 'free-2', { plan: 'free' })
  await title.getByText('paid-late').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-late'])
  expect(await numbers(page, 'paid-late')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
})

test('a user who is never identified is shown everything after three seconds', async () => {
  const opened = await site.browser.page({ clock: true })
  const { page, title } = await visit('/once-never', {
    tag: ' data-identify="wait"',
    page: opened.page,
  })
  await isAtWork(page)
  await pass(page, 3_000)
  await title.getByText('once-never').waitFor()
})

test('a page that does not wait hides again what is not for the user it identifies', async () => {
  const { page, title } = await visit('/paid-public', { tag: '' })
  await title.getByText('paid-public').waitFor()
  await identify(page, 'free-3', { plan: 'free' })
  await title.getByText('paid-public').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-public'])
  expect(await numbers(page, 'paid-public')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
})

test('a run that was sent before stays in progress for the visitor, and is not counted as dismissed', async () => {
  const { page, title, bodies } = await visit('/paid-sent', { tag: '' })
  await title.getByText('paid-sent').waitFor()
  await allSent(page)
  await identify(page, 'free-4', { plan: 'free' })
  await title.getByText('paid-sent').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-sent'])
  expect(await numbers(page, 'paid-sent')).toEqual({ starts: 1, dismissals: 0, inProgress: 1 })
  const flowId = site.flowId('paid-sent')
  expect(bodies.filter(event => event.flowId === flowId && 'userId' in event)).toEqual([])
})

test('a flow that is shown once is shown once to a person in three fresh browsers', async () => {
  const first = await visit('/once')
  await isAtWork(first.page)
  await identify(first.page, 'thrice')
  await first.button('Close').click()
  await allSent(first.page)
  await first.page.context().close()
  for (const _ of [2, 3]) {
    const { page } = await visit('/once')
    await isAtWork(page)
    await identify(page, 'thrice')
    expect(await atTheEnd(page)).toEqual([])
    await page.context().close()
  }
  const { totals } = await site.until('once', ({ totals }) => totals.dismissals === 1)
  expect(totals).toMatchObject({ starts: 1, inProgress: 0 })
})

test('a page that does not wait hides what the user has seen as soon as it knows', async () => {
  const first = await visit('/once-public', { tag: '', first: "cairn.identify('twice')" })
  await first.button('Close').click()
  await allSent(first.page)
  await first.page.context().close()
  const { page, title } = await visit('/once-public', { tag: '' })
  await title.getByText('once-public').waitFor()
  await identify(page, 'twice')
  await title.getByText('once-public').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['once-public'])
  expect(await numbers(page, 'once-public')).toEqual({ starts: 1, dismissals: 1, inProgress: 0 })
})

test('what happens before the page identifies a user is attributed to them', async () => {
  const { page, bodies } = await visit('/tracked', { first: "cairn.track('signed_in')" })
  await shown(page).title.getByText('tracked').waitFor()
  await identify(page, 'tess')
  await shown(page).button('Done').click()
  await allSent(page)
  const ofFlow = bodies.filter(event => event.flowId === site.flowId('tracked'))
  expect(ofFlow.map(({ kind }) => kind)).toEqual([
    'flow_started',
    'step_viewed',
    'step_completed',
    'flow_completed',
  ])
  // Events of a run that a visitor has begun name the user and the visitor.
  const [{ anonymousId } = {}] = ofFlow
  expect(anonymousId).toBeString()
  for (const event of ofFlow) expect(event).toMatchObject({ userId: 'tess', anonymousId })
  const tracked = bodies.filter(({ name }) => name === 'signed_in')
  expect(tracked).toEqual([expect.objectContaining({ userId: 'tess' })])
  expect(bodies.filter(({ userId }) => userId !== 'tess')).toEqual([])
  const { totals } = await site.until('tracked', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, uniqueUsers: 1 })
})

test('a page that is left while it waits still reports what has happened', async () => {
  const { page } = await visit('/left')
  await shown(page).title.getByText('left').waitFor()
  await page.goto('about:blank')
  await site.until('left', ({ totals }) => totals.starts === 1)
})

test('if the page identifies somebody else, nothing of the user before is shown', async () => {
  const first = await visit('/tour', { first: "cairn.identify('ann')" })
  await first.button('Next').click()
  await first.title.getByText('tour two').waitFor()
  const { page, title } = await visit('/tour', { page: first.page })
  await isAtWork(page)
  expect(await seen(page)).toEqual([])
  await identify(page, 'bob')
  await title.getByText('tour one').waitFor()
  await allSent(page)
  // Ann is where she was.
  await visit('/tour', { page })
  await identify(page, 'ann')
  await title.getByText('tour two').waitFor()
  await allSent(page)
  await page.context().close()
  const { totals } = await site.numbers('tour')
  expect(totals).toMatchObject({ starts: 2, uniqueUsers: 2, dismissals: 0 })
})

test('if somebody else is identified, what began for the user before does not count as begun', async () => {
  const first = await visit('/end', { tag: '', first: "cairn.identify('carl')" })
  await first.button('Done').click()
  await allSent(first.page)
  const { page, title } = await visit('/once-other', { page: first.page, tag: '' })
  await title.getByText('once-other').waitFor()
  await identify(page, 'dora')
  await title.getByText('once-other').waitFor()
  await shown(page).button('Close').click()
  expect(await numbers(page, 'once-other')).toEqual({ starts: 1, dismissals: 1, inProgress: 0 })
})

test('a user who is identified again stays in what they have begun', async () => {
  const { page, title, card } = await visit('/paid-pro')
  await identify(page, 'pro-3', { plan: 'pro' })
  await title.getByText('paid-pro').waitFor()
  await card.evaluate(element => element.setAttribute('data-same', ''))
  await say(page, "identify('pro-3', { plan: 'pro' })")
  await say(page, "identify('pro-3', { plan: 'free' })")
  await page.evaluate("history.replaceState(null, '', '/paid-pro?more')")
  expect(await page.locator('[data-cairn] .card[data-same]').count()).toBe(1)
  expect(await seen(page)).toEqual(['paid-pro'])
})

test('a visitor who signs in continues with what is for them', async () => {
  const { page, title, button, card } = await visit('/tour', { tag: '' })
  await button('Next').click()
  await title.getByText('tour two').waitFor()
  await card.evaluate(element => element.setAttribute('data-same', ''))
  await identify(page, 'ella')
  expect(await page.locator('[data-cairn] .card[data-same] h2').innerText()).toBe('tour two')
  await button('Done').click()
  await allSent(page)
  const { totals } = await site.until('tour', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ dismissals: 0 })
})

test('a refusal of consent ends the wait, and consent does not, because it identifies nobody', async () => {
  const refused = await visit('/once-refused', { first: 'cairn.consent(false)' })
  await refused.title.getByText('once-refused').waitFor()
  await refused.page.context().close()
  const { page, title } = await visit('/once-consented', { first: 'cairn.consent(true)' })
  await isAtWork(page)
  expect(await seen(page)).toEqual([])
  await identify(page, 'fay')
  await title.getByText('once-consented').waitFor()
})

test('a flow that the page starts itself is shown at once', async () => {
  const { page, title } = await visit('/paid-start')
  await say(page, "start('paid-start')")
  await title.getByText('paid-start').waitFor()
  await identify(page, 'free-5', { plan: 'free' })
  expect(await title.innerText()).toBe('paid-start')
})

test('a tag with wrong attributes is reported in the console', async () => {
  const { page, noticed } = await site.browser.page()
  const tag = ' data-identify="wiat" data-identify-timeout="soon"'
  await visit('/always', { page, tag })
  await shown(page).title.getByText('always').waitFor()
  expect(noticed.complaints.join()).toContain('data-identify knows "wait" alone, not "wiat"')
})
