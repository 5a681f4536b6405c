/**
 * What a page sees of the snippet. This file holds only these types, because it is handed out as it
 * is, together with the snippet as a module.
 */

/** Where Cairn is, and how it may be used. Given in code, or read from the script's tag. */
export interface Settings {
  /** Without a slash at the end: `https://cairn.example.com`. */
  baseUrl: string
  key: string
  /** Keeps query strings and fragments in reported URLs; they are cut off unless the page allows them. */
  keepQuery?: boolean | undefined
  /**
   * `wait`, for applications with a login: flows that are only for some people, and those that are not
   * shown `always`, begin only once the page has called `identify()`.
   */
  identify?: 'wait' | undefined
  /** The language of what is shown, such as `pt-BR`; the page's `<html lang>`, then the browser's, unless set. */
  locale?: string | undefined
  /** How long to wait for that, milliseconds; 3,000 unless set. Then it is nobody, or whoever was there last. */
  identifyTimeoutMs?: number | undefined
  /**
   * Draws nothing. `on('step', …)` and `on('checklist', …)` tell what is due and what a person can do
   * with it, for components of your own. Everything is decided, found and reported as if it were drawn.
   */
  headless?: boolean | undefined
}

/**
 * The outcome of `identify()`. `known`: the server has returned what this person has done. `refused`: it does
 * not believe that it is them. `alone`: without consent, an answer in time or that method, this browser
 * decides alone. `invalid`: what was given is no user id.
 */
export type Identified = 'known' | 'alone' | 'refused' | 'invalid'

/** A person, for `reset()` to switch straight to. */
export interface Identity {
  userId: string
  traits?: Readonly<Record<string, unknown>> | undefined
  userHash?: string | undefined
}

/** How far somebody has come: the items that are ticked, or the steps that lie behind them. */
export interface Progress {
  completed: number
  total: number
  /** 0 to 100, whole. */
  percent: number
}

/** A published flow, as `flows()` lists it. */
export interface FlowSummary {
  key: string
  name: string
  kind: string
  version: number
  /** Whether it is on this page now. */
  isActive: boolean
  /** Whether its own conditions and the order of flows would show it here. */
  isDue: boolean
  progress: Progress
}

/** One condition. `holds` is null if it could not be known; then it does not decide. */
export interface WhyRule {
  rule: string
  holds: boolean | null
  why: string
  /** Its parts, such as each rule of an audience. */
  parts: readonly { holds: boolean; why: string }[]
}

/** Why a flow is shown here, or is not. */
export interface Why {
  flowKey: string
  isActive: boolean
  rules: readonly WhyRule[]
  /** The flow that is due in its place; null for none. */
  winner: string | null
}

/** A published flow as the API returns it: the fields named here, and those that newer servers add. */
export interface FlowData {
  id: string
  key: string
  name: string
  title?: string
  kind: string
  version: number
  [more: string]: unknown
}

/** A button of a step. Its action names the one of `StepActions` that it stands for. */
export interface ButtonData {
  label: string
  action: string
  href: string | null
  [more: string]: unknown
}

/** A step: the fields named here, and those that newer servers add. `body` is Markdown without HTML. */
export interface StepData {
  id: string
  key: string
  kind: string
  title: string
  body: string
  placement: { side: string; align: string }
  buttons: ButtonData[]
  [more: string]: unknown
}

/** A number, the key of a choice (several where the question takes them), or a text. */
export type Answer = number | string | readonly string[]

/** What a person can do with a step. Once the step is no longer shown, these do nothing. */
export interface StepActions {
  /** Does what a press of that button does, whatever its action is, with the answer to a question. */
  press(button: ButtonData, answer?: Answer): void
  /** Answers the step's question, and goes on. */
  answer(answer: Answer): void
  next(): void
  back(): void
  complete(): void
  dismiss(): void
  /** Skips what the step asks for. */
  skip(): void
  /** Completes the step and follows an address, in a new tab where it is another site's. */
  link(href: string): void
}

/** A step to draw, in headless mode. */
export interface StepShown {
  flow: FlowData
  step: StepData
  /** The step's place, from 1, and the number of steps. */
  place: number
  of: number
  /** Whether a step was seen before it. */
  hasBack: boolean
  /** What it points at; null where it points at nothing, or is shown without it. */
  element: Element | null
  /**
   * The step is for another page: say so, offer the way there, or draw nothing. Of its actions, `dismiss`
   * works, and `next` goes there if the address is known.
   */
  isElsewhere: boolean
  actions: StepActions
}

/** An item of a checklist to draw. */
export interface ItemShown {
  id: string
  key: string
  title: string
  /** Markdown without HTML. */
  description: string | null
  href: string | null
  /** Key of the flow that `open` starts. */
  flow: string | null
  isDone: boolean
  /** Whether its turn has come and a person can tick it. Items that wait for an event cannot be ticked. */
  canTick: boolean
}

/** A checklist to draw, in headless mode. */
export interface ChecklistShown {
  flow: FlowData
  items: ItemShown[]
  progress: Progress
  /** Whether its panel is open; otherwise it is folded up. */
  isOpen: boolean
  /** Whether it is hidden because a step is shown: one thing at a time. */
  isHidden: boolean
  actions: {
    /** Ticks an item by its key, if its `canTick` is true. */
    tick(itemKey: string): void
    /** Does what a press of the item does: ticks it, and follows its address or starts its flow. */
    open(itemKey: string): void
    /** Unfolds it or folds it up; without an argument, it switches. */
    toggle(isOpen?: boolean): void
    dismiss(): void
  }
}

/** An item of a launcher to draw. */
export interface OfferShown {
  id: string
  key: string
  title: string
  /** Markdown without HTML. */
  description: string | null
  href: string | null
  /** The flow that it starts, and how far the person is in it. */
  starts: { flowKey: string; kind: string; progress: Progress } | null
  /** The person's announcements, newest first, if the item lists them. */
  announcements: { flowKey: string; title: string; publishedAt: string; isUnread: boolean }[] | null
}

/** A launcher to draw, in headless mode. */
export interface LauncherShown {
  flow: FlowData
  items: OfferShown[]
  /** How many announcements are unread. */
  unread: number
  isOpen: boolean
  /** Whether a step is shown: one thing at a time. */
  isHidden: boolean
  actions: {
    /** Opens or closes it; without an argument, it switches. */
    toggle(isOpen?: boolean): void
    /** While it is open: does what a press of the item, or of one of its announcements, does. */
    choose(itemKey: string, announcementKey?: string): void
  }
}

/** What listeners of `cairn.on` receive, by event. */
export interface CairnEvents {
  flow_started: { flowKey: string }
  step_viewed: { flowKey: string; stepKey: string }
  question_answered: { flowKey: string; stepKey: string; answer: Answer }
  flow_completed: { flowKey: string }
  flow_dismissed: { flowKey: string }
  item_completed: { flowKey: string; itemKey: string }
  target_missing: { flowKey: string; stepKey: string }
  /**
   * Sent before a tour leads to the page of its next step. An application that has its own router calls
   * `preventDefault()` and goes to `url` with that router. Otherwise the address is loaded.
   */
  navigate: { flowKey: string; stepKey: string; url: string; preventDefault(): void }
  /** Which flows are on the page, whenever that changes. A new listener gets it at once. */
  active: { flowKeys: string[] }
  /** In headless mode, what to draw now, or null. A new listener gets it at once. */
  step: StepShown | null
  checklist: ChecklistShown | null
  launcher: LauncherShown | null
}

/** A tip that `highlight()` shows. It needs one of the two. */
export interface Highlight {
  /** Heading, as plain text; at most 200 characters are shown. */
  title?: string | undefined
  /** Text, as Markdown without HTML; at most 2,000 characters are shown. */
  body?: string | undefined
}

/** What a page can say and ask: `window.cairn`. None of it throws. */
export interface Cairn {
  /**
   * Says who is there, in at most 128 characters. Flows are counted and remembered by this id. Nothing
   * has to wait for the answer.
   *
   * @param traits what audience rules ask for, such as `{plan: 'pro'}`; kept in this browser, except for
   *   those that the organisation lists to count runs by
   * @param userHash hex HMAC-SHA256 of the user id by your back end, where identities are verified
   */
  identify(
    userId: string,
    traits?: Readonly<Record<string, unknown>>,
    userHash?: string,
  ): Promise<Identified>
  /**
   * The company, team or account that the person belongs to. Audience rules refer to it by `group.`, as in
   * `group.plan` and `group.id`. It is kept as traits are, until somebody else is there.
   *
   * @param id null if they belong to none
   */
  group(id: string | null, traits?: Readonly<Record<string, unknown>>): void
  /** Reports an event of your own; steps and items may wait for it by its name. */
  track(name: string, properties?: Readonly<Record<string, unknown>>): void
  /** Shows a flow by its key, whatever its rules say. */
  start(flowKey: string): void
  /** Takes away the tour or announcement that is shown. It counts as dismissed. */
  stop(): void
  /** The person has logged out: from now on it is another, unknown person. */
  reset(): void
  /** The person has changed: from now on it is this one, with nobody in between. */
  reset(person: Identity): Promise<Identified>
  /**
   * Shows a tip at an element, without a flow and without reports. It closes with Escape, with a press
   * anywhere else, with the next tip, when a step is shown, and with `highlight(null)`.
   *
   * @param selector CSS selector; the first element that it finds
   * @returns whether the tip is shown: not without a visible element, nor while a step is shown
   */
  highlight(selector: string, tip: Highlight): Promise<boolean>
  highlight(selector: null): Promise<boolean>
  /** Whether this flow, or any, is on this page now; also true while its element is being looked for. */
  isActive(flowKey?: string): boolean
  /** How far the person is, as this browser knows; null where no such flow is known (yet). */
  progress(flowKey: string): Progress | null
  /** The published flows. The code for them is loaded at the first call. */
  flows(): Promise<FlowSummary[]>
  /** Why a flow is shown here or not, rule by rule; null if no such flow is published. */
  why(flowKey: string): Promise<Why | null>
  /** Opens or closes a panel that says who is there, what is shown or why it is not, and what was sent. */
  debug(isOpen?: boolean): void
  /** @returns a function that removes the listener */
  on<Name extends keyof CairnEvents>(
    name: Name,
    listener: (what: CairnEvents[Name]) => void,
  ): () => void
  /** Without consent nothing is reported, and only the refusal is stored. Flows are still shown. */
  consent(isGiven: boolean): void
}
