import { idsOf } from '../engine.ts'
import type { Choice, Finder, Flow, Found, HealthReport, Step } from '../parts.ts'
import type { Run } from '../runs.ts'
import type { StageDeps } from '../stage.ts'
import { type Drawn, drawStep } from './draw-step.ts'
import { candidatesOf, fingerprintOf } from './fingerprint.ts'
import type { Host } from './host.ts'

/** How often it is looked whether a shown step's element is still there, milliseconds. */
const watchMs = 250

/** Plays a flow's steps from the run's own on. Ends by itself, or by `leave`, which reports nothing. */
export function playSteps(
  flow: Flow,
  run: Run,
  { host, finder, ...deps }: StageDeps & { host: Host; finder: Finder; save(): void },
): { leave(): void; tracked(name: string): void } {
  const { outbox, page, tell } = deps
  const { steps } = flow
  let drawn: Drawn | null = null
  let current: Step | null = null
  let hasLeft = false
  /** Ends the looking, listening and watching of the step that is due. */
  let leaving = new AbortController()

  const ids = () => idsOf(flow, run)
  const indexOf = (step: Step) => steps.indexOf(step)

  const clear = () => {
    leaving.abort()
    leaving = new AbortController()
    drawn?.remove()
    drawn = null
  }

  const finish = (outcome: 'completed' | 'dismissed', reason?: string) => {
    clear()
    current = null
    deps.end('steps', outcome, reason === undefined ? {} : { reason })
  }

  /** To the step at a place; behind the last one the flow is completed. */
  const go = (index: number) => {
    clear()
    const step = steps[index]
    if (!step) {
      finish('completed')
      return
    }
    run.stepId = step.id
    deps.save()
    current = step
    enter(step).catch(() => {})
  }

  async function enter(step: Step): Promise<void> {
    const { signal } = leaving
    const found = step.target === null ? null : await finder.find(step.target, signal)
    if (signal.aborted) return
    if (found) check(step, found)
    if (found?.element === null) {
      outbox.report({ kind: 'target_missing', ...ids(), stepId: step.id, reason: found.because })
      tell('target_missing', { flowKey: flow.key, stepKey: step.key })
      if (step.target?.required) {
        if (step.target.onMissing === 'stop') finish('dismissed', 'target_missing')
        else go(indexOf(step) + 1)
        return
      }
    }
    show(step, found?.element ?? null)
  }

  function show(step: Step, element: Element | null): void {
    if (!run.viewed.includes(step.id)) {
      run.viewed.push(step.id)
      deps.save()
      outbox.report({ kind: 'step_viewed', ...ids(), stepId: step.id })
    }
    tell('step_viewed', { flowKey: flow.key, stepKey: step.key })
    const choose = (choice: Choice) => chosen(step, choice)
    drawn = drawStep(
      { flow, step, place: indexOf(step) + 1, of: steps.length, element, choose },
      host,
      page,
    )
    if (!element) return
    const { signal } = leaving
    if (step.advance.on === 'click') {
      // Before the page's own listeners, of which one may stop the event or leave the page.
      const clicked = () => complete(step)
      element.addEventListener('click', clicked, { capture: true, signal })
    }
    watch(step, element, signal)
  }

  /** A page that draws itself anew replaces elements: the step follows, or waits for it to return. */
  function watch(step: Step, element: Element, signal: AbortSignal): void {
    const watching = page.setInterval(() => {
      const isThere = element.isConnected && element.checkVisibility()
      if (isThere || signal.aborted) return
      clear()
      enter(step).catch(() => {})
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
        go(Math.max(0, indexOf(step) - 1))
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

  /** Tells how the step's target fares, once a run. */
  function check(step: Step, found: Found): void {
    if (run.checked.includes(step.id)) return
    run.checked.push(step.id)
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
    tracked(name) {
      const { on, event } = current?.advance ?? {}
      if (current && drawn && on === 'event' && event === name) complete(current)
    },
  }
}
