import type { StartReason } from '../../core/event/start-reason.ts'
import type { Highlight } from './api.ts'
import type { FlowFeed } from './flow-feed.ts'
import type { History } from './history.ts'
import type { BrowserStore, CairnEvents, Flow, Outbox, Person, Step } from './parts.ts'
import type { Run, Runs, Slot } from './runs.ts'
import type { ServerClock } from './server-clock.ts'
import type { LoadPart } from './stage-parts.ts'
import type { Transport } from './transport.ts'

/** What the stage is made from. */
export interface StageDeps {
  outbox: Outbox
  transport: Transport
  feed: Pick<
    FlowFeed,
    'isCrowded' | 'isHeard' | 'progressVersion' | 'theme' | 'known' | 'listedTraits'
  >
  store: Pick<BrowserStore, 'get' | 'set'>
  /** The page's address as it may be reported. */
  url(): string
  version: string
  /** Whether the page is the one that the step is for. */
  isHere(step: Step): boolean
  person: { readonly current: Person; readonly name: string }
  history: Pick<History, 'of'>
  runs: Pick<Runs, 'open'>
  clock: Pick<ServerClock, 'now'>
  /** Whether the person who is there has tracked an event with this name in this browser. */
  hasTracked(event: string): boolean
  page: Window
  /** The language that the page has chosen for what is shown. */
  locale?: string | undefined
  tell<Name extends keyof CairnEvents>(name: Name, what: CairnEvents[Name]): void
  loadPart: LoadPart
  /** Saves a run; to be called at every change. */
  save(slot: Slot, run: Run): void
  /**
   * The flow has ended, and has already been cleared away.
   *
   * @param how `isReported: false` if the server knows it without an event: from the last item's tick
   */
  end(
    slot: Slot,
    outcome: 'completed' | 'dismissed',
    how?: { reason?: string; isReported?: boolean },
  ): void
  /** Shows another flow, whatever its rules say. */
  start(flowKey: string, by: StartReason): void
  /** The page has nothing that any of the flow's steps point at, and none was ever seen. */
  giveWay(slot: Slot): void
  /**
   * Whether the step that is due has been waited for as long as other flows may be kept waiting. It is
   * still looked for, and shown if it is found before another flow is due.
   */
  inVain(is: boolean): void
}

/** Shows flows, finds what their steps point at, and reports what happens to them. */
export interface Stage {
  /**
   * Shows a flow from the run's step on. One flow a slot; while a step is shown, the others are hidden. A
   * launcher makes runs of its own, when it is opened.
   */
  show(slot: Slot, flow: Flow, run: Run): void
  /** The page has started what the slot shows. If that is for another page, the visitor is led there. */
  requested(slot: Slot): void
  /** Takes what the slot shows off the page, without a report. */
  clear(slot: Slot): void
  /** The address has changed, so that a step may have come to its page, or left it. */
  moved(): void
  /** Shows a tip at an element, or none. Returns whether it is shown. */
  highlight(selector: string | null, tip?: Highlight): Promise<boolean>
  /** The page has tracked an event, for which a step or item may wait. */
  tracked(name: string): void
}
