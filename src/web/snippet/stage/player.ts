import { isOnPage } from '../../../core/flow/decision.ts'
import { idsOf } from '../engine.ts'
import type { Choice, Finder, Flow, Found, HealthReport, Step } from '../parts.ts'
import { isWithin } from '../recency.ts'
import type { Run } from '../runs.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import { drawElsewhere } from './draw-elsewhere.ts'
import { type Drawn, drawStep } from './draw-step.ts'
import { candidatesOf, fingerprintOf } from './fingerprint.ts'
import type { Host } from './host.ts'

/** How often it is looked whether a shown step's element is still there, milliseconds. */
const watchMs = 250
/** By then a step is found otherwise, or not for now, once its time is over, milliseconds. */
const furtherMs = 1_000
/** How often it is noted that a step is on the page, milliseconds. */
const notedMs = 60_000
/** A page that is still there so long after it was to be left, milliseconds, stays. */
const leavesMs = 10_000

/**
 * Plays a flow's steps from the run's own on. Ends by itself, or by `leave`, which reports nothing.
 *
 * @param drawing told whenever a step comes onto the page, or is gone from it
 */
export function playSteps(
  flow: Flow,
  run: Run,
  {
    host,
    finder,
    drawing,
    ...deps
  }: StageDeps & { host: Host; finder: Finder; drawing(isDrawn: boolean): void; save(): void },
): { leave(): void; moved(): void; tracked(name: string): void } {
  const { outbox, page, tell } = deps
  const { steps } = flow
  let drawn: Drawn | null = null
  let current: Step | null = null
  /** Whether the step that is due is for another page, and the visitor told so. */
  let isElsewhere = false
  let hasLeft = false
  /** Ends the looking, listening and watching of the step that is due. */
  let leaving = new AbortController()

  const ids = () => idsOf(flow, run)
  const indexOf = (step: Step) => steps.indexOf(step)
  /** The last step that was seen before this one; -1 for none. */
  const seenBefore = (step: Step) =>
    steps.findLastIndex(({ id }, at) => at < indexOf(step) && run.viewed.includes(id))

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

  /** To the step at a place; behind the last one the flow is completed. */
  const go = (index: number, isBack = false) => {
    clear()
    const step = steps[index]
    if (!step) {
      if (steps.length > 0 && run.viewed.length === 0) giveWay()
      else finish('completed')
      return
    }
    run.stepId = step.id
    deps.save()
    current = step
    begin(step, isBack)
  }

  /** What cannot be shown hides nothing. */
  function begin(step: Step, isBack = false): void {
    enter(step, isBack).catch(() => drawing(false))
  }

  async function enter(step: Step, isBack = false): Promise<void> {
    const { signal } = leaving
    isElsewhere = !isOnPage(step, new URL(page.location.href))
    if (isElsewhere) return tellOfPage(step, signal)
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
    // A page that has just drawn itself anew has another one.
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
        else if (isBack && seenBefore(step) >= 0) go(seenBefore(step), true)
        else go(indexOf(step) + 1)
        return
      }
    }
    show(step, found?.element ?? null)
  }

  /** A page that is being left need not have what a step points at: that is for the next one. */
  function enterLater(step: Step, isBack: boolean, signal: AbortSignal): void {
    after(leavesMs, signal, () => begin(step, isBack))
  }

  function after(ms: number, signal: AbortSignal, work: () => void): void {
    const timer = page.setTimeout(() => safely(work), ms)
    signal.addEventListener('abort', () => page.clearTimeout(timer))
  }

  /** Something of the flow is on the page. */
  function seen(): void {
    run.seenAt = Date.now()
    deps.save()
    deps.inVain(false)
  }

  /** It goes on as soon as the visitor is there. */
  function tellOfPage(step: Step, signal: AbortSignal): void {
    const place = { place: indexOf(step) + 1, of: steps.length }
    const end = () => finish('dismissed', 'closed')
    drawn = drawElsewhere({ flow, step, ...place, end }, host, page)
    seen()
    watch(step, null, signal)
  }

  function show(step: Step, element: Element | null): void {
    if (!run.viewed.includes(step.id)) {
      run.viewed.push(step.id)
      outbox.report({ kind: 'step_viewed', ...ids(), stepId: step.id })
    }
    seen()
    tell('step_viewed', { flowKey: flow.key, stepKey: step.key })
    drawing(true)
    const choose = (choice: Choice) => chosen(step, choice)
    const [place, of] = [indexOf(step) + 1, steps.length]
    const hasBack = seenBefore(step) >= 0
    drawn = drawStep({ flow, step, place, of, hasBack, element, choose }, host, page)
    const { signal } = leaving
    if (element && step.advance.on === 'click') {
      // Before the page's own listeners, of which one may stop the event or leave the page.
      const clicked = () => safely(() => complete(step))
      element.addEventListener('click', clicked, { capture: true, signal })
    }
    watch(step, element, signal)
  }

  /** A page that draws itself anew replaces elements: the step follows, or waits for it to return. */
  function watch(step: Step, element: Element | null, signal: AbortSignal): void {
    const watching = page.setInterval(() => {
      // Of a page that has broken its own DOM nothing is known: then all is as it was.
      const isSeen = () => element === null || (element.isConnected && element.checkVisibility())
      const isThere = safely(isSeen) ?? true
      if (signal.aborted) return
      if (isThere && !host.wasRemoved()) {
        if (!isWithin(run.seenAt ?? 0, notedMs)) seen()
        return
      }
      clear()
      begin(step)
    }, watchMs)
    signal.addEventListener('abort', () => page.clearInterval(watching))
  }

  function chosen(step: Step, choice: Choice): void {
    if (current !== step) return
    const stepIds = { ...ids(), stepId: step.id }
    switch (choice.type) {
      case 'next':
        complete(step)
        break
      case 'back':
        if (seenBefore(step) >= 0) go(seenBefore(step), true)
        break
      case 'skip':
        outbox.report({ kind: 'step_skipped', ...stepIds })
        go(indexOf(step) + 1)
        break
      case 'dismiss':
        finish('dismissed', 'closed')
        break
      case 'complete':
        outbox.report({ kind: 'step_completed', ...stepIds })
        finish('completed')
        break
      case 'link':
        complete(step)
        outbox.flush()
        if (choice.opensNewTab) page.open(choice.href, '_blank', 'noopener')
        else page.location.assign(choice.href)
    }
  }

  function complete(step: Step): void {
    outbox.report({ kind: 'step_completed', ...ids(), stepId: step.id })
    go(indexOf(step) + 1)
  }

  /** Tells how the step's target fares, once a run; of one that was missing also that it was found. */
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
    outbox.health(step.id, report)
    const fingerprint = found.element
      ? fingerprintOf(found.element, found.selector, found.matchCount)
      : null
    const candidates = found.element ? candidatesOf(found.element) : []
    outbox.fingerprint(step.id, { fingerprint, candidates, flowVersion: run.flowVersion })
  }

  // Of a newer version the step may be gone: then from the first one that was not seen.
  const due = steps.findIndex(({ id }) => id === run.stepId)
  const unseen = steps.findIndex(({ id }) => !run.viewed.includes(id))
  const from = due >= 0 ? due : unseen >= 0 ? unseen : steps.length
  // Not at once: who plays it must know of it before it can end.
  queueMicrotask(() => {
    if (!hasLeft) go(from)
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
      const isForElsewhere = !isOnPage(step, new URL(page.location.href))
      // What waits has its time anew on another page.
      const isWaiting = !drawn && step.target?.onMissing === 'wait'
      if (isForElsewhere === isElsewhere && !isWaiting) return
      clear()
      begin(step)
    },
    tracked(name) {
      const { on, event } = current?.advance ?? {}
      const isSeen = drawn && !isElsewhere
      if (current && isSeen && on === 'event' && event === name) complete(current)
    },
  }
}
