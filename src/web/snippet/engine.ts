import { type Candidate, firstDue } from '../../core/decision.ts'
import { completed, dismissed, type History, started } from './history.ts'
import type { Flow, Outbox } from './parts.ts'
import type { PersonStore } from './person.ts'
import type { Presence } from './presence.ts'
import { type Run, type Runs, type Slot, slotOf } from './runs.ts'
import type { Stage, StageDeps } from './stage.ts'
import type { LetGo } from './tabs.ts'

const slots = ['steps', 'checklist'] as const satisfies Slot[]

export interface EngineDeps extends Omit<StageDeps, 'save' | 'end'> {
  outbox: Outbox
  history: History
  runs: Runs
  person: PersonStore
  presence: Presence
  /** The page's address, whole: rules may look at its query. */
  address(): URL
  /** Waits until no other tab shows a flow. */
  hold(name: string): Promise<LetGo>
  loadStage(): Promise<(deps: StageDeps) => Stage>
}

/** What is being shown in a slot, or is about to be. */
interface Showing {
  flow: Flow
  run: Run
}

/**
 * Decides which flow is shown, and keeps its run. Steps are shown by one tab of a browser at a time,
 * a checklist by all of them. The stage, which draws and finds elements, is loaded when the first flow
 * is due.
 */
export function createEngine(deps: EngineDeps) {
  const { outbox, history, runs, person, presence, page } = deps
  const showing: Partial<Record<Slot, Showing>> = {}
  /** Slots whose flow has ended here: a page view interrupts a person once. */
  const doneHere = new Set<Slot>()
  let flows: readonly Flow[] = []
  const held: Partial<Record<Slot, LetGo>> = {}
  let stage: Stage | null = null
  let isConsidering = false
  let isDue = false
  let isStopped = false

  const candidateOf = (flow: Flow): Candidate & { flow: Flow } => ({
    flow,
    status: 'published',
    history: history.of(person.name, flow.id),
  })

  /** What the slot shows on this page: the run that goes on, else the flow that comes first. */
  function due(slot: Slot): { flow: Flow; run: Run | null } | null {
    const visit = { url: deps.address(), traits: person.current.traits }
    if (doneHere.has(slot)) return null
    const ofSlot = flows.filter(flow => slotOf(flow) === slot)
    const open = runs.open(person.name, slot)
    const candidates = ofSlot.map(candidateOf)
    const goesOn = candidates.find(({ flow }) => flow.id === open?.flowId)
    // Who is in the middle of a flow stays in it, wherever it may be shown.
    const isHere = goesOn && firstDue([{ ...goesOn, flow: withoutAudience(goesOn.flow) }], visit)
    if (open && isHere) return { flow: goesOn.flow, run: open }
    const first = firstDue(candidates, visit)
    return first ? { flow: first.flow, run: null } : null
  }

  async function onStage(): Promise<Stage> {
    stage ??= (await deps.loadStage())({ ...deps, save, end })
    return stage
  }

  /** Looks what is due, and shows it. Called whenever something has changed that decides. */
  async function consider(): Promise<void> {
    if (isStopped || page.document.visibilityState === 'hidden') return
    isDue = true
    if (isConsidering) return
    isConsidering = true
    while (isDue) {
      isDue = false
      await look().catch(() => {})
    }
    isConsidering = false
  }

  async function look(): Promise<void> {
    leaveWhatIsNotHere()
    for (const slot of slots) {
      if (showing[slot] || !due(slot)) continue
      await hold(slot)
      // Another tab may have shown it while this one waited.
      const found = isStopped || showing[slot] ? null : due(slot)
      if (found) await show(slot, found.flow, found.run)
      letGo(slot)
    }
  }

  async function hold(slot: Slot): Promise<void> {
    held[slot] ??= await deps.hold(slot)
  }

  /** Unless it still shows what other tabs must not show too. */
  function letGo(slot: Slot): void {
    if (slot === 'steps' && showing.steps) return
    held[slot]?.()
    delete held[slot]
  }

  /** A page of an application without page loads was left for one that the flow is not for. */
  function leaveWhatIsNotHere(): void {
    for (const slot of slots) {
      const shown = showing[slot]
      if (shown && due(slot)?.flow.id !== shown.flow.id) leave(slot)
    }
  }

  /** Clears a slot; its run goes on where it was when it is shown again. */
  function leave(slot: Slot): void {
    delete showing[slot]
    stage?.clear(slot)
    letGo(slot)
  }

  async function show(slot: Slot, flow: Flow, open: Run | null): Promise<void> {
    const run = open ?? begin(flow)
    showing[slot] = { flow, run }
    const drawn = await onStage()
    // It may have been stopped while the stage was loaded.
    if (showing[slot]?.run === run) drawn.show(slot, flow, run)
  }

  function begin(flow: Flow): Run {
    const run = runs.begin(person.name, flow)
    outbox.report({ kind: 'flow_started', ...idsOf(flow, run) })
    history.change(person.name, flow.id, started(Date.now()))
    deps.tell('flow_started', { flowKey: flow.key })
    return run
  }

  function save(slot: Slot, run: Run): void {
    runs.save(person.name, slot, run)
  }

  /** The stage tells how a flow has ended; it has cleared it away already. */
  function end(
    slot: Slot,
    outcome: 'completed' | 'dismissed',
    { reason, isTold = true }: { reason?: string; isTold?: boolean } = {},
  ): void {
    const shown = showing[slot]
    if (!shown) return
    const { flow, run } = shown
    delete showing[slot]
    doneHere.add(slot)
    runs.end(person.name, slot)
    const isCompleted = outcome === 'completed'
    const kind = isCompleted ? 'flow_completed' : 'flow_dismissed'
    if (isTold) outbox.report({ kind, ...idsOf(flow, run), ...(reason && { reason }) })
    history.change(person.name, flow.id, (isCompleted ? completed : dismissed)(Date.now()))
    deps.tell(kind, { flowKey: flow.key })
    letGo(slot)
  }

  const clear = () => slots.forEach(leave)

  return {
    consider,
    clear,
    /** The flows have been fetched, or others published. */
    take(fetched: readonly Flow[]) {
      flows = fetched
      consider()
    },
    /** The address has changed: what ended on the last page may be due again. */
    moved() {
      doneHere.clear()
      consider()
    },
    tracked: (name: string) => stage?.tracked(name),
    /** Shows a flow whatever its rules say. */
    async start(flowKey: string) {
      const flow = flows.find(({ key }) => key === flowKey)
      if (!flow) return
      const slot = slotOf(flow)
      if (showing[slot]?.flow.id === flow.id) return
      leave(slot)
      await hold(slot)
      const open = runs.open(person.name, slot)
      await show(slot, flow, open?.flowId === flow.id ? open : null)
      letGo(slot)
    },
    /** Ends what interrupts the person. */
    stop() {
      stage?.clear('steps')
      end('steps', 'dismissed', { reason: 'stopped' })
    },
    /** Nothing is shown until `resume`. */
    pause() {
      isStopped = true
      clear()
    },
    resume() {
      isStopped = false
      consider()
    },
    refresh: async () => {
      flows = await presence.refresh()
      consider()
    },
  }
}

const withoutAudience = (flow: Flow): Flow => ({
  ...flow,
  frequency: 'always',
  targeting: { ...flow.targeting, audience: { match: 'all', rules: [] } },
})

/** What every event of a run names. */
export const idsOf = (flow: Flow, run: Run) => ({
  flowId: flow.id,
  flowVersion: run.flowVersion,
  runId: run.runId,
})

export type Engine = ReturnType<typeof createEngine>
