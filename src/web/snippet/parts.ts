import type { EventKind } from '../../core/event/event.ts'
import type { ListedTraits } from '../../core/event/traits.ts'
import type { Answer } from '../../core/flow/answer.ts'
import type { Button, Flow, Item, Step, Target } from '../../core/flow/flow.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'
import type { Scrolls } from './stage/scrolling.ts'
import type { Spoken } from './stage/spoken.ts'
import type { StageParts } from './stage-parts.ts'

/**
 * The parts of the snippet, as they see each other. Each is made by one function (`createOutbox`,
 * `createFinder`, …) from what it needs, keeps no state outside of that, and never throws into the
 * page.
 */

export type {
  Cairn,
  CairnEvents,
  FlowSummary,
  Identified,
  Identity,
  Progress,
  Settings,
  Why,
  WhyRule,
} from './api.ts'
export type { Button, Flow, Item, Step, Target }

/** Whom the page has identified. If `userId` is null, it is a visitor, by `anonymousId`. */
export interface Person {
  userId: string | null
  anonymousId: string
  /** HMAC of the user id, where the organisation verifies identities. */
  userHash: string | null
  traits: Readonly<Record<string, unknown>>
}

/**
 * Keeps values over page loads, shared by the tabs of an origin. Values are JSON. If the browser refuses
 * storage, they last as long as the page.
 */
export interface BrowserStore {
  get<Value>(name: string): Value | null
  set(name: string, value: unknown): void
  remove(name: string): void
  /** The names that begin with this text. */
  names(beginning: string): string[]
  /** Removes everything except this name. */
  forget(but: string): void
  /** Whether values may be stored; if not, they last as long as the page, and are stored once they may be. */
  allow(isAllowed: boolean): void
  /** Called when another tab has written or removed the name. */
  onChange(name: string, listener: () => void): void
}

/** An event as the engine reports it; id, person, session, time and page are added. */
export interface NewEvent {
  kind: Exclude<EventKind, 'item_reopened'>
  flowId?: string
  flowVersion?: number
  stepId?: string
  itemId?: string
  runId?: string
  /** The visitor that the user was when the run began. */
  anonymousId?: string
  name?: string
  reason?: string
  properties?: Readonly<Record<string, unknown>>
  /** For a start: the person's known traits, of those that the organisation lists. */
  traits?: ListedTraits
}

export interface HealthReport {
  outcome:
    | 'found'
    | 'found_by_alternate'
    | 'changed'
    | 'ambiguous'
    | 'hidden'
    | 'not_found'
    | 'error'
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

/**
 * Sends what happened, each event once, despite reloads, closed tabs, an hour offline and refusals. Until
 * it may report or must be silent, it only collects.
 */
export interface Outbox {
  /** @returns the event's id */
  report(event: NewEvent): string
  /** Sends what waits, at once. */
  flush(): void
  /** Drops the waiting events of a run that was not for the person who is there. */
  withdraw(runId: string): void
  /**
   * Renames what was held back until the page called `identify()`. What the page has tracked is theirs. So is
   * what a visitor has begun, if that visitor turned out to be them.
   */
  rename(wasVisitor: boolean): void
  /** Forgets what waits, and reports nothing more: the visitor has not consented. */
  silence(): void
  /** Resolves once it is decided whether anything may be reported. */
  settled(): Promise<void>
  /** Whether the server may know who is there. */
  maySpeak(): boolean
  /** Sends what waits, and what pages before this one have left. */
  speak(): void
}

export interface FoundElement {
  element: Element
  by: 'selector' | 'alternate' | 'fingerprint'
  /** The selector that found it. If the fingerprint found it: the step's own selector, which did not. */
  selector: string
  /** How many elements that selector matched. */
  matchCount: number
  waitedMs: number
}

/** The outcome of looking for a step's target. */
export type Found =
  | FoundElement
  | {
      element: null
      because: 'not_found' | 'hidden' | 'ambiguous' | 'error'
      matchCount: number
      /** What went wrong, in case of an error. */
      message?: string
      waitedMs: number
    }

export interface Finder {
  /** Waits up to `waitMs` (for ever with `onMissing: wait`). Never returns a doubtful match. */
  find(target: Target, signal: AbortSignal): Promise<Found>
  /** What matches now in place of what was found: the current element, another one, or null. */
  now(target: Target, found: FoundElement, current: Element): Element | null
  /** What is like the target's fingerprint. */
  alike(target: Target, signal: AbortSignal): Promise<Element | null>
}

/** What a person does with what is shown, and what they answer to its question. */
export type Choice = (
  | { type: 'back' | 'complete' | 'dismiss' | 'skip' }
  /** `goto`: the key of the step that it leads to, if not the next one. */
  | { type: 'next'; goto?: string | undefined }
  | { type: 'link'; href: string; opensNewTab: boolean }
  | { type: 'start'; flow: string }
) & { answer?: Answer }

/** A step that is on the page. */
export interface StepView {
  /** As the visitor reads it; `spoken` says in which language. */
  spoken: Spoken
  flow: Flow
  step: Step
  /** The step's place, from 1, and the number of steps that are shown. */
  place: number
  of: number
  /** Whether a step was seen before it. */
  hasBack: boolean
  /** What was answered to its question before. */
  given: Answer | null
  /** What it points at; null for modals, banners, and where a step is shown without its target. */
  element: Element | null
  scrolls: Scrolls
  choose(choice: Choice): void
  /** Keeps what is answered so far, in case the step is drawn again. */
  keepDraft(answer: Answer | null): void
  /** Loads a part, with retries however often that fails; null once the step is no longer shown. */
  part<Name extends keyof StageParts>(name: Name): Promise<StageParts[Name] | null>
}
