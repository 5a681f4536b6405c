import type { StartReason } from '../../core/event/start-reason.ts'
import { listedTraits } from '../../core/event/traits.ts'
import { isInAudience } from '../../core/flow/audience-match.ts'
import {
  type Candidate,
  type FlowHistory,
  firstDue,
  goesOnAt,
  isDueAgain,
  isOnPage,
  noHistory,
  waitsForIdentify,
} from '../../core/flow/decision.ts'
import type { Judge } from '../../core/flow/moment.ts'
import { shownAs } from '../../core/flow/shown-as.ts'
import { pageOf, regex } from '../../core/flow/url-rule.ts'
import type { FlowFeed } from './flow-feed.ts'
import { ended, type History, started, withdrawn } from './history.ts'
import type { BrowserStore, Flow, Outbox, Progress } from './parts.ts'
import type { PersonStore } from './person.ts'
import { isWithin } from './recency.ts'
import { newRun, type Run, type Runs, type Slot, slots } from './runs.ts'
import { safely } from './safely.ts'
import type { ServerClock } from './server-clock.ts'
import type { Stage, StageDeps } from './stage.ts'
import { progressOf } from './standing.ts'
import type { LetGo } from './tabs.ts'
import type { Noted, Timing, TimingDeps } from './timing.ts'
import { warn } from './warn.ts'

/** On a narrower page the checklist begins folded up; CSS pixels. */
const roomyPx = 600
/** The first pause before a retry if the stage did not load or failed, and the longest pause. */
const retryMs = 5_000
const maxRetryMs = 5 * 60_000
/** A person who saw a step this recently is in the middle of a flow and not interrupted, milliseconds. */
export const inTheMiddleMs = 5 * 60_000
/** If a page says very much before its flows are known, only this many of the first calls are kept. */
const maxUntold = 200
const maxNoted = 20

/** The kinds of flows that this snippet shows. */
const kinds: readonly Flow['kind'][] = ['tour', 'checklist', 'announcement', 'launcher']

/** What the engine does for the stage. The stage's loader brings the parts itself. */
type FromEngine = 'save' | 'end' | 'start' | 'isHere' | 'giveWay' | 'inVain'
type StageMaker = (deps: Omit<StageDeps, 'loadPart'>) => Stage

/** Loads the stage. Rejects if it could not be loaded; another call retries. */
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
  /** Loads what judges times and numbers, if a flow asks for that. Rejects if it could not be loaded. */
  loadTiming: LoadTiming
  who(): Who
  /** Whether people can see the page, if it is in a frame. */
  isSeen(): boolean
  /** The page's address, whole: rules may look at its query. */
  address(): URL
  /** Waits until no other tab shows a flow. */
  hold(name: string): Promise<LetGo>
  loadStage: LoadStage
}

/**
 * How it is known who is there. `pending`: the page is about to call `identify()`. `guessed`: it has
 * not, so it is assumed to be the last person of this browser. `identified`: it has.
 */
export type Who = 'pending' | 'guessed' | 'identified'

/** What is being shown in a slot. */
interface Showing {
  flow: Flow
  run: Run
}

/** What is to be shown: with the run that goes on, or null if none has begun yet. */
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
  /** Slots whose flow has ended on this page: one page view interrupts a person only once. */
  const doneHere = new Set<Slot>()
  /** Ids of flows for which this page has nothing that their steps point at. */
  const missedHere = new Set<string>()
  /** The id of the flow whose step has been looked for long enough: other due flows come before it. */
  let withoutTarget: string | null = null
  let flows: readonly Flow[] = []
  /** Whether the server has sent the flows. */
  let areKnown = false
  /** Whether nothing new begins, because what the server knows about the person is still on its way. */
  let isWaiting = false
  /** The key of the flow that the page asks for, until it is shown. */
  let wanted: string | null = null
  /** What asks for it. */
  let wantedBy: StartReason = 'code'
  let view = viewOf(deps.address())
  /** When the person first saw this page, by the page's own clock. */
  let viewedFrom: number | null = null
  let timing: Timing | null = null
  let isTimingLoading = false
  /** Whether `timing` could not be loaded. Then nothing waits for it, and loading is retried. */
  let isTimingLost = false
  /** What to tell `timing` once it is loaded. */
  const untold: ((timing: Timing) => void)[] = []
  let stage: Stage | null = null
  let loading: Promise<Stage> | null = null
  let failures = 0

  /** What the slot shows on this page: what the page asks for, the run that goes on, or what comes first. */
  function due(slot: Slot): Due | null {
    const url = deps.address()
    const ofSlot = flows.filter(flow => shownAs(flow) === slot)
    const open = runs.open(person.name, slot)
    const selected = ofSlot.find(({ key }) => key === wanted)
    if (selected)
      return { flow: selected, run: open.find(({ flowId }) => flowId === selected.id) ?? null }
    // After that, only what a person asks for by a trigger interrupts them.
    const able = doneHere.has(slot) ? ofSlot.filter(flow => timing?.isTriggered(flow)) : ofSlot
    const begun = open.flatMap(run => {
      const flow = able.find(({ id }) => id === run.flowId)
      return flow ? [{ flow, run }] : []
    })
    // A person in the middle of a flow stays in it, wherever it continues or was started.
    const goesOn =
      begun.find(
        ({ flow, run }) =>
          !missedHere.has(flow.id) && (run.askedForOn === viewOf(url) || goesOnAt(flow, url)),
      ) ?? null
    // The page must first say who is there, and nothing takes the run's place meanwhile.
    if (goesOn && goesOn.run.askedForOn !== viewOf(url) && mustWait(goesOn.flow)) return null
    if (isWaiting || isBlind() || (goesOn && goesOn.flow.id !== withoutTarget)) return goesOn
    // Nor is a person interrupted on the way to the flow's next page, or before its next step comes.
    if (begun.some(({ run }) => isWithin(run.seenAt ?? 0, inTheMiddleMs))) return goesOn
    const past = history.of(person.name)
    const candidates = able
      .filter(({ id }) => !missedHere.has(id) && id !== withoutTarget)
      .map(flow =>
        // A flow that must wait may turn out to be for them, and keeps its place.
        mustWait(flow)
          ? { ...candidateOf(forAnybody(flow), noHistory), waits: true }
          : { ...candidateOf(flow, past[flow.id] ?? noHistory), waits: false },
      )
    const place = { url, traits: person.current.traits }
    const first = timing
      ? timing.firstDue(candidates, place)
      : firstDue(candidates, place, isTimingLost ? untimed : anybody)
    // A flow that only its timing holds back keeps its place too, until that can be judged.
    const isKept = first?.waits || (first && !timing && isTimed(first.flow))
    return first && !isKept ? { flow: first.flow, run: null } : goesOn
  }

  /** Whether a flow asks for more than a page and an audience. It does not begin until that can be judged. */
  const isTimed = (flow: Flow) =>
    !!(flow.schedule || flow.when || flow.rollout) ||
    (feed.throttle() !== null && shownAs(flow) === 'steps')
  const anybody: Judge = { mayBegin: () => true, isHeldOut: () => false }
  const untimed: Judge = { ...anybody, mayBegin: flow => !isTimed(flow as Flow) }

  /** Whether some pages cannot be judged yet, because regular expressions come with `timing`. */
  const isBlind = () => !timing && !isTimingLost && hasRegex()
  const hasRegex = () =>
    flows.some(({ targeting, steps }) =>
      [...targeting.urls, ...steps.map(pageOf)].some(rule => rule?.match === 'regex'),
    )

  /** Does some work with `timing` as soon as it is loaded, if it ever is. */
  function timed(work: (timing: Timing) => void): void {
    if (timing) work(timing)
    else if (untold.length < maxUntold) untold.push(work)
  }

  async function loadTiming(): Promise<void> {
    if (timing || isTimingLoading || !(flows.some(isTimed) || hasRegex())) return
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
      regex.matches = timing.regexMatches
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
    page.setTimeout(() => safely(consider), Math.min(retryMs * 2 ** failures++, maxRetryMs))

  const mustWait = (flow: Flow) => deps.who() === 'pending' && waitsForIdentify(flow)

  /** Runs that started before `identify()` continue only if they are for that person. */
  function review(): void {
    if (deps.who() !== 'identified') return
    const { name, current } = person
    for (const slot of slots) {
      for (const run of runs.open(name, slot)) {
        const flow = flows.find(({ id }) => id === run.flowId)
        if (!flow || !run.isGuess || run.askedForOn === viewOf(deps.address())) continue
        // Reviewed again once its timing can be judged.
        if (isTimed(flow) && !timing) continue
        const past = history.of(name)[flow.id] ?? noHistory
        const isTheirs =
          isInAudience(flow.targeting.audience, current.traits) &&
          (timing?.isForPerson(flow) ?? true) &&
          isDueAgain(flow.frequency, past)
        if (!isTheirs) withdraw(name, slot, run)
        else if (!isWaiting) confirm(slot, run)
      }
    }
  }

  function confirm(slot: Slot, run: Run): void {
    const shown = showing[slot]
    if (shown?.run.runId === run.runId) shown.run.isGuess = false
    runs.note(person.name, slot, run, { isGuess: false })
  }

  /** Takes a run back as if it had not begun, since nobody has dismissed it. Events that were sent stay. */
  function withdraw(name: string, slot: Slot, run: Run): void {
    if (showing[slot]?.run.runId === run.runId) takeAway(slot)
    runs.end(name, slot, run)
    history.change(name, run.flowId, withdrawn(run.runId))
    outbox.withdraw(run.runId)
  }

  /** Applies what the server has of runs in other browsers. */
  function catchUp(): void {
    const { name } = person
    const past = history.of(name)
    for (const flow of flows) {
      const slot = shownAs(flow)
      const ofFlow = past[flow.id]
      // Each opening of a launcher is a run, and none goes on elsewhere.
      if (!ofFlow || slot === 'launcher') continue
      const { openRunId = null } = ofFlow
      const run = runs.open(name, slot).find(({ flowId }) => flowId === flow.id)
      if (run?.runId === openRunId) {
        runs.note(name, slot, run, { isKnown: true })
        continue
      }
      if (run) {
        const endedAt = Math.max(ofFlow.completedAt ?? 0, ofFlow.dismissedAt ?? 0)
        // A run that the server knew as open, and no longer tells, has ended elsewhere, or was left for another.
        if (!run.isKnown && !(endedAt > run.startedAt)) continue
        runs.end(name, slot, run)
      }
      const isDue = isDueAgain(flow.frequency, ofFlow)
      if (openRunId !== null && isDue) runs.join(name, flow, openRunId, isRoomFor(flow))
    }
  }

  const onStage = (): Promise<Stage> => {
    loading ??= deps.loadStage().then(createStage => {
      stage = createStage({ ...deps, save, end, start, isHere, giveWay, inVain })
      return stage
    })
    return loading
  }

  const isHidden = () => page.document.visibilityState === 'hidden' || !deps.isSeen()

  /** Checks what is due, and shows it. To be called whenever something that decides this has changed. */
  function consider(): void {
    // A page that is still loading has nowhere to show anything.
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
          stage?.requested(slot)
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

  /** Lets other tabs have the slot, unless this one shows, or is about to show, what they must not show too. */
  function letGo(slot: Slot): void {
    if (filling.has(slot) || (slot === 'steps' && showing.steps)) return
    held[slot]?.()
    delete held[slot]
  }

  /** A launcher is always there, and interrupts nobody. */
  const active = () => slots.slice(0, 2).flatMap(slot => showing[slot]?.flow.key ?? [])
  let toldActive = ''
  /** Tells which flows are on the page, if that has changed. */
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
    const run = open ?? (slot === 'launcher' ? newRun(flow, '', false) : begin(flow))
    const isRequested = flow.key === wanted
    if (isRequested) grant(slot, run)
    showing[slot] = { flow, run }
    doneHere.delete(slot)
    tellActive()
    drawn.show(slot, flow, run)
    if (isRequested) drawn.requested(slot)
  }

  /** A flow that the page started stays on this page, whatever its rules say. Elsewhere they count again. */
  function grant(slot: Slot, run: Run): void {
    wanted = null
    run.askedForOn = viewOf(deps.address())
    save(slot, run)
  }

  /** Whether a checklist begins open. It does not if it leaves no room on the page, or was dismissed before. */
  const isRoomFor = ({ id }: Flow): boolean =>
    page.innerWidth >= roomyPx && !history.of(person.name)[id]?.dismissedAt

  function begin(flow: Flow): Run {
    const { userId, anonymousId, traits: reported } = person.current
    const traits = listedTraits(feed.listedTraits(), reported)
    const run = runs.begin(person.name, flow, {
      isOpen: isRoomFor(flow),
      isGuess: deps.who() !== 'identified',
      ...(userId === null && { anonymousId }),
    })
    // A flow with a trigger begins by itself only after that.
    const reason = flow.key === wanted ? wantedBy : flow.when?.trigger && 'trigger'
    outbox.report({
      ...{ kind: 'flow_started', ...idsOf(flow, run) },
      ...(traits && { traits }),
      ...(reason && { reason }),
    })
    history.change(person.name, flow.id, started(clock.now(), flow.key === wanted))
    deps.tell('flow_started', { flowKey: flow.key })
    return run
  }

  function save(slot: Slot, run: Run): void {
    runs.save(person.name, slot, run)
  }

  /** Called by the stage when a flow has ended and is off the page. */
  function end(
    slot: Slot,
    outcome: 'completed' | 'dismissed',
    { reason, isReported = true }: { reason?: string; isReported?: boolean } = {},
  ): void {
    const shown = showing[slot]
    if (!shown) return
    const { flow, run } = shown
    delete showing[slot]
    doneHere.add(slot)
    runs.end(person.name, slot, run)
    const isCompleted = outcome === 'completed'
    const kind = isCompleted ? 'flow_completed' : 'flow_dismissed'
    if (isReported) outbox.report({ kind, ...idsOf(flow, run), ...(reason && { reason }) })
    history.change(person.name, flow.id, ended(outcome, run.runId, Date.now()))
    deps.tell(kind, { flowKey: flow.key })
    tellActive()
    letGo(slot)
  }

  /** No step of the flow was seen: it counts as not begun, and goes on with a page that has one of its steps. */
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
    withoutTarget = is ? (showing.steps?.flow.id ?? null) : null
    if (is) consider()
  }

  const isHere: StageDeps['isHere'] = step => isOnPage(step, deps.address())

  /** Shows a flow whatever its rules say, as soon as the flows are known. */
  function start(flowKey: string, by: StartReason = 'code'): void {
    wanted = flowKey
    wantedBy = by
    consider()
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
    withoutTarget = null
    viewedFrom = null
  }

  return {
    consider,
    clear,
    /** The flows have been fetched, or other flows were published. */
    take(fetched: readonly Flow[]) {
      // A newer Cairn may publish kinds that this page cannot show.
      flows = fetched.filter(({ kind }) => kinds.includes(kind))
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
    /** The page has called `identify()`, or is no longer waited for. */
    identified() {
      review()
      consider()
    },
    /** It was assumed that the person with this name is there, but it is somebody else. */
    changedPerson(name: string) {
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
    /** The page is back as it was left (back/forward cache), and other pages have gone on meanwhile. */
    returned() {
      clear()
      isElsewhere()
      consider()
    },
    /** Whether a checklist is on this page, or about to be. */
    hasList: () => due('checklist') !== null,
    timed,
    /** @param id the event's own id, by which the server tells of it too */
    tracked(name: string, id: string) {
      stage?.tracked(name)
      const isWaitedFor = ({ when }: Flow) => [when?.event, when?.trigger?.event].includes(name)
      if (areKnown && !flows.some(isWaitedFor)) return
      const noted: Noted = [person.name, name, id, clock.now()]
      if (timing) timing.note(...noted)
      else {
        // The page may be left before that is loaded. Then the next page takes it up.
        const all = deps.store.get<Noted[]>('noted') ?? []
        deps.store.set('noted', [...all, noted].slice(-maxNoted))
      }
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
    /** The facts that decide, for callers that ask why. */
    facts: () => ({
      ...{ flows, areKnown, isWaiting, doneHere, missedHere, filling, mustWait },
      moment: timing?.moment() ?? null,
    }),
    start,
    /** Shows a tip, which is no flow. */
    async highlight(...args: Parameters<Stage['highlight']>): Promise<boolean> {
      if (args[0] === null && !stage) return false
      const drawn = await onStage().catch(() => {
        loading = null
      })
      return drawn?.highlight(...args).catch(() => false) ?? false
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
 * The part of an address that makes it another page to a person. Filters in a query and anchors in a page
 * do not count. What follows `#/` is a page of an application that has its paths there.
 */
const viewOf = ({ pathname, hash }: URL): string => pathname + (/^#!?\//.test(hash) ? hash : '')

export const candidateOf = (flow: Flow, past: FlowHistory): Candidate & { flow: Flow } => ({
  flow,
  status: 'published',
  history: past,
})

const forAnybody = ({ rollout, when, ...flow }: Flow): Flow => ({
  ...flow,
  ...(when && { when: { ...when, after: undefined, event: undefined } }),
  frequency: 'always',
  targeting: { ...flow.targeting, audience: { match: 'all', rules: [] } },
})

export type Engine = ReturnType<typeof createEngine>

/** The ids that every event of a run has. */
export const idsOf = (flow: Flow, run: Run) => ({
  flowId: flow.id,
  flowVersion: run.flowVersion,
  runId: run.runId,
  ...(run.anonymousId && { anonymousId: run.anonymousId }),
})
