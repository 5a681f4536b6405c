import type { Answer } from '../../../core/flow/answer.ts'
import { placeOf } from '../../../core/flow/paths.ts'
import { idsOf } from '../engine.ts'
import type {
  Choice,
  Finder,
  Flow,
  Found,
  FoundElement,
  HealthReport,
  Step,
  StepView,
} from '../parts.ts'
import { isWithin } from '../recency.ts'
import type { Run } from '../runs.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import type { Drawn } from './draw-step.ts'
import type { Drawer } from './drawer.ts'
import { candidatesOf, fingerprintOf } from './fingerprint.ts'
import { keepTrying } from './keep-trying.ts'
import { keepUpWith } from './keep-up.ts'
import { createPresses } from './presses.ts'
import { createScrolls, type Scrolls } from './scrolling.ts'
import { languagesOf, spoken } from './spoken.ts'
import { addressOf, leadsTo } from './step-address.ts'
import type { StepReports } from './step-reports.ts'
import { createWay } from './way.ts'

/** How often it is checked whether a page has changed its language, milliseconds. */
const watchMs = 250
/** This long after its time is over, a step is found in another way, or not for now, milliseconds. */
const furtherMs = 1_000
/** How often it is noted that a step is on the page, milliseconds. */
const notedMs = 60_000
/** A page that is still there this long after it was about to be left stays, milliseconds. */
const leavesMs = 10_000
/** After this time the visitor is offered the way to a page that did not come, milliseconds. */
const comesMs = 3_000

/**
 * Plays a flow's steps from the run's step on. Ends by itself, or by `leave`, which reports nothing.
 *
 * @param drawing called whenever a step comes onto the page or leaves it
 */
export function playSteps(
  flow: Flow,
  run: Run,
  {
    drawer,
    finder,
    reports,
    drawing,
    ...deps
  }: StageDeps & {
    drawer: Drawer
    finder: Finder
    reports: StepReports
    drawing(isDrawn: boolean): void
    save(): void
  },
): { leave(): void; moved(): void; requested(): void; tracked(name: string): void } {
  const { outbox, page, tell, loadPart } = deps
  const { steps } = flow
  let drawn: Pick<Drawn, 'remove'> | null = null
  let current: Step | null = null
  /** How the page may be scrolled for the step that was shown last. */
  let scrolling: { step: Step; scrolls: Scrolls } | null = null
  /** Whether the step that is due is for another page, and the visitor knows. */
  let isElsewhere = false
  let hasLeft = false
  /** Whether the page has started the flow: then the visitor is led to where it continues. */
  let isRequested = false
  /** Ends the search, the listeners and the watching of the step that is due. */
  let leaving = new AbortController()

  const ids = () => idsOf(flow, run)
  const indexOf = (step: Step) => steps.indexOf(step)
  const way = createWay(flow, run, deps)
  const awaitPress = createPresses(page)
  /** What was answered so far, but not sent, by the step's id. */
  const drafts = new Map<string, Answer | null>()

  const clear = () => {
    leaving.abort()
    leaving = new AbortController()
    if (drawn) drawing(false)
    drawn?.remove()
    drawn = null
  }

  const finish = (outcome: 'completed' | 'dismissed', reason?: string) => {
    clear()
    current = null
    deps.end('steps', outcome, reason === undefined ? {} : { reason })
  }

  const giveWay = () => {
    clear()
    current = null
    deps.giveWay('steps')
  }

  /**
   * Goes to the step at a place or, if a rule leaves that step out, to the one after it. After the last one
   * the flow is completed.
   *
   * @param isLed whether the visitor chose to go there: if it is for another page, they are led to it
   * @param isSeen whether its turn had come already, so that it stays
   */
  const go = (index: number, { isBack = false, isLed = false, isSeen = false } = {}) => {
    clear()
    const step = steps[isBack || isSeen ? index : way.next(index)]
    if (!step) {
      if (steps.length > 0 && run.viewed.length === 0) giveWay()
      else finish('completed')
      return
    }
    run.stepId = step.id
    way.take(step)
    deps.save()
    current = step
    if (!isLed || !lead(step)) begin(step, isBack)
  }

  /** Leads the visitor to a step's page, but never again to the page that they were last led to in vain. */
  function lead(step: Step): boolean {
    const href = leadsTo(step, page)
    if (deps.isHere(step) || href === null) return false
    if (href === page.location.href || href === run.ledTo) return false
    run.ledTo = href
    isElsewhere = true
    seen()
    outbox.flush()
    // If the page does not come after all, the way there is offered.
    after(comesMs, leaving.signal, () => begin(step))
    if (!isTaken(step, href)) page.location.assign(href)
    return true
  }

  /** Tells the page, whose own router may go there. Returns whether it does. */
  function isTaken(step: Step, url: string): boolean {
    let isPrevented = false
    const preventDefault = () => {
      isPrevented = true
    }
    tell('navigate', { flowKey: flow.key, stepKey: step.key, url, preventDefault })
    return isPrevented
  }

  /** A step that cannot be shown hides nothing. */
  function begin(step: Step, isBack = false): void {
    enter(step, isBack).catch(() => drawing(false))
  }

  async function enter(step: Step, isBack = false): Promise<void> {
    const { signal } = leaving
    isElsewhere = !deps.isHere(step)
    if (isElsewhere) return tellOfPage(step, signal)
    delete run.ledTo
    const later = () => {
      clear()
      enterLater(step, isBack, leaving.signal)
    }
    page.addEventListener('beforeunload', later, { signal })
    if (step.target?.onMissing === 'wait') {
      after(step.target.waitMs + furtherMs, signal, () => deps.inVain(true))
    }
    const found = step.target === null ? null : await finder.find(step.target, signal)
    page.removeEventListener('beforeunload', later)
    if (signal.aborted) return
    // A page that has just re-rendered has another element.
    if (found?.element?.isConnected === false) return begin(step, isBack)
    if (found) check(step, found)
    if (found?.element === null) {
      if (!run.missed.includes(step.id)) {
        run.missed.push(step.id)
        deps.save()
        outbox.report({ kind: 'target_missing', ...ids(), stepId: step.id, reason: found.because })
      }
      tell('target_missing', { flowKey: flow.key, stepKey: step.key })
      if (step.target?.required) {
        if (step.target.onMissing === 'stop') finish('dismissed', 'target_missing')
        else if (isBack && way.before(step) >= 0) go(way.before(step), { isBack })
        else go(indexOf(step) + 1)
        return
      }
    }
    show(step, found?.element ? found : null)
  }

  /** A page that is being left need not have what a step points at: that is for the next page. */
  function enterLater(step: Step, isBack: boolean, signal: AbortSignal): void {
    after(leavesMs, signal, () => begin(step, isBack))
  }

  function after(ms: number, signal: AbortSignal, work: () => void): void {
    const timer = page.setTimeout(() => safely(work), ms)
    signal.addEventListener('abort', () => page.clearTimeout(timer))
  }

  /** Notes that something of the flow is on the page. */
  function seen(): void {
    run.seenAt = Date.now()
    deps.save()
    deps.inVain(false)
  }

  /** Tells the visitor of the step's page. The flow goes on as soon as they are there. */
  function tellOfPage(step: Step, signal: AbortSignal): void {
    const href = addressOf(step, page)
    const end = () => finish('dismissed', 'closed')
    const goThere = (href: string) => isTaken(step, href)
    const translated = spoken(flow, page, deps.locale)
    const view = {
      spoken: translated,
      flow: translated.flow,
      step,
      ...way.placeOf(step),
      href,
      goThere,
      end,
    }
    drawn = drawer.elsewhere(view)
    seen()
    watchLanguage(step, signal)
  }

  function show(step: Step, found: FoundElement | null): void {
    if (!run.viewed.includes(step.id)) {
      run.viewed.push(step.id)
      outbox.report({ kind: 'step_viewed', ...ids(), stepId: step.id })
    }
    seen()
    tell('step_viewed', { flowKey: flow.key, stepKey: step.key })
    drawing(true)
    const { signal } = leaving
    const choose = (choice: Choice) => chosen(step, choice)
    const hasBack = way.before(step) >= 0
    const part: StepView['part'] = name => keepTrying(() => loadPart(name), page, signal)
    const translated = spoken(flow, page, deps.locale)
    const content = {
      spoken: translated,
      flow: translated.flow,
      step: translated.flow.steps[indexOf(step)]!,
    }
    const given = drafts.get(step.id) ?? run.answers?.[step.id] ?? null
    const keepDraft: StepView['keepDraft'] = answer => drafts.set(step.id, answer)
    const element = found?.element ?? null
    // A step that is drawn anew leaves the page where the visitor has scrolled it.
    if (scrolling?.step !== step) scrolling = { step, scrolls: createScrolls() }
    const { scrolls } = scrolling
    const standing = { ...way.placeOf(step), hasBack, element, given, scrolls }
    const shown = drawer.step({ ...content, ...standing, choose, keepDraft, part })
    drawn = shown
    if (found && step.target) {
      const { pointAt: changed, isInUse } = shown
      const lost = () => again(step)
      const current = keepUpWith(
        step.target,
        found,
        { page, finder, signal },
        { changed, isInUse, lost },
      )
      if (step.advance.on === 'click') awaitPress(current, () => complete(step), signal)
    }
    watchLanguage(step, signal)
  }

  function again(step: Step): void {
    clear()
    begin(step)
  }

  /** A page may change its language without loading. */
  function watchLanguage(step: Step, signal: AbortSignal): void {
    const languages = String(languagesOf(page))
    const watch = () => {
      if (languages !== String(languagesOf(page))) again(step)
      else if (!isWithin(run.seenAt ?? 0, notedMs)) seen()
    }
    const watching = page.setInterval(() => safely(watch), watchMs)
    signal.addEventListener('abort', () => page.clearInterval(watching))
  }

  function chosen(step: Step, choice: Choice): void {
    if (current !== step) return
    const stepIds = { ...ids(), stepId: step.id }
    if (choice.answer !== undefined) answered(step, choice.answer)
    switch (choice.type) {
      case 'next':
        complete(step, { goto: choice.goto, isLed: true })
        break
      case 'back':
        if (way.before(step) >= 0) go(way.before(step), { isBack: true, isLed: true })
        break
      case 'skip':
        outbox.report({ kind: 'step_skipped', ...stepIds })
        go(indexOf(step) + 1, { isLed: true })
        break
      case 'dismiss':
        finish('dismissed', 'closed')
        break
      case 'complete':
        outbox.report({ kind: 'step_completed', ...stepIds })
        finish('completed')
        break
      case 'start':
        outbox.report({ kind: 'step_completed', ...stepIds })
        finish('completed')
        deps.start(choice.flow, 'button')
        break
      case 'link':
        complete(step)
        outbox.flush()
        if (choice.opensNewTab) page.open(choice.href, '_blank', 'noopener')
        else page.location.assign(choice.href)
    }
  }

  /** Reports an answer, and keeps it for whoever comes back and for the rules of later steps. */
  function answered(step: Step, answer: Answer): void {
    run.answers = { ...run.answers, [step.id]: answer }
    drafts.delete(step.id)
    const properties = { answer }
    outbox.report({ kind: 'question_answered', ...ids(), stepId: step.id, properties })
    tell('question_answered', { flowKey: flow.key, stepKey: step.key, answer })
  }

  /** @param to where it leads: the key of a step, if not to the next one */
  function complete(step: Step, to: { goto?: string | undefined; isLed?: boolean } = {}): void {
    outbox.report({ kind: 'step_completed', ...ids(), stepId: step.id })
    const next = indexOf(step) + 1
    const { goto, isLed = false } = to
    go(goto === undefined ? next : placeOf(steps, goto, next), { isLed })
  }

  /** Reports how the step's target fares, once a run; if it was missing before, also that it was found. */
  function check(step: Step, found: Found): void {
    const isChecked = run.checked.includes(step.id)
    if (isChecked && (found.element === null || run.viewed.includes(step.id))) return
    if (!isChecked) run.checked.push(step.id)
    deps.save()
    const { matchCount, waitedMs: waitMs } = found
    const common = { matchCount, waitMs, flowVersion: run.flowVersion }
    const outcomes = {
      selector: 'found',
      alternate: 'found_by_alternate',
      fingerprint: 'changed',
    } as const
    const report: HealthReport = found.element
      ? { outcome: outcomes[found.by], selector: found.selector, ...common }
      : { outcome: found.because, ...common, ...(found.message && { message: found.message }) }
    reports.health(step.id, report)
    const fingerprint = found.element
      ? fingerprintOf(found.element, found.selector, found.matchCount)
      : null
    const candidates = found.element ? candidatesOf(found.element) : []
    reports.fingerprint(step.id, { fingerprint, candidates, flowVersion: run.flowVersion })
  }

  // A newer version may not have the step. Then it goes on after what came already, never before it.
  const due = steps.findIndex(({ id }) => id === run.stepId)
  const from = due >= 0 ? due : way.afterAll()
  // Not at once: the caller must have what is returned here before the flow can end.
  queueMicrotask(() => {
    const isSeen = run.viewed.includes(run.stepId ?? '')
    if (!hasLeft) go(from, { isLed: isRequested, isSeen: due >= 0 && isSeen })
  })

  return {
    leave() {
      hasLeft = true
      current = null
      clear()
    },
    moved() {
      const step = current
      if (!step) return
      const isForElsewhere = !deps.isHere(step)
      // A step that waits gets its whole time again on another page.
      const isWaiting = !drawn && step.target?.onMissing === 'wait'
      if (isForElsewhere === isElsewhere && !isWaiting) return
      scrolling = null
      again(step)
    },
    requested() {
      isRequested = true
      const step = current
      if (!step || !isElsewhere) return
      clear()
      if (!lead(step)) begin(step)
    },
    tracked(name) {
      const { on, event } = current?.advance ?? {}
      const isSeen = drawn && !isElsewhere
      if (current && isSeen && on === 'event' && event === name) complete(current)
    },
  }
}
