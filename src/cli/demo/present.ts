import type { Flow, Step } from '../../core/flow/flow.ts'
import type { HealthOutcome } from '../../core/step/health.ts'
import { version as snippetVersion } from '../../core/version.ts'
import type { Asker } from '../asking.ts'
import { type DemoEvent, demoOrigin } from './history.ts'

/** Calls the API as a page or a back end would. */
export type Page = Asker['ask']

/** What ten people's pages report about a step's element: most steps are well, two are not. */
const outcomes: Record<string, readonly HealthOutcome[]> = {
  'add-task': ['not_found', 'hidden', 'not_found', 'not_found', 'not_found', 'not_found'],
  'find-help': ['found_by_alternate', 'changed', 'found_by_alternate'],
}
const reporters = 10

/**
 * What pages see instead for those two: the button of `add-task` has other classes, so that its selector
 * finds nothing, and the element around Help is no longer a header.
 */
const changed: Record<string, { isFound: boolean; change: Record<string, unknown> }> = {
  'add-task': {
    isFound: false,
    change: { selector: 'button.task-new', classes: ['task-new'] },
  },
  'find-help': {
    isFound: true,
    change: {
      selector: '[role="banner"] [aria-label="Help"]',
      ancestors: [{ tag: 'div', role: 'banner', nth: 0 }],
    },
  },
}

/** The surroundings of elements on the site's pages. */
const header = [{ tag: 'header', nth: 0 }]
const row = [
  { tag: 'div', nth: 1 },
  { tag: 'main', role: 'main', nth: 2 },
]
const button = (name: string, more: Record<string, unknown>) => ({
  ...{ tag: 'button', role: 'button', name, text: name, attributes: { type: 'button' } },
  ...more,
})

/** The elements of the steps by key, as the site's pages describe them. */
const elements: Record<string, Record<string, unknown>> = {
  hello: { tag: 'nav', role: 'navigation', name: 'Harbor', ariaLabel: 'Harbor' },
  'create-project': button('New project', { classes: ['main'], ancestors: header }),
  'add-task': button('Add a task', { classes: ['task-add'], ancestors: row }),
  'invite-team': {
    ...{ tag: 'input', id: 'address', name: 'E-mail', ariaLabel: 'E-mail', ancestors: row },
    attributes: { type: 'email', placeholder: 'name@example.com' },
  },
  'find-help': button('Help', { ariaLabel: 'Help', text: '?', ancestors: header }),
}

/** The element of a step as a page would describe it. */
export const fingerprintOf = (step: Step, change: Record<string, unknown> = {}) => ({
  selector: step.target?.selector ?? 'body',
  matchCount: 1,
  ...(elements[step.key] ?? { tag: 'button' }),
  nthOfType: 0,
  rect: { x: 24, y: 64, width: 132, height: 36 },
  ...change,
})

/**
 * Sends the present day: health reports, fingerprints, heartbeats, ticks and completions through their own
 * routes. Stays well within every limit, so that the copied calls are not refused.
 */
export async function sendPresent(
  page: Page,
  flows: readonly Flow[],
  recent: readonly DemoEvent[],
): Promise<void> {
  const people = [...new Set(recent.flatMap(({ userId }) => userId ?? []))]
  const steps = flows.flatMap(flow => flow.steps).filter(step => step.target !== null)
  const query = new URLSearchParams({ v: snippetVersion, url: demoOrigin, sid: 'demo' })
  await page(`GET /heartbeat?${query}`)
  for (const step of steps) {
    await page(`POST /steps/${step.id}/fingerprint`, { body: report(fingerprintOf(step)) })
    await Promise.all(
      Array.from({ length: reporters }, (_, i) =>
        page(`POST /steps/${step.id}/health`, {
          body: {
            ...healthOf(step, outcomes[step.key]?.[i] ?? 'found', i),
            userId: people[i] ?? `u${i + 1}`,
          },
        }),
      ),
    )
  }
  for (const step of steps) {
    const seen = changed[step.key]
    if (!seen) continue
    const element = fingerprintOf(step, seen.change)
    const found = seen.isFound ? { ...element, matchCount: 0 } : null
    for (let i = 0; i < 3; i++) {
      await page(`POST /steps/${step.id}/fingerprint`, { body: report(found, [element]) })
    }
  }
  await tick(page, flows, recent)
  await complete(page, flows, recent)
  await page('GET /snippet-status')
}

const report = (fingerprint: unknown, candidates: readonly unknown[] = []) => ({
  fingerprint,
  candidates,
  url: `${demoOrigin}/projects`,
  locale: 'en',
  viewport: { width: 1440, height: 900 },
  snippetVersion,
})

/** What a page reports about a step's element; `i` makes reports differ. */
export function healthOf(step: Step, outcome: HealthOutcome, i: number) {
  return {
    outcome,
    url: `${demoOrigin}${step.page?.pattern ?? `/projects/${['atlas', 'borealis'][i % 2]}`}?view=board`,
    selector:
      outcome === 'found_by_alternate' ? changed[step.key]?.change.selector : step.target?.selector,
    matchCount: outcome === 'not_found' ? 0 : 1,
    waitMs: outcome === 'not_found' ? (step.target?.waitMs ?? 3_000) : 40 + (i % reporters) * 25,
    ...(outcome === 'not_found' ? { message: 'No element after waiting' } : {}),
    snippetVersion,
  }
}

/** Some people who opened the checklist lately tick an item by hand. */
async function tick(page: Page, flows: readonly Flow[], recent: readonly DemoEvent[]) {
  const flow = flows.find(({ checklist }) => checklist !== null)
  const item = flow?.checklist?.items.find(({ completeOn }) => completeOn === null)
  if (!flow || !item) return
  const opened = recent.filter(({ kind }) => kind === 'checklist_opened').slice(-8)
  for (const { userId } of opened) {
    const items = [{ key: item.key, completed: true }]
    await page(`POST /flows/${flow.id}/checklist-progress`, { body: { userId, items } })
  }
}

/** Harbor's back end completes the announcement for some people who saw it lately. */
async function complete(page: Page, flows: readonly Flow[], recent: readonly DemoEvent[]) {
  const flow = flows.find(({ kind }) => kind === 'announcement')
  if (!flow) return
  const seen = recent.filter(({ kind, flowId }) => kind === 'flow_started' && flowId === flow.id)
  for (const { userId, anonymousId, runId, occurredAt } of seen.slice(-6)) {
    const completedAt = occurredAt + 20_000
    await page(`POST /flows/${flow.id}/complete`, {
      body: { userId, anonymousId, runId, completedAt },
    })
  }
}
