import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { rolloutOf } from '../../src/core/flow/rollout.ts'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** When a flow begins on a page, and for whom, by more than its address and audience. */

const minuteMs = 60_000
const local = (ms: number) => new Date(ms).toISOString().slice(0, 16)

const at = (path: string) =>
  `targeting: { urls: [{ match: prefix, pattern: "/home?case=${path}" }] }`
const steps = (title: string) => `steps: [{ key: one, kind: modal, title: ${title} }]`

/** Begins on the minute, one to two minutes after it was published. */
const soon = (now: number) => `
- key: soon
  ${at('soon')}
  schedule: { from: "${local(now + 2 * minuteMs)}" }
  ${steps('Soon')}
`

const flows = `
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
  when: { delayMs: 5000 }
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

const says = (page: Page, title: string) =>
  shown(page).title.getByText(title, { exact: true }).waitFor()

const none = async (page: Page) => expect(await shown(page).card.count()).toBe(0)

/** Opens a page whose clock the test moves, and lets it come to rest. */
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

const call = (page: Page, name: string, ...args: unknown[]) =>
  page.evaluate(
    ([name, args]) => {
      const { cairn } = window as never as { cairn: Record<string, (...args: unknown[]) => void> }
      cairn[name as string]?.(...(args as unknown[]))
    },
    [name, args],
  )

/** Reports events as a back end does. */
const report = async (events: object[]) => {
  const response = await fetch(`${site.server.url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.snippetKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  })
  expect(response.status).toBe(202)
}

test('a flow that begins while its page is open is shown without a reload', async () => {
  await site.publish(soon(Date.now()) + flows)
  const page = await visit('/home?case=soon')
  await none(page)
  await pass(page, 2 * minuteMs)
  await says(page, 'Soon')
})

test('with a clock years behind, a visitor sees no flow that is over, and those that have begun', async () => {
  const { page } = await site.browser.page()
  await page.clock.setFixedTime(Date.UTC(2020, 4, 1))
  await page.goto(`${site.url}/home?case=clock`)
  await says(page, 'Begun')
})

test('a delay is counted per page, and continues when the query changes', async () => {
  const page = await visit('/home?case=delay')
  await pass(page, 2_000)
  await page.evaluate(() => history.replaceState(null, '', '/home?case=delay&filter=1'))
  await pass(page, 500)
  await none(page)
  await page.evaluate(() => history.replaceState(null, '', '/home?case=delay'))
  await pass(page, 2_000)
  await says(page, 'Delayed')
})

test('one flow follows another once that was completed, on the next page at the earliest', async () => {
  const { page } = await site.visit('/home?case=after')
  await says(page, 'First')
  await shown(page).button('Done').click()
  await shown(page).card.waitFor({ state: 'detached' })
  await page.reload()
  await says(page, 'Second')
})

test('an event counts if the page tracks it or a back end sends it, and never twice', async () => {
  await report([{ id: 'from-the-back-end', kind: 'custom', name: 'exported', userId: 'counted' }])
  const page = await visit('/home?case=event&as=counted')
  await call(page, 'track', 'exported')
  await allSent(page)
  // The event that the page has tracked comes back to it with the flows.
  await page.evaluate(() => {
    const names = Object.keys(localStorage).filter(name => name.endsWith(':flows'))
    for (const name of names) localStorage.removeItem(name)
  })
  await reload(page)
  await none(page)
  await call(page, 'track', 'exported')
  await says(page, 'Thrice')
})

test('a flow waits until its element is visible, whenever that is', async () => {
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

test('nobody sees a flow for zero percent of people, unless the page asks for it', async () => {
  const page = await visit('/home?case=share')
  await none(page)
  await call(page, 'start', 'nobody')
  await says(page, 'Nobody')
})

interface Experiment {
  shown: { people: number; achieved: number }
  heldOut: { people: number; achieved: number }
}

test('a person who is held out sees nothing, is counted once, and measured by the goal', async () => {
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
    'harbor',
    'measured',
    '--user',
    held,
    '--url',
    `${site.url}/home?case=hold`,
  ])
  expect(events.stdout).toContain('✗ rollout')
  await one.close()
  await other.close()
})

test('a throttle lets no second flow interrupt, except one that was asked for', async () => {
  await site.place.run(['org', 'throttle', 'harbor', '1'])
  const page = await visit('/home?case=after')
  await says(page, 'First')
  await shown(page).button('Done').click()
  await reload(page)
  await none(page)
  await call(page, 'start', 'second')
  await says(page, 'Second')
  await page.close()
  await site.place.run(['org', 'throttle', 'harbor', '--none'])
})
