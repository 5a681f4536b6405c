import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { rolloutOf } from '../../src/core/flow/moment.ts'
import { type Page, pass, rest } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, call, forgetFlows, leftLongAgo, Site, shown } from '../support/site.ts'

/** Which flow a page shows, when and to whom, also if elements are missing or calls come early. */

const tour = (key: string, more = '') => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  ${more}
  steps:
    - { key: one, kind: modal, title: ${key} one }
    - { key: two, kind: modal, title: ${key} two }
`

const minuteMs = 60_000
const local = (ms: number) => new Date(ms).toISOString().slice(0, 16)

const at = (path: string) =>
  `targeting: { urls: [{ match: prefix, pattern: "/home?case=${path}" }] }`
const steps = (title: string) => `steps: [{ key: one, kind: modal, title: ${title} }]`

/** Starts on a full minute, one to two minutes after it is published. */
const soon = (now: number) => `
- key: soon
  ${at('soon')}
  schedule: { from: "${local(now + 2 * minuteMs)}" }
  ${steps('Soon')}
`

const flows = `
- key: unseen
  priority: 5
  targeting: { urls: [{ match: exact, pattern: "/projects?case=unseen" }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 1500 } }
    - { key: lost, title: Lost, target: { selector: "#lost", waitMs: 1500 } }
- key: next-in-line
  targeting: { urls: [{ match: exact, pattern: "/projects?case=unseen" }] }
  steps:
    - { key: one, kind: modal, title: Next in line }
- key: slow
  targeting: { urls: [{ match: exact, pattern: "/settings/notifications?case=slow" }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 60000 } }
- key: other-list
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/settings/notifications?case=slow" }] }
  checklist: { items: [{ key: a, title: A }] }
- key: list
  kind: checklist
  frequency: until_completed
  targeting: { urls: [{ match: exact, pattern: "/settings/people?case=list" }] }
  checklist: { items: [{ key: a, title: A }, { key: b, title: B }] }
- key: hidden
  targeting: { urls: [{ match: exact, pattern: "/home?case=hidden" }] }
  steps:
    - { key: gone, title: Gone, target: { selector: "#gone", waitMs: 1000 } }
- key: other-tab
  targeting: { urls: [{ match: exact, pattern: "/home?case=other-tab" }] }
  steps: [{ key: one, kind: modal, title: Other tab }]
- key: over-list
  targeting: { urls: [{ match: exact, pattern: "/home?case=over" }] }
  steps: [{ key: one, kind: modal, title: Over the list }]
- key: list-below
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/home?case=over" }] }
  checklist: { items: [{ key: a, title: A, completeOn: { event: did_a } }] }
- key: late
  targeting: { urls: [{ match: prefix, pattern: "/late" }] }
  steps:
    - { key: late, title: Late, target: { selector: "#late", waitMs: 50 } }
${['traits', 'element', 'chunk', 'both', 'prerender', 'back', 'this', 'other'].map(key => tour(key)).join('')}
${tour('always', 'frequency: always')}
- key: asked-for
  targeting: { urls: [{ match: exact, pattern: /nowhere }] }
  steps:
    - { key: one, kind: modal, title: Asked one }
    - { key: two, kind: modal, title: Asked two }
- key: both-list
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/projects?case=both" }] }
  checklist: { items: [{ key: a, title: A }] }
- key: over
  ${at('clock')}
  schedule: { to: "2020-06-30" }
  ${steps('Over')}
- key: begun
  ${at('clock')}
  schedule: { from: "2020-07-01T00:00" }
  ${steps('Begun')}
- key: delayed
  ${at('delay')}
  when: { delayMs: 60000 }
  ${steps('Delayed')}
- key: first
  ${at('after')}
  priority: 1
  ${steps('First')}
- key: second
  ${at('after')}
  when: { after: first }
  ${steps('Second')}
- key: thrice
  ${at('event')}
  when: { event: exported, count: 3, within: 7d }
  ${steps('Thrice')}
- key: there
  ${at('element')}
  when: { element: "#lazy" }
  ${steps('There')}
- key: nobody
  ${at('share')}
  rollout: { percent: 0 }
  ${steps('Nobody')}
- key: measured
  ${at('hold')}
  rollout: { holdOut: 50 }
  goal: { event: bought }
  ${steps('Measured')}
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const says = (page: Page, title: string) => shown(page).says(title)

const stored = (page: Page, text: string) =>
  page.waitForFunction(text => JSON.stringify({ ...localStorage }).includes(text), text)

const openStubbed = async (path: string, prepare = '') => {
  const { page, noticed } = await site.browser.page({ clock: true })
  if (prepare) await page.addInitScript(prepare)
  await page.goto(site.url + path)
  return { page, noticed, ...shown(page) }
}

/** Leaves a page without the test's own routes, because they may lose what the page sends on closing. */
const leave = async (page: Page) => {
  await page.unrouteAll()
  await page.goto(`${site.url}/settings/people`)
  await allSent(page)
}

const stub = (...calls: string[]) =>
  `window.cairn = { q: [${calls.join()}] }; for (const m of ['identify', 'track', 'start', 'stop', 'reset', 'on', 'consent']) window.cairn[m] = (...a) => void window.cairn.q?.push([m, ...a])`

const none = async (page: Page) => expect(await shown(page).card.count()).toBe(0)

/** Opens a page with a controlled clock, and waits until it is idle. */
const visit = async (path: string) => {
  const { page } = await site.visit(path, { clock: true })
  await page.getByRole('heading').first().waitFor()
  await pass(page, 1_000)
  return page
}

const reload = async (page: Page) => {
  await page.reload()
  await page.getByRole('heading').first().waitFor()
  await pass(page, 1_000)
}

/** Reports events as a back end does. */
const report = async (events: object[]) => {
  const response = await fetch(`${site.server.url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.snippetKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  })
  expect(response.status).toBe(202)
}

describe('a flow that nobody has seen, or that somebody has hidden', () => {
  test('a tour whose elements are all missing neither restarts nor ends, and the next one is shown', async () => {
    const { page } = await site.visit('/projects?case=unseen')
    const { title, button } = shown(page)
    await title.getByText('Next in line').waitFor()
    await button('Done').click()
    await page.reload()
    await rest(page)
    await page.goto(`${site.url}/settings/notifications`)
    await allSent(page)
    const { totals, steps } = await site.until('unseen', ({ totals }) => totals.starts === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 0, dismissals: 0, inProgress: 1 })
    expect(steps.map(({ reached, targetMissing }) => [reached, targetMissing])).toEqual([
      [0, 1],
      [0, 1],
    ])

    // Once the page has the element, the visitor sees the step.
    await page.addInitScript(() => {
      addEventListener('DOMContentLoaded', () => {
        const button = document.createElement('button')
        document.body.append(Object.assign(button, { id: 'gone', textContent: 'Here it is' }))
      })
    })
    await page.goto(`${site.url}/projects?case=unseen`)
    await title.getByText('Gone').waitFor()
    await allSent(page)
    expect((await site.numbers('unseen')).totals).toMatchObject({ starts: 1, inProgress: 1 })
  })

  test('a hidden tab with nothing to show does not block other tabs', async () => {
    const { page } = await site.visit('/home?case=hidden')
    await stored(page, 'runs:steps')
    await page.evaluate(() =>
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }),
    )
    await stored(page, 'target_missing')
    const other = await page.context().newPage()
    await other.goto(`${site.url}/home?case=other-tab`)
    await shown(other).title.getByText('Other tab').waitFor()
  })

  test('an element that is missing on one page and present on the next is reported as found', async () => {
    const { page } = await site.browser.page()
    const outcomes: string[] = []
    page.on('request', request => {
      if (request.url().includes('/health'))
        outcomes.push(JSON.parse(request.postData() ?? '').outcome)
    })
    await page.goto(`${site.url}/late`)
    await stored(page, 'target_missing')
    await page.evaluate(() => {
      document.body.append(Object.assign(document.createElement('button'), { id: 'late' }))
      document.getElementById('late')?.append('Here it is')
      history.pushState(null, '', '/late/2')
    })
    await shown(page).title.getByText('Late').waitFor()
    await until(() => outcomes.length >= 2)
    expect(outcomes).toEqual(['not_found', 'found'])
  })

  test('a checklist that is completed during a tour does not open after the tour', async () => {
    const { page } = await site.visit('/home?case=over')
    await shown(page).title.getByText('Over the list').waitFor()
    await stored(page, 'runs:checklist')
    await page.evaluate("cairn.track('did_a')")
    await shown(page).button('Done').click()
    await shown(page).panel.getByText('All done').waitFor()
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }))
    expect(kept).not.toContain('runs:checklist')
    expect(kept).not.toContain('checklist_opened')
  })

  test('a checklist is shown while a tour waits for its elements', async () => {
    const { page } = await site.visit('/settings/notifications?case=slow')
    await shown(page).panel.waitFor()
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }))
    expect(kept).toContain('runs:steps')
    expect(kept).not.toContain('target_missing')
  })

  test('a completed checklist says so, and stays closed after it is closed', async () => {
    const { page } = await site.visit('/settings/people?case=list')
    const { panel } = shown(page)
    await panel.getByRole('button', { name: 'A' }).click()
    await panel.getByText('1 of 2').waitFor()
    await panel.getByRole('button', { name: 'B' }).click()
    await panel.getByText('All done').waitFor()
    expect(await panel.getByRole('button', { name: 'Hide this list' }).count()).toBe(0)
    await shown(page).button('Close').click()
    await panel.waitFor({ state: 'detached' })
    await page.reload()
    await rest(page)
    expect(await page.locator('[data-cairn] .root > *').count()).toBe(0)
    const { totals } = await site.until('list', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 1, dismissals: 0 })
  })

  test('a hidden checklist is collapsed after a reload; on a small screen it starts collapsed', async () => {
    const { page } = await site.visit('/settings/people?case=list')
    const { panel, launcher } = shown(page)
    await panel.getByRole('button', { name: 'Hide this list' }).click()
    await panel.waitFor({ state: 'detached' })
    await page.reload()
    await launcher.waitFor()
    expect(await panel.count()).toBe(0)
    await page.context().close()

    const phone = await site.visit('/settings/people?case=list', {
      viewport: { width: 375, height: 667 },
    })
    await shown(phone.page).launcher.waitFor()
    expect(await shown(phone.page).panel.count()).toBe(0)
    await shown(phone.page).launcher.click()
    await shown(phone.page).panel.waitFor()
  })
})

describe('calls and state of the page', () => {
  test('a flow started by the page stays after its tab was hidden and after a reload', async () => {
    const { page } = await openStubbed('/projects?case=this')
    await says(page, 'this one')
    await shown(page).button('Close').click()
    await call(page, 'start', 'asked-for')
    await says(page, 'Asked one')
    await shown(page).button('Next').click()
    await says(page, 'Asked two')
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await rest(page)
    expect(await shown(page).card.count()).toBe(1)
    await page.reload()
    await says(page, 'Asked two')
  })

  test('a flow started twice before the script has loaded has one run; one stopped before it is shown has none', async () => {
    const before = await site.numbers('asked-for')
    const { page } = await openStubbed(
      '/settings/people',
      stub("['start', 'asked-for']", "['start', 'asked-for']"),
    )
    await says(page, 'Asked one')
    await call(page, 'start', 'asked-for')
    await allSent(page)
    const { totals } = await site.until(
      'asked-for',
      ({ totals }) => totals.starts > before.totals.starts,
    )
    expect(totals.starts).toBe(before.totals.starts + 1)
    const other = await openStubbed('/settings/people', stub("['start', 'asked-for']", "['stop']"))
    await rest(other.page)
    expect(await other.card.count()).toBe(0)
  })

  test('a tour continues at its step after another tour was shown', async () => {
    const before = await site.numbers('this')
    const { page, button } = await openStubbed('/projects?case=this')
    await says(page, 'this one')
    await button('Next').click()
    await says(page, 'this two')
    // Otherwise another tour does not interrupt this one.
    await page.goto(`${site.url}/settings/people`)
    await leftLongAgo(page)
    await page.goto(`${site.url}/projects?case=other`)
    await says(page, 'other one')
    await page.goto(`${site.url}/projects?case=this`)
    await says(page, 'this two')
    await page.goto(`${site.url}/projects?case=other`)
    await says(page, 'other one')
    await allSent(page)
    const { totals } = await site.until(
      'this',
      ({ totals }) => totals.starts > before.totals.starts,
    )
    expect(totals.starts).toBe(before.totals.starts + 1)
  })

  test('traits that are not JSON do not prevent flows or reports', async () => {
    const circle = 'const circle = {}; circle.self = circle;'
    const odd = `{ big: 10n, circle, at: new Date(0), not: NaN, fails: { toJSON() { throw 1 } }, plan: 'pro' }`
    const { page, noticed } = await site.browser.page()
    await page.route('**/app.js', route =>
      route.fulfill({ body: '', contentType: 'text/javascript' }),
    )
    const calls = stub(`['identify', 'odd', ${odd}]`, `['track', 'odd', ${odd}]`)
    await page.addInitScript(circle + calls)
    await page.goto(`${site.url}/projects?case=traits`)
    await says(page, 'traits one')
    const traits = await page.evaluate(() => {
      const name = Object.keys(localStorage).find(name => name.endsWith(':person')) ?? ''
      return JSON.parse(localStorage.getItem(name) ?? '{}').traits
    })
    expect(traits).toEqual({ big: 10, at: '1970-01-01T00:00:00.000Z', not: null, plan: 'pro' })
    await leave(page)
    await site.until('traits', ({ totals }) => totals.starts === 1)
    // A page that closes gets no responses to its last reports.
    const isReport = (text: string) => /^failed: .*\/api\/v1\/events\b/.test(text)
    expect(noticed.complaints.filter(text => !isReport(text))).toEqual([])
  })

  test('an element with the id cairn does not prevent the script from starting', async () => {
    const { page } = await openStubbed(
      '/projects?case=element',
      "new MutationObserver(() => { const tag = document.querySelector('script[data-key]'); if (tag) tag.id = 'cairn' }).observe(document, { childList: true, subtree: true })",
    )
    await page.route('**/cairn-stub.js', route =>
      route.fulfill({ body: '', contentType: 'text/javascript' }),
    )
    await page.reload()
    await says(page, 'element one')
  })

  test('a part of the script that fails to load is loaded again, and the flow is shown once', async () => {
    const { page, noticed } = await site.browser.page({ clock: true })
    let failures = 0
    await page.route('**/snippet-renderer-*', route => {
      if (failures++ === 0) return route.abort()
      return route.continue()
    })
    await page.goto(`${site.url}/projects?case=chunk`)
    await until(() => failures > 0)
    await pass(page, 6_000)
    await says(page, 'chunk one')
    await call(page, 'start', 'chunk')
    await leave(page)
    expect(noticed.complaints.filter(text => !/renderer|ERR_FAILED/.test(text))).toEqual([])
    const { totals } = await site.until('chunk', ({ totals }) => totals.starts > 0)
    expect(totals.starts).toBe(1)
  })

  test('a tab shows its checklist while another tab shows a tour', async () => {
    const { page } = await openStubbed('/projects?case=both')
    await says(page, 'both one')
    const second = await page.context().newPage()
    await second.goto(`${site.url}/projects?case=both`)
    await shown(second).launcher.or(shown(second).panel).first().waitFor()
    expect(await shown(second).title.getByText('both one').count()).toBe(0)
  })

  test('a closed announcement does not return when the page only rewrites its address', async () => {
    const { page, button, card } = await openStubbed('/projects?case=always')
    await says(page, 'always one')
    await button('Close').click()
    await page.evaluate(() => history.replaceState(null, '', '#section-2'))
    await rest(page)
    expect(await card.count()).toBe(0)
    await page.evaluate(() => history.pushState(null, '', '/projects/atlas'))
    await page.evaluate(() => history.pushState(null, '', '/projects?case=always'))
    await says(page, 'always one')
  })

  test('a prerendered page requests, shows and reports nothing until it is activated', async () => {
    const { page, noticed } = await openStubbed(
      '/projects?case=prerender',
      "let is = true; Object.defineProperty(Document.prototype, 'prerendering', { get: () => is }); window.activate = () => { is = false; document.dispatchEvent(new Event('prerenderingchange')) }",
    )
    await call(page, 'track', 'unseen')
    await pass(page, 120_000)
    expect(noticed.requests.filter(url => url.includes('/api/'))).toEqual([])
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
    await page.evaluate('activate()')
    await says(page, 'prerender one')
  })

  test('a page restored from the back/forward cache shows what is due now', async () => {
    const { page, button, card } = await openStubbed('/projects?case=back')
    await says(page, 'back one')
    // Acts as if the tour had ended on another page of this browser.
    const ended = await page.evaluate(() => {
      const names = Object.keys(localStorage).filter(name => /:runs?:/.test(name))
      for (const name of names) localStorage.removeItem(name)
      const past = Object.keys(localStorage).find(name => name.endsWith(':past')) ?? ''
      const text = localStorage.getItem(past) ?? ''
      localStorage.setItem(past, text.replaceAll('"completedAt":null', '"completedAt":1'))
      window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
      return names.length
    })
    expect(ended).toBe(1)
    await card.waitFor({ state: 'detached' })
    await button('Next').waitFor({ state: 'detached' })
  })
})

describe('when and for whom', () => {
  test('a flow whose schedule starts while its page is open is shown without a reload', async () => {
    await site.publish(soon(Date.now()) + flows)
    const page = await visit('/home?case=soon')
    await none(page)
    await pass(page, 2 * minuteMs)
    await says(page, 'Soon')
  })

  test('a visitor whose clock is years behind sees current flows, and no ended ones', async () => {
    const { page } = await site.browser.page()
    await page.clock.setFixedTime(Date.UTC(2020, 4, 1))
    await page.goto(`${site.url}/home?case=clock`)
    await says(page, 'Begun')
  })

  test('a delay is counted per page, and continues when the query changes', async () => {
    const page = await visit('/home?case=delay')
    await pass(page, 20_000)
    await page.evaluate(() => history.replaceState(null, '', '/home?case=delay&filter=1'))
    await pass(page, 10_000)
    await none(page)
    await page.evaluate(() => history.replaceState(null, '', '/home?case=delay'))
    await pass(page, 30_000)
    await says(page, 'Delayed')
  })

  test('a flow that follows another is shown on the next page after that is completed', async () => {
    const { page } = await site.visit('/home?case=after')
    await says(page, 'First')
    await shown(page).button('Done').click()
    await shown(page).card.waitFor({ state: 'detached' })
    await page.reload()
    await says(page, 'Second')
  })

  test('an event counts once, whether the page tracks it or a back end sends it', async () => {
    await report([{ id: 'from-the-back-end', kind: 'custom', name: 'exported', userId: 'counted' }])
    const page = await visit('/home?case=event&as=counted')
    await call(page, 'track', 'exported')
    await allSent(page)
    // The page gets the event that it has tracked back with the flows.
    await forgetFlows(page)
    await reload(page)
    await none(page)
    await call(page, 'track', 'exported')
    await says(page, 'Thrice')
  })

  test('a flow waits until its element is visible', async () => {
    const page = await visit('/home?case=element')
    await page.evaluate(() => {
      const lazy = Object.assign(document.createElement('p'), { id: 'lazy', hidden: true })
      lazy.append('Here')
      document.body.append(lazy)
    })
    await pass(page, 2_000)
    await none(page)
    await page.evaluate(() => document.querySelector('#lazy')?.removeAttribute('hidden'))
    await pass(page, 1_000)
    await says(page, 'There')
  })

  test('nobody sees a flow with a rollout of zero percent, unless the page starts it', async () => {
    const page = await visit('/home?case=share')
    await none(page)
    await call(page, 'start', 'nobody')
    await says(page, 'Nobody')
  })

  interface Experiment {
    shown: { people: number; achieved: number }
    heldOut: { people: number; achieved: number }
  }

  test('a person in the hold-out sees nothing, is counted once, and is measured by the goal', async () => {
    const place = (name: string) =>
      rolloutOf({ key: 'measured', rollout: { percent: 100, holdOut: 50 } }, `u${name}`)
    const names = Array.from({ length: 40 }, (_, i) => `person-${i}`)
    const held = names.find(name => place(name) === 'held_out')!
    const sees = names.find(name => place(name) === 'in')!

    const one = await visit(`/home?case=hold&as=${sees}`)
    await says(one, 'Measured')
    await call(one, 'track', 'bought')
    await allSent(one)
    const other = await visit(`/home?case=hold&as=${held}`)
    await none(other)
    await reload(other)
    await none(other)
    await allSent(other)
    const { experiment } = (await until(
      () => site.numbers('measured'),
      numbers => (numbers as never as { experiment: Experiment }).experiment.heldOut.people > 0,
    )) as never as { experiment: Experiment }
    expect(experiment).toMatchObject({
      shown: { people: 1, achieved: 1 },
      heldOut: { people: 1, achieved: 0 },
    })
    const events = await site.place.run([
      'explain',
      'measured',
      '--user',
      held,
      '--page',
      `${site.url}/home?case=hold`,
    ])
    expect(events.stdout).toMatch(/✗ +rollout/)
    await one.close()
    await other.close()
  })

  test('a frequency cap prevents a second flow, except one that the page starts', async () => {
    await site.place.run(['org', 'set', 'throttle', '1'])
    const page = await visit('/home?case=after')
    await says(page, 'First')
    await shown(page).button('Done').click()
    await reload(page)
    await none(page)
    await call(page, 'start', 'second')
    await says(page, 'Second')
    await page.close()
    await site.place.run(['org', 'unset', 'throttle'])
  })
})
