import type { EventKind } from '../../core/event.ts'
import type { Fingerprint } from '../../core/fingerprint.ts'
import type { Flow, Item, Step, Target } from '../../core/flow.ts'

/**
 * The parts of the snippet, as they know each other. Each is made by one function (`createOutbox`,
 * `createFinder`, …) from what it needs, keeps no state outside of that, and never throws into the
 * page.
 */

export type { Flow, Item, Step, Target }

/** What the page said of who is there. `userId` null: a visitor, by `anonymousId`. */
export interface Person {
  userId: string | null
  anonymousId: string
  /** HMAC of the user id, where the organisation verifies identities. */
  userHash: string | null
  traits: Readonly<Record<string, unknown>>
}

/** Where Cairn is, and how the page calls itself. Given in code, or read from the script's tag. */
export interface Settings {
  /** Without a slash at the end: `https://cairn.example.com`. */
  baseUrl: string
  key: string
  /** Query strings and fragments stay in reported URLs; off unless the page allows it. */
  keepQuery: boolean
  /** The page's nonce for scripts and styles, where its policy wants one. */
  nonce: string | null
}

/**
 * What lasts over page loads, and is shared by the tabs of an origin. Values are JSON. Where the
 * browser refuses storage, it lasts as long as the page.
 */
export interface Keep {
  get<Value>(name: string): Value | null
  set(name: string, value: unknown): void
  remove(name: string): void
  /** Called when another tab has written or removed the name. */
  onChange(name: string, listener: () => void): void
  /** Runs `work` in one tab at a time; the others wait (Web Locks; else at once). */
  exclusively<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result>
}

/** An event as the engine reports it; id, person, session, time and page are added. */
export interface NewEvent {
  kind: Exclude<EventKind, 'item_reopened'>
  flowId?: string
  flowVersion?: number
  stepId?: string
  itemId?: string
  runId?: string
  name?: string
  reason?: string
  properties?: Readonly<Record<string, unknown>>
}

export interface HealthReport {
  outcome: 'found' | 'found_by_alternate' | 'changed' | 'ambiguous' | 'hidden' | 'not_found' | 'error'
  selector?: string
  matchCount?: number
  waitMs?: number
  flowVersion?: number
  message?: string
}

export interface FingerprintReport {
  fingerprint: Fingerprint | null
  candidates: readonly Fingerprint[]
  flowVersion?: number
}

/** Sends what happened, once each, through reloads, closed tabs, an hour offline and refusals. */
export interface Outbox {
  report(event: NewEvent): void
  health(stepId: string, report: HealthReport): void
  fingerprint(stepId: string, report: FingerprintReport): void
  /** Sends what waits, at once. */
  flush(): void
  /** Forgets what waits, sends no more: the visitor has not consented. */
  silence(): void
}

/** What became of looking for a step's target. */
export type Found =
  | {
      element: Element
      by: 'selector' | 'alternate' | 'fingerprint'
      /** The selector that found it. */
      selector: string
      matchCount: number
      waitedMs: number
    }
  | {
      element: null
      because: 'not_found' | 'hidden' | 'ambiguous'
      matchCount: number
      waitedMs: number
    }

export interface Finder {
  /** Waits up to `waitMs` (for ever with `onMissing: wait`). Never answers a doubtful match. */
  find(target: Target, signal: AbortSignal): Promise<Found>
}

/** What a person does with what is shown. */
export type Choice =
  | { type: 'next' | 'back' | 'complete' | 'dismiss' | 'skip' }
  | { type: 'link'; href: string; opensNewTab: boolean }

/** A step that is on the page. */
export interface StepView {
  flow: Flow
  step: Step
  /** Place and number of the steps that are shown, from 1. */
  place: number
  of: number
  /** What it points at; null for modals, banners, and where a step is shown without its target. */
  element: Element | null
  choose(choice: Choice): void
}

/** A checklist that is on the page. */
export interface ChecklistView {
  flow: Flow
  /** By item id. */
  isTicked(itemId: string): boolean
  isOpen: boolean
  toggle(isOpen: boolean): void
  openItem(item: Item): void
  dismiss(): void
}

/** Draws; loaded when the first flow is due. One step at a time; a checklist may stand beside it. */
export interface Renderer {
  showStep(view: StepView): void
  hideStep(): void
  /** Again after every change. */
  showChecklist(view: ChecklistView): void
  hideChecklist(): void
  /** The element of the step has gone, or is another one. */
  moveTo(element: Element | null): void
}

/** What listeners of `cairn.on` are told. */
export interface Told {
  flow_started: { flowKey: string }
  step_viewed: { flowKey: string; stepKey: string }
  flow_completed: { flowKey: string }
  flow_dismissed: { flowKey: string }
  item_completed: { flowKey: string; itemKey: string }
  target_missing: { flowKey: string; stepKey: string }
}
