import { expect, setDefaultTimeout } from 'bun:test'
import { installStub } from '../../src/web/install-code.ts'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Pages that say late who is there, or never, or another than the one before. */

setDefaultTimeout(300_000)

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

/** A page with the snippet, whose tag has what the query says, and which keeps what was shown. */
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
  /** What the page says before the script has come. */
  first?: string
  /** One that is open already, and its browser. */
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

/** Until what may be shown at once is: what is not shown by then waits. */
const isAtWork = (page: Page) => shown(page).panel.or(shown(page).card).first().waitFor()

/** Until all that was due before is shown or is not: what comes after it is. */
async function atTheEnd(page: Page): Promise<string[]> {
  await page.evaluate("history.pushState(null, '', '/end')")
  await shown(page).title.getByText('end', { exact: true }).waitFor()
  return (await seen(page)).filter(key => key !== 'end')
}

const told = (page: Page) => page.waitForResponse(response => /flows\?userId/.test(response.url()))

/** Names somebody, of whom the server tells what they have done. */
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

test('a free user never sees what is for others, though the page names them late', async () => {
  const { page } = await visit('/paid-free')
  await isAtWork(page)
  await identify(page, 'free-1', { plan: 'free' })
  expect(await atTheEnd(page)).toEqual([])
  expect(await numbers(page, 'paid-free')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
  await page.context().close()
})

test('whom it is for sees it once the page has named them', async () => {
  const { page, title } = await visit('/paid-pro')
  await isAtWork(page)
  expect(await seen(page)).toEqual([])
  await identify(page, 'pro-1', { plan: 'pro' })
  await title.getByText('paid-pro').waitFor()
  await page.context().close()
})

test('who is named before the script has come is not waited for', async () => {
  const { page, title } = await visit('/paid-pro', {
    first: "cairn.identify('pro-2', { plan: 'pro' })",
  })
  await title.getByText('paid-pro').waitFor()
  await page.context().close()
})

test('after the time-out the page shows what is for visitors, and takes back what is not theirs', async () => {
  const tag = ' data-identify="wait" data-identify-timeout="200"'
  const { page, title } = await visit('/paid-late', { tag })
  await title.getByText('paid-late').waitFor()
  await identify(page, 'free-2', { plan: 'free' })
  await title.getByText('paid-late').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-late'])
  expect(await numbers(page, 'paid-late')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
  await page.context().close()
})

test('who is never named is shown all after three seconds', async () => {
  const opened = await site.browser.page({ clock: true })
  const { page, title } = await visit('/once-never', {
    tag: ' data-identify="wait"',
    page: opened.page,
  })
  await isAtWork(page)
  await pass(page, 3_000)
  await title.getByText('once-never').waitFor()
  await page.context().close()
})

test('a page that does not wait takes back what is not for whom it names', async () => {
  const { page, title } = await visit('/paid-public', { tag: '' })
  await title.getByText('paid-public').waitFor()
  await identify(page, 'free-3', { plan: 'free' })
  await title.getByText('paid-public').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-public'])
  expect(await numbers(page, 'paid-public')).toEqual({ starts: 0, dismissals: 0, inProgress: 0 })
  await page.context().close()
})

test('of what was sent before, the visitor is in the middle, and nobody has dismissed it', async () => {
  const { page, title, bodies } = await visit('/paid-sent', { tag: '' })
  await title.getByText('paid-sent').waitFor()
  await allSent(page)
  await identify(page, 'free-4', { plan: 'free' })
  await title.getByText('paid-sent').waitFor({ state: 'detached' })
  expect(await atTheEnd(page)).toEqual(['paid-sent'])
  expect(await numbers(page, 'paid-sent')).toEqual({ starts: 1, dismissals: 0, inProgress: 1 })
  const flowId = site.flowId('paid-sent')
  expect(bodies.filter(event => event.flowId === flowId && 'userId' in event)).toEqual([])
  await page.context().close()
})

test('what is shown once is shown once to a person in three fresh browsers', async () => {
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

test('a page that does not wait takes it away as soon as it knows', async () => {
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
  await page.context().close()
})

test('what happens before the page has named somebody is theirs', async () => {
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
  // Those of a run that a visitor has begun name both.
  const [{ anonymousId } = {}] = ofFlow
  expect(anonymousId).toBeString()
  for (const event of ofFlow) expect(event).toMatchObject({ userId: 'tess', anonymousId })
  const tracked = bodies.filter(({ name }) => name === 'signed_in')
  expect(tracked).toEqual([expect.objectContaining({ userId: 'tess' })])
  expect(bodies.filter(({ userId }) => userId !== 'tess')).toEqual([])
  const { totals } = await site.until('tracked', ({ totals }) => totals.completions === 1)
  expect(totals).toMatchObject({ starts: 1, uniqueUsers: 1 })
  await page.context().close()
})

test('a page that is left while it waits tells what has happened', async () => {
  const { page } = await visit('/left')
  await shown(page).title.getByText('left').waitFor()
  await page.goto('about:blank')
  await site.until('left', ({ totals }) => totals.starts === 1)
  await page.context().close()
})

test('whoever was there before sees nothing of it where the page names somebody else', async () => {
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

test('what began for whoever was there last had not begun where somebody else is named', async () => {
  const first = await visit('/end', { tag: '', first: "cairn.identify('carl')" })
  await first.button('Done').click()
  await allSent(first.page)
  const { page, title } = await visit('/once-other', { page: first.page, tag: '' })
  await title.getByText('once-other').waitFor()
  await identify(page, 'dora')
  await title.getByText('once-other').waitFor()
  await shown(page).button('Close').click()
  expect(await numbers(page, 'once-other')).toEqual({ starts: 1, dismissals: 1, inProgress: 0 })
  await page.context().close()
})

test('who is named twice stays in what they have begun as whom they are', async () => {
  const { page, title, card } = await visit('/paid-pro')
  await identify(page, 'pro-3', { plan: 'pro' })
  await title.getByText('paid-pro').waitFor()
  await card.evaluate(element => element.setAttribute('data-same', ''))
  await say(page, "identify('pro-3', { plan: 'pro' })")
  await say(page, "identify('pro-3', { plan: 'free' })")
  await page.evaluate("history.replaceState(null, '', '/paid-pro?more')")
  expect(await page.locator('[data-cairn] .card[data-same]').count()).toBe(1)
  expect(await seen(page)).toEqual(['paid-pro'])
  await page.context().close()
})

test('a visitor who signs in goes on with what is for them', async () => {
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
  await page.context().close()
})

test('a refusal ends the wait, and consent does not, for it says nobody’s name', async () => {
  const refused = await visit('/once-refused', { first: 'cairn.consent(false)' })
  await refused.title.getByText('once-refused').waitFor()
  await refused.page.context().close()
  const { page, title } = await visit('/once-consented', { first: 'cairn.consent(true)' })
  await isAtWork(page)
  expect(await seen(page)).toEqual([])
  await identify(page, 'fay')
  await title.getByText('once-consented').waitFor()
  await page.context().close()
})

test('what the page asks for is shown at once', async () => {
  const { page, title } = await visit('/paid-start')
  await say(page, "start('paid-start')")
  await title.getByText('paid-start').waitFor()
  await identify(page, 'free-5', { plan: 'free' })
  expect(await title.innerText()).toBe('paid-start')
  await page.context().close()
})

test('a tag that is written wrongly is told in the console', async () => {
  const { page, noticed } = await site.browser.page()
  const tag = ' data-identify="wiat" data-identify-timeout="soon"'
  await visit('/always', { page, tag })
  await shown(page).title.getByText('always').waitFor()
  expect(noticed.complaints.join()).toContain('data-identify knows "wait" alone, not "wiat"')
  await page.context().close()
})
