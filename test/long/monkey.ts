import { until } from '../../scripts/support/until.ts'
import { SeededRandom } from '../../src/cli/demo/random.ts'
import {
  type FlowHistory,
  firstDue,
  goesOnAt,
  isOnPage,
  noHistory,
} from '../../src/core/flow/decision.ts'
import type { Flow, Step } from '../../src/core/flow/flow.ts'
import { judgeOf, newcomer } from '../../src/core/flow/moment.ts'
import { shownAs } from '../../src/core/flow/shown-as.ts'
import type { Page } from '../support/browser.ts'
import type { Site } from '../support/site.ts'

/**
 * A visitor who clicks at random, goes back, reloads and presses Escape. After every action the page is checked:
 * either it shows what is due by the published flows and by what this browser knows of the person, or nothing
 * is due.
 */

type Slot = ReturnType<typeof shownAs>

/** The part of a run in the snippet's storage that the check needs. */
interface Run {
  runId: string
  flowId: string
  stepId: string | null
  viewed: string[]
  seenAt?: number
  askedForOn?: string
}

/** What can be seen of a page, and read in its storage. */
interface Seen {
  url: string
  /** When this page view began, epoch milliseconds. */
  viewAt: number
  now: number
  runs: Record<Slot, Run[]>
  past: Record<string, FlowHistory>
  traits: Record<string, unknown>
  /** Titles of the steps on the page; a hotspot's dot has its title too. */
  steps: string[]
  isElsewhere: boolean
  isListShown: boolean
  /** Ids of the steps whose element is visible on the page. */
  elements: string[]
}

/** A person who saw a step this recently is not interrupted; see the snippet's engine. */
const inTheMiddleMs = 5 * 60_000
/** How long a due step may take to appear, because an element is waited for before the next step. Milliseconds. */
const patienceMs = 12_000

const selectorsOf = (flows: readonly Flow[]) =>
  flows.flatMap(({ steps }) =>
    steps.flatMap(({ id, target }) => (target ? [[id, target.selector] as const] : [])),
  )

/** What runs in the page, where `selectors` are those of the steps. */
const lookAround = `
  const kept = ending => {
    const name = Object.keys(localStorage).find(name => name.includes(ending))
    return JSON.parse((name && localStorage.getItem(name)) ?? 'null')
  }
  const root = document.querySelector('[data-cairn]')?.shadowRoot
  const all = selector =>
    [...(root?.querySelectorAll(selector) ?? [])].filter(one => one.checkVisibility())
  const steps = all('.card:not(.panel, .elsewhere) h2').map(title => title.textContent)
  const spots = all('.spot').map(spot => spot.ariaLabel)
  return {
    url: location.href,
    viewAt: window.viewAt,
    now: Date.now(),
    runs: { steps: kept(':runs:steps:') ?? [], checklist: kept(':runs:checklist:') ?? [] },
    past: kept(':past')?.[0]?.[1] ?? {},
    traits: kept(':person')?.traits ?? {},
    steps: [...steps, ...spots].map(String),
    isElsewhere: all('.elsewhere').length > 0,
    isListShown: all('.launcher, .panel').length > 0,
    elements: selectors
      .filter(([, selector]) => document.querySelector(selector)?.checkVisibility())
      .map(([id]) => id),
  }`

const look = (page: Page, flows: readonly Flow[]): Promise<Seen> =>
  page.evaluate(`(selectors => {${lookAround}})(${JSON.stringify(selectorsOf(flows))})`)

/** What makes an address another page to the snippet. */
const viewOf = (url: URL) => url.pathname

/** A sentence about what is wrong with the page, or null if all is well. */
export function faultIn(seen: Seen, flows: readonly Flow[], before: Seen | null): string | null {
  const url = new URL(seen.url)
  const ofSlot = (slot: Slot) => flows.filter(flow => shownAs(flow) === slot)
  const begun = (slot: Slot) =>
    seen.runs[slot].flatMap(run => {
      const flow = ofSlot(slot).find(({ id }) => id === run.flowId)
      return flow ? [{ flow, run }] : []
    })
  const hasEndedHere = (slot: Slot) =>
    ofSlot(slot).some(({ id }) => {
      const { completedAt = 0, dismissedAt = 0 } = seen.past[id] ?? {}
      return Math.max(completedAt ?? 0, dismissedAt ?? 0) >= seen.viewAt
    })
  const isInTheMiddle = (runs: readonly Run[], now: number) =>
    runs.some(({ seenAt = 0 }) => now - seenAt < inTheMiddleMs)
  /** The flow that a slot shows here. */
  const due = (slot: Slot): { flow: Flow; run: Run | null } | null => {
    const requested = begun(slot).find(({ run }) => run.askedForOn === viewOf(url))
    if (requested || hasEndedHere(slot)) return requested ?? null
    const goesOn = begun(slot).find(({ flow }) => goesOnAt(flow, url))
    if (goesOn) return goesOn
    if (begun(slot).some(({ run }) => isInTheMiddle([run], seen.now))) return null
    const candidates = ofSlot(slot).map(flow => {
      const history = seen.past[flow.id] ?? noHistory
      return { flow, status: 'published' as const, history }
    })
    const flow = firstDue(
      candidates,
      { url, traits: seen.traits },
      judgeOf(newcomer(seen.now)),
    )?.flow
    return flow ? { flow, run: null } : null
  }

  const steps = due('steps')
  const step = steps?.run && steps.flow.steps.find(({ id }) => id === steps.run?.stepId)
  if (steps && !step) return `${steps.flow.key} is due, and has not begun`
  if (steps && step) {
    const fault = faultInStep(step, seen, url)
    if (fault) return `${steps.flow.key}, ${step.key}: ${fault}`
  }
  if (!steps && (seen.steps.length > 0 || seen.isElsewhere)) {
    return `${[...seen.steps, 'a step'][0]} is shown, and nothing is due`
  }
  const list = due('checklist')
  if (list && seen.steps.length === 0 && !seen.isListShown) {
    return `${list.flow.key} is due, and neither it nor a step is shown`
  }
  if (!before) return null
  const known = before.runs.steps.map(({ runId }) => runId)
  const fresh = seen.runs.steps.find(run => !known.includes(run.runId) && !run.askedForOn)
  const goesOn = seen.runs.steps.filter(({ runId }) => known.includes(runId))
  if (fresh && isInTheMiddle(goesOn, seen.now)) return 'a new flow came in the middle of another'
  return null
}

function faultInStep(step: Step, seen: Seen, url: URL): string | null {
  if (!isOnPage(step, url)) {
    return seen.isElsewhere ? null : 'it is for another page, and the page does not show that'
  }
  if (seen.isElsewhere) return 'it is for this page, but is shown as one for another page'
  const { target } = step
  const isWaiting = target?.onMissing === 'wait' && !seen.elements.includes(step.id)
  if (isWaiting) return seen.steps.length > 0 ? `${seen.steps[0]} is shown in its place` : null
  return seen.steps.includes(step.title) ? null : `not shown, but ${JSON.stringify(seen.steps)}`
}

/** Something that can be clicked, and where. */
interface Place {
  label: string
  isOurs: boolean
  x: number
  y: number
}

const places = (page: Page): Promise<Place[]> =>
  page.evaluate(`(() => {
    const found = (root, isOurs) =>
      [...(root?.querySelectorAll('a[href], button, input') ?? [])]
        .filter(one => one.checkVisibility({ visibilityProperty: true }))
        .map(one => {
          const { x, y, width, height } = one.getBoundingClientRect()
          const label = one.ariaLabel ?? one.textContent?.trim() ?? ''
          return { label, isOurs, x: x + width / 2, y: y + height / 2 }
        })
        .filter(({ x, y }) => x > 0 && y > 0 && x < innerWidth && y < innerHeight)
    const root = document.querySelector('[data-cairn]')?.shadowRoot
    return [...found(document, false), ...found(root, true)]
  })()`)

const isToLeave = /^(Close|Not now|Hide this list|End the tour)$/

/** Does one action of a visitor, and returns its description. */
async function act(page: Page, random: SeededRandom, site: Site): Promise<string> {
  const dice = random.next()
  if (dice < 0.04) {
    await page.reload()
    return 'reloads'
  }
  if (dice < 0.08) {
    await page.goBack({ waitUntil: 'commit' }).catch(() => {})
    if (!page.url().startsWith(site.url)) await page.goto(`${site.url}/home`)
    return 'goes back'
  }
  if (dice < 0.11) {
    await page.keyboard.press('Escape')
    return 'presses Escape'
  }
  const all = await places(page)
  // A visitor who closed everything they see would get nowhere.
  const stays = random.chance(0.8)
  const ours = all.filter(({ isOurs, label }) => isOurs && !(stays && isToLeave.test(label)))
  const place = random.pick(ours.length > 0 && random.chance(0.55) ? ours : all)
  if (!place) return 'finds nothing to click'
  await page.mouse.click(place.x, place.y)
  // What the click leads to has begun by the next frame.
  await page.evaluate('new Promise(requestAnimationFrame)').catch(() => {})
  await page.waitForLoadState()
  return `clicks ${place.isOurs ? 'our ' : ''}${JSON.stringify(place.label)}`
}

/**
 * Lets a visitor click, and checks what is shown after every click.
 *
 * @throws if something is due and not shown, with the acts that led there
 */
export async function clickThrough(
  site: Site,
  { seed, clicks, start }: { seed: number; clicks: number; start: string },
): Promise<void> {
  const random = new SeededRandom(`monkey ${seed}`)
  const isNarrow = random.chance(0.3)
  const { page } = await site.browser.page({
    person: `monkey ${seed}`,
    viewport: isNarrow ? { width: 360, height: 740 } : { width: 1280, height: 800 },
  })
  const context = page.context()
  context.on('page', other => other.close().catch(() => {}))
  await context.addInitScript(`{
    let path = location.pathname
    window.viewAt = Date.now()
    navigation.addEventListener('currententrychange', () => {
      if (location.pathname !== path) window.viewAt = Date.now()
      path = location.pathname
    })
    addEventListener('pageshow', ({ persisted }) => {
      if (persisted) window.viewAt = Date.now()
    })
  }`)
  const flows = await site.flows()
  const trace: string[] = []
  let before: Seen | null = null

  const judge = async () => {
    const found = await until(
      async () => {
        // A page that is being left cannot be looked at.
        const seen = await look(page, flows).catch(() => null)
        return { fault: seen ? faultIn(seen, flows, before) : 'there is no page', seen }
      },
      ({ fault }) => fault === null,
      patienceMs,
    ).catch(({ message }: Error) => {
      throw new Error(`CAIRN_TEST_SEED=${seed}: ${message}\n${trace.join('\n')}`)
    })
    before = found.seen
  }

  await page.goto(site.url + start)
  await until(() => page.evaluate('Object.keys(localStorage).some(name => /:flows$/.test(name))'))
  await judge()
  for (let done = 1; done <= clicks; done++) {
    trace.push(`${done} at ${new URL(page.url()).pathname} ${await act(page, random, site)}`)
    await judge()
  }
  await context.close()
}
