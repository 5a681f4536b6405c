import { listedTraits } from '../../core/event/traits.ts'
import { isInAudience } from '../../core/flow/audience-match.ts'
import {
  type Candidate,
  type FlowHistory,
  firstDue,
  goesOnAt,
  isDueAgain,
  noHistory,
  waitsForIdentify,
} from '../../core/flow/decision.ts'
import type { Judge } from '../../core/flow/moment.ts'
import { shownAs } from '../../core/flow/shown-as.ts'
import type { FlowFeed } from './flow-feed.ts'
import { ended, type History, started, withdrawn } from './history.ts'
import type { BrowserStore, Flow, Outbox, Progress } from './parts.ts'
import type { PersonStore } from './person.ts'
import { isWithin } from './recency.ts'
import { type Run, type Runs, type Slot, slots } from './runs.ts'
import { safely } from './safely.ts'
import type { ServerClock } from './server-clock.ts'
import type { Stage, StageDeps } from './stage.ts'
import { progressOf } from './standing.ts'
import type { LetGo } from './tabs.ts'
import type { Timing, TimingDeps } from './timing.ts'
import { warn } from './warn.ts'

/** A narrower page begins with its checklist folded up, CSS pixels. */
const roomyPx = 600
/** How soon it is tried again where the stage could not be loaded or failed, and the longest. */
const retryMs = 5_000
const longestRetryMs = 5 * 60_000
/** Who has seen a step so lately is in the middle of a flow, and not interrupted, milliseconds. */
export const inTheMiddleMs = 5 * 60_000
/** Of a page that says very much before its flows are known, the first is heard. */
const mostUntold = 200

/** What the engine does for the stage; what draws it brings its own parts. */
type FromEngine = 'save' | 'end' | 'giveWay' | 'inVain'
type StageMaker = (deps: Omit<StageDeps, 'loadPart'>) => Stage

/** Loads the stage. Rejects where it could not be loaded; called again, it is tried again. */
export type LoadStage = () => Promise<StageMaker>

export type LoadTiming = () => Promise<(deps: TimingDeps) => Timing>

export interface EngineDeps extends Omit<StageDeps, FromEngine | 'loadPart'> {
  outbox: Outbox
  history: History
  runs: Runs
  person: PersonStore
  feed: FlowFeed
  store: BrowserStore
  clock: ServerClock
  /** Loads what judges times and numbers, where a flow asks for it. Rejects where it could not be loaded. */
  loadTiming: LoadTiming
  who(): Who
  /** The page's address, whole: rules may look at its query. */
  address(): URL
  /** Waits until no other tab shows a flow. */
  hold(name: string): Promise<LetGo>
  loadStage: LoadStage
}

/**
 * How it is known who is there: the page is still to say it, and is waited for; it has said nothing, and
 * it is taken to be who was there last; it has said it.
 */
export type Who = 'awaited' | 'guessed' | 'said'

/** What is being shown in a slot. */
interface Showing {
  flow: Flow
  run: Run
}

/** What is to be shown: a run that goes on, or none yet. */
interface Due {
  flow: Flow
  run: Run | null
}

/**
 * Decides which flow is shown, and keeps its run. Steps are shown by one tab of a browser at a time,
 * a checklist by all of them. The stage, which draws and finds elements, is loaded when the first flow
 * is due.
 */
export function createEngine(deps: EngineDeps) {
  const { outbox, history, runs, person, feed, clock, page } = deps
  const showing: Partial<Record<Slot, Showing>> = {}
  const held: Partial<Record<Slot, LetGo>> = {}
  /** Slots that wait for their turn among the tabs, or for the stage. */
  const filling = new Set<Slot>()
  /** Slots whose flow has ended here: a page view interrupts a person once. */
  const doneHere = new Set<Slot>()
  /** Flows by id of which this page has nothing that their steps point at. */
  const missedHere = new Set<string>()
  /** The flow whose step has been looked for long enough: what else is due comes before it. */
  let soughtInVain: string | null = null
  let flows: readonly Flow[] = []
  /** Whether the server has told them. */
  let areKnown = false
  /** Nothing new begins: what the server knows of who is there is on its way. */
  let isWaiting = false
  /** The key of the flow that the page asks for, until it is shown. */
  let wanted: string | null = null
  let view = viewOf(deps.address())
  /** When the person first saw this page, by the page's own clock. */
  let viewedFrom: number | null = null
  let timing: Timing | null = null
  let isTimingLoading = false
  /** It could not be loaded, so that nothing is to wait for it; it is tried again. */
  let isTimingLost = false
  /** What it is to be told once it is there. */
  const untold: ((timing: Timing) => void)[] = []
  let stage: Stage | null = null
  let loading: Promise<Stage> | null = null
  let failures = 0

  /** What the slot shows on this page: what the page asks for, the run that goes on, or what comes first. */
  function due(slot: Slot): Due | null {
    const url = deps.address()
    const ofSlot = flows.filter(flow => shownAs(flow) === slot)
    const open = runs.open(person.name, slot)
    const asked = ofSlot.find(({ key }) => key === wanted)
    if (asked) return { flow: asked, run: open.find(({ flowId }) => flowId === asked.id) ?? null }
    if (doneHere.has(slot)) return null
    const begun = open.flatMap(run => {
      const flow = ofSlot.find(({ id }) => id === run.flowId)
      return flow ? [{ flow, run }] : []
    })
    // Who is in the middle of a flow stays in it, wherever it goes on, or was asked for.
    const goesOn =
      begun.find(
        ({ flow, run }) =>
          !missedHere.has(flow.id) && (run.askedForOn === viewOf(url) || goesOnAt(flow, url)),
      ) ?? null
    // Whose it is must be said first, and nothing takes its place meanwhile.
    if (goesOn && goesOn.run.askedForOn !== viewOf(url) && mustWait(goesOn.flow)) return null
    if (isWaiting || (goesOn && goesOn.flow.id !== soughtInVain)) return goesOn
    // Nor are they interrupted on their way to its next page, or before its next step comes.
    if (begun.some(({ run }) => isWithin(run.seenAt ?? 0, inTheMiddleMs))) return goesOn
    const past = history.of(person.name)
    const candidates = ofSlot
      .filter(({ id }) => !missedHere.has(id) && id !== soughtInVain)
      .map(flow =>
        // It may turn out to be for them, and keeps its place.
        mustWait(flow)
          ? { ...candidateOf(forAnybody(flow), noHistory), waits: true }
          : { ...candidateOf(flow, past[flow.id] ?? noHistory), waits: false },
      )
    const place = { url, traits: person.current.traits }
    const first = timing
      ? timing.firstDue(candidates, place)
      : firstDue(candidates, place, isTimingLost ? untimed : anybody)
    // What only its time keeps back keeps its place too, until that can be judged.
    const isKept = first?.waits || (first && !timing && isTimed(first.flow))
    return first && !isKept ? { flow: first.flow, run: null } : goesOn
  }

  /** What asks for more than a page and an audience does not begin until that can be judged. */
  const isTimed = (flow: Flow) =>
    !!(flow.schedule || flow.when || flow.rollout) ||
    (feed.throttle() !== null && shownAs(flow) === 'steps')
  const anybody: Judge = { mayBegin: () => true, isHeldOut: () => false }
  const untimed: Judge = { ...anybody, mayBegin: flow => !isTimed(flow as Flow) }

  /** Has something done by what judges times and numbers, as soon as that is there, if it ever is. */
  function timed(work: (timing: Timing) => void): void {
    if (timing) work(timing)
    else if (untold.length < mostUntold) untold.push(work)
  }

  async function loadTiming(): Promise<void> {
    if (timing || isTimingLoading || !flows.some(isTimed)) return
    isTimingLoading = true
    try {
      const createTiming = await deps.loadTiming()
      const { store } = deps
      timing = createTiming({
        ...{ store, outbox, history, person, page, firstDue, consider: () => safely(consider) },
        flows: () => flows,
        throttle: feed.throttle,
        now: clock.now,
        viewedMs: () => page.performance.now() - (viewedFrom ?? page.performance.now()),
      })
      for (const work of untold.splice(0)) work(timing)
      failures = 0
      review()
      consider()
    } catch {
      isTimingLost = true
      tryAgain()
    } finally {
      isTimingLoading = false
    }
  }

  const tryAgain = () =>
    page.setTimeout(() => safely(consider), Math.min(retryMs * 2 ** failures++, longestRetryMs))

  const mustWait = (flow: Flow) => deps.who() === 'awaited' && waitsForIdentify(flow)

  /** What was begun before it was said who is there goes on only where it is for them. */
  function review(): void {
    if (deps.who() !== 'said') return
    const { name, current } = person
    for (const slot of slots) {
      for (const run of runs.open(name, slot)) {
        const flow = flows.find(({ id }) => id === run.flowId)
        if (!flow || !run.isGuess || run.askedForOn === viewOf(deps.address())) continue
        // Looked at again once it is known how to judge that.
        if (isTimed(flow) && !timing) continue
        const past = history.of(name)[flow.id] ?? noHistory
        const isTheirs =
          isInAudience(flow.targeting.audience, current.traits) &&
          (timing?.isForPerson(flow) ?? true) &&
          isDueAgain(flow.frequency, past)
        if (!isTheirs) withdraw(name, slot, run)
        else if (!isWaiting) prove(slot, run)
      }
    }
  }

  function prove(slot: Slot, run: Run): void {
    const shown = showing[slot]
    if (shown?.run.runId === run.runId) shown.run.isGuess = false
    runs.note(person.name, slot, run, { isGuess: false })
  }

  /** Takes a run back as if it had not begun: nobody has dismissed it. What was sent of it stays. */
  function withdraw(name: string, slot: Slot, run: Run): void {
    if (showing[slot]?.run.runId === run.runId) takeAway(slot)
    runs.end(name, slot, run)
    history.change(name, run.flowId, withdrawn(run.runId))
    outbox.withdraw(run.runId)
  }

  /** Takes account of what the server has told of runs in other browsers. */
  function catchUp(): void {
    const { name } = person
    const past = history.of(name)
    for (const flow of flows) {
      const slot = shownAs(flow)
      const ofFlow = past[flow.id]
      if (!ofFlow) continue
      const { openRunId = null } = ofFlow
      const run = runs.open(name, slot).find(({ flowId }) => flowId === flow.id)
      if (run?.runId === openRunId) {
        runs.note(name, slot, run, { isKnown: true })
        continue
      }
      if (run) {
        const endedAt = Math.max(ofFlow.completedAt ?? 0, ofFlow.dismissedAt ?? 0)
        // What the server knew as open, and tells of no more, has ended elsewhere, or left for another.
        if (!run.isKnown && !(endedAt > run.startedAt)) continue
        runs.end(name, slot, run)
      }
      const isDue = isDueAgain(flow.frequency, ofFlow)
      if (openRunId !== null && isDue) runs.join(name, flow, openRunId, isRoomFor(flow))
    }
  }

  const onStage = (): Promise<Stage> => {
    loading ??= deps.loadStage().then(createStage => {
      stage = createStage({ ...deps, save, end, giveWay, inVain })
      return stage
    })
    return loading
  }

  const isHidden = () => page.document.visibilityState === 'hidden'

  /** Looks what is due, and shows it. To be called whenever something has changed that decides. */
  function consider(): void {
    // Of a page that is still on its way there is nowhere to show anything.
    if (isHidden() || !page.document.body) return
    viewedFrom ??= page.performance.now()
    loadTiming().catch(() => {})
    timing?.forget()
    if (areKnown && wanted !== null && !flows.some(({ key }) => key === wanted)) {
      warn(`start() found no published flow "${wanted}"`)
      wanted = null
    }
    for (const slot of slots) {
      const found = due(slot)
      const shown = showing[slot]
      if (found && found.flow.id === shown?.flow.id) {
        if (found.flow.key === wanted) {
          grant(slot, shown.run)
          stage?.asked(slot)
        }
        continue
      }
      if (shown) takeAway(slot)
      if (found) fill(slot).catch(() => {})
      else letGo(slot)
    }
    timing?.remind()
  }

  /** Waits until no other tab shows a flow, and shows the one that is due then. */
  async function fill(slot: Slot): Promise<void> {
    if (filling.has(slot)) return
    filling.add(slot)
    try {
      held[slot] ??= await deps.hold(slot)
      const drawn = await onStage()
      const found = showing[slot] || isHidden() ? null : due(slot)
      if (found) show(slot, found, drawn)
      failures = 0
    } catch {
      delete showing[slot]
      loading = null
      tryAgain()
    } finally {
      filling.delete(slot)
      letGo(slot)
    }
  }

  /** Unless it shows, or is about to show, what other tabs must not show too. */
  function letGo(slot: Slot): void {
    if (filling.has(slot) || (slot === 'steps' && showing.steps)) return
    held[slot]?.()
    delete held[slot]
  }

  const active = () => slots.flatMap(slot => showing[slot]?.flow.key ?? [])
  let toldActive = ''
  /** Tells which flows are on the page, where they are others than before. */
  const tellActive = () => {
    const flowKeys = active()
    if (toldActive === String(flowKeys)) return
    toldActive = String(flowKeys)
    deps.tell('active', { flowKeys })
  }

  /** Clears a slot; its run goes on where it was when it is shown again. */
  function takeAway(slot: Slot): void {
    delete showing[slot]
    stage?.clear(slot)
    tellActive()
  }

  function show(slot: Slot, { flow, run: open }: Due, drawn: Stage): void {
    const run = open ?? begin(flow)
    const isAsked = flow.key === wanted
    if (isAsked) grant(slot, run)
    showing[slot] = { flow, run }
    tellActive()
    drawn.show(slot, flow, run)
    if (isAsked) drawn.asked(slot)
  }

  /** What was asked for stays on this page, whatever its rules say; elsewhere they count again. */
  function grant(slot: Slot, run: Run): void {
    wanted = null
    doneHere.delete(slot)
    run.askedForOn = viewOf(deps.address())
    save(slot, run)
  }

  /** Whom a list was in the way of, or would leave no room on the page, finds it folded up. */
  const isRoomFor = ({ id }: Flow): boolean =>
    page.innerWidth >= roomyPx && !history.of(person.name)[id]?.dismissedAt

  function begin(flow: Flow): Run {
    const { userId, anonymousId, traits: said } = person.current
    const traits = listedTraits(feed.listedTraits(), said)
    const run = runs.begin(person.name, flow, {
      isOpen: isRoomFor(flow),
      isGuess: deps.who() !== 'said',
      ...(userId === null && { anonymousId }),
    })
    outbox.report({ kind: 'flow_started', ...idsOf(flow, run), ...(traits && { traits }) })
    history.change(person.name, flow.id, started(clock.now(), flow.key === wanted))
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
    runs.end(person.name, slot, run)
    const isCompleted = outcome === 'completed'
    const kind = isCompleted ? 'flow_completed' : 'flow_dismissed'
    if (isTold) outbox.report({ kind, ...idsOf(flow, run), ...(reason && { reason }) })
    history.change(person.name, flow.id, ended(outcome, run.runId, Date.now()))
    deps.tell(kind, { flowKey: flow.key })
    tellActive()
    letGo(slot)
  }

  /** No step of it was seen: it is as if it had not begun, and goes on with a page that has one. */
  function giveWay(slot: Slot): void {
    const shown = showing[slot]
    if (!shown) return
    delete showing[slot]
    missedHere.add(shown.flow.id)
    shown.run.stepId = shown.flow.steps[0]?.id ?? null
    save(slot, shown.run)
    consider()
    tellActive()
    // A hidden page considers nothing, and must not keep other tabs waiting.
    letGo(slot)
  }

  function inVain(is: boolean): void {
    soughtInVain = is ? (showing.steps?.flow.id ?? null) : null
    if (is) consider()
  }

  const clear = () => {
    for (const slot of slots) {
      takeAway(slot)
      letGo(slot)
    }
  }

  const isElsewhere = () => {
    doneHere.clear()
    missedHere.clear()
    soughtInVain = null
    viewedFrom = null
  }

  return {
    consider,
    clear,
    /** The flows have been fetched, or others published. */
    take(fetched: readonly Flow[]) {
      flows = fetched
      areKnown = feed.areKnown()
      catchUp()
      review()
      consider()
    },
    /** Whether to begin nothing new for now; what has begun goes on. */
    wait(isToWait: boolean) {
      isWaiting = isToWait
      if (isToWait) return
      review()
      consider()
    },
    /** The page has said who is there, or is waited for no longer. */
    met() {
      review()
      consider()
    },
    /** Somebody else is there than the one who was taken to be, by that one's name. */
    mistook(name: string) {
      for (const slot of slots) {
        const run = showing[slot]?.run
        if (run?.isGuess) withdraw(name, slot, run)
      }
      clear()
    },
    /** The address has changed. On another page, what ended on the last one may be due again. */
    moved() {
      const next = viewOf(deps.address())
      if (next !== view) isElsewhere()
      view = next
      consider()
      stage?.moved()
    },
    /** The page was out of the way as it stood, while other pages went on. */
    returned() {
      clear()
      isElsewhere()
      consider()
    },
    /** Whether a checklist is on this page, or about to be. */
    hasList: () => due('checklist') !== null,
    timed,
    /** @param id the event's own, by which the server tells of it too */
    tracked(name: string, id: string) {
      stage?.tracked(name)
      if (areKnown && !flows.some(({ when }) => when?.event === name)) return
      const [whose, at] = [person.name, clock.now()]
      timed(timing => timing.note(whose, name, id, at))
      consider()
    },
    /** The keys of the flows that are on this page. */
    active,
    progress(flowKey: string): Progress | null {
      const flow = flows.find(({ key }) => key === flowKey)
      if (!flow) return null
      const run = runs.open(person.name, shownAs(flow)).find(({ flowId }) => flowId === flow.id)
      return progressOf(flow, run, history.of(person.name)[flow.id] ?? noHistory)
    },
    /** What is decided by, for whoever asks why. */
    facts: () => ({
      ...{ flows, areKnown, isWaiting, doneHere, missedHere, filling, mustWait },
      moment: timing?.moment() ?? null,
    }),
    /** Shows a flow whatever its rules say, as soon as the flows are known. */
    start(flowKey: string) {
      wanted = flowKey
      consider()
    },
    /** Ends what interrupts the person. */
    stop() {
      wanted = null
      stage?.clear('steps')
      end('steps', 'dismissed', { reason: 'stopped' })
    },
  }
}

/**
 * What of an address makes it another page to a person. Filters in a query and places in a page do not;
 * what stands behind `#/` is a page of an application that has its paths there.
 */
const viewOf = ({ pathname, hash }: URL): string => pathname + (/^#!?\//.test(hash) ? hash : '')

export const candidateOf = (flow: Flow, past: FlowHistory): Candidate & { flow: Flow } => ({
  flow,
  status: 'published',
  history: past,
})

const forAnybody = ({ rollout, when, ...flow }: Flow): Flow => ({
  ...flow,
  ...(when && { when: { delayMs: when.delayMs, element: when.element } }),
  frequency: 'always',
  targeting: { ...flow.targeting, audience: { match: 'all', rules: [] } },
})

export type Engine = ReturnType<typeof createEngine>

/** What every event of a run names. */
export const idsOf = (flow: Flow, run: Run) => ({
  flowId: flow.id,
  flowVersion: run.flowVersion,
  runId: run.runId,
  ...(run.anonymousId && { anonymousId: run.anonymousId }),
})
