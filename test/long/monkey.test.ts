import gettingStarted from '../../src/cli/demo/flows/getting-started.yaml' with { type: 'text' }
import springRelease from '../../src/cli/demo/flows/spring-release.yaml' with { type: 'text' }
import welcomeTour from '../../src/cli/demo/flows/welcome-tour.yaml' with { type: 'text' }
import { afterAll, describe, test } from '../support/in-browser.ts'
import { Site } from '../support/site.ts'
import { clickThrough } from './monkey.ts'

/**
 * Visitors who click at random: after every click, the page shows what is due. The seed determines what a
 * visitor does: CAIRN_TEST_SEED=7 gives other visitors. CAIRN_TEST_MONKEY=2000 sets the clicks on each site.
 */

const seed = Number(process.env.CAIRN_TEST_SEED ?? 1)
const clicks = 30
const visitors = Math.ceil(Number(process.env.CAIRN_TEST_MONKEY ?? 2 * clicks) / clicks)

/** Steps of every kind, with elements that come late, never or elsewhere, and flows that compete. */
const others = `
- key: round
  priority: 5
  frequency: until_completed
  targeting: { urls: [{ match: exact, pattern: /home }, { match: prefix, pattern: /projects }] }
  steps:
    - { key: one, kind: modal, title: Round one }
    - { key: two, title: Round two, target: { selector: .task-add, waitMs: 300, onMissing: wait }, advance: { on: click } }
    - { key: three, kind: banner, title: Round three, page: { match: exact, pattern: /settings/people } }
    - { key: four, title: Round four, target: { selector: "#none", waitMs: 200 } }
    - { key: five, kind: hotspot, title: Round five, target: { selector: "#invite-people" } }
- key: people
  targeting: { urls: [{ match: prefix, pattern: /settings }] }
  frequency: always
  steps:
    - { key: one, title: People one, page: { match: exact, pattern: /settings/people }, target: { selector: "#address" } }
    - { key: two, kind: modal, title: People two, page: { match: glob, pattern: "/settings/n*" },
        buttons: [{ label: Back, action: back }, { label: Done, action: complete }] }
- key: news
  kind: announcement
  priority: 1
  steps: [{ key: one, kind: banner, title: News }]
- key: first
  kind: checklist
  frequency: until_completed
  targeting: { urls: [{ match: prefix, pattern: /home }, { match: prefix, pattern: /settings }] }
  checklist:
    order: sequence
    items:
      - { key: a, title: A, href: /projects }
      - { key: b, title: B, completeOn: { event: task_created } }
      - { key: c, title: C }
- key: second
  kind: checklist
  targeting: { urls: [{ match: prefix, pattern: / }] }
  checklist: { items: [{ key: a, title: Second A }] }
`

describe.each([
  ['the demo', [welcomeTour, gettingStarted, springRelease].join('\n---\n'), '/home'],
  ['a site of many flows', others, '/projects'],
])('on %s', (_, flows, start) => {
  let site: Site | null = null
  afterAll(async () => site?.close())

  test.each(Array.from({ length: visitors }, (_, i) => seed + i))(
    'visitor %i is shown what is due after every click',
    async seed => {
      site ??= await Site.open(flows as unknown as string)
      await clickThrough(site, { seed, clicks, start })
    },
  )
})
