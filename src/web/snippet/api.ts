/**
 * What a page sees of the snippet. Types alone, and of nothing else: they are handed out as they stand
 * here, beside the snippet as a module.
 */

/** Where Cairn is, and how it may be used. Given in code, or read from the script's tag. */
export interface Settings {
  /** Without a slash at the end: `https://cairn.example.com`. */
  baseUrl: string
  key: string
  /** Query strings and fragments stay in reported URLs; they are cut unless the page allows them. */
  keepQuery?: boolean
  /**
   * `wait`, for applications with a login: flows for some people alone, and those that are not shown
   * `always`, begin once the page has called `identify()`.
   */
  identify?: 'wait'
  /** The language of what is shown, such as `pt-BR`; the page's `<html lang>`, then the browser's, unless set. */
  locale?: string
  /** How long that is waited for, milliseconds; 3,000 unless set. Then it is nobody, or who was there last. */
  identifyTimeoutMs?: number
  /**
   * Draws nothing: what is due is told by `on('step', …)` and `on('checklist', …)`, with what a person
   * can do with it, for components of your own. All is decided, found and reported as if it were drawn.
   */
  headless?: boolean
}

/**
 * What became of `identify()`: the server has told what this person has done (`known`), or does not
 * believe that it is them (`refused`); without consent, an answer in time or that method, this browser
 * decides `alone`; what was given is no user id (`invalid`).
 */
export type Identified = 'known' | 'alone' | 'refused' | 'invalid'

/** Somebody, for `reset()` straight to them. */
export interface Identity {
  userId: string
  traits?: Readonly<Record<string, unknown>>
  userHash?: string
}

/** How far somebody is: items that are ticked, or steps that lie behind them. */
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

/** One condition; `holds` is null where it could not be known, and does not decide. */
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

/** A published flow as the API answers it: what is named here, and what newer servers add. */
export interface FlowData {
  id: string
  key: string
  name: string
  title?: string
  kind: string
  version: number
  [more: string]: unknown
}

/** A button of a step. Its action is the name of the one of `StepActions` that it stands for. */
export interface ButtonData {
  label: string
  action: string
  href: string | null
  [more: string]: unknown
}

/** A step, likewise. `body` is Markdown without HTML. */
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

/** What a person can do with a step. Of a step that is no longer shown, nothing happens. */
export interface StepActions {
  /** What a press of that button does, whatever its action is; with what was answered to a question. */
  press(button: ButtonData, answer?: Answer): void
  /** Answers the step's question, and leads on. */
  answer(answer: Answer): void
  next(): void
  back(): void
  complete(): void
  dismiss(): void
  /** Leaves out what the step asks for. */
  skip(): void
  /** Completes the step and follows an address, in a new tab where it is another site's. */
  link(href: string): void
}

/** A step that is to be drawn, in headless mode. */
export interface StepShown {
  flow: FlowData
  step: StepData
  /** Place and number of the steps, from 1. */
  place: number
  of: number
  /** Whether a step was seen before it. */
  hasBack: boolean
  /** What it points at; null where it points at nothing, or is shown without it. */
  element: Element | null
  /**
   * It is for another page: say so, offer the way, or draw nothing. Of its actions, `dismiss` works, and
   * `next` goes there where an address is known.
   */
  isElsewhere: boolean
  actions: StepActions
}

/** An item of a checklist that is to be drawn. */
export interface ItemShown {
  id: string
  key: string
  title: string
  /** Markdown without HTML. */
  description: string | null
  href: string | null
  isDone: boolean
  /** Whether its turn has come, and a person can tick it: not those that wait for an event. */
  canTick: boolean
}

/** A checklist that is to be drawn, in headless mode. */
export interface ChecklistShown {
  flow: FlowData
  items: ItemShown[]
  progress: Progress
  /** Whether its panel is open, or it is folded up. */
  isOpen: boolean
  /** A step is shown: one thing at a time. */
  isHidden: boolean
  actions: {
    /** Ticks an item by its key, as far as `canTick`. */
    tick(itemKey: string): void
    /** What a press of the item does: ticks it, and follows its address. */
    open(itemKey: string): void
    /** Folds it up or unfolds it; without an argument, whichever it is not. */
    toggle(isOpen?: boolean): void
    dismiss(): void
  }
}

/** What listeners of `cairn.on` are told. */
export interface Told {
  flow_started: { flowKey: string }
  step_viewed: { flowKey: string; stepKey: string }
  question_answered: { flowKey: string; stepKey: string; answer: Answer }
  flow_completed: { flowKey: string }
  flow_dismissed: { flowKey: string }
  item_completed: { flowKey: string; itemKey: string }
  target_missing: { flowKey: string; stepKey: string }
  /**
   * Before a tour leads to the page of its next step. An application that has its own router calls
   * `preventDefault()` and goes to `url` by it; else the address is loaded.
   */
  navigate: { flowKey: string; stepKey: string; url: string; preventDefault(): void }
  /** Which flows are on the page, whenever that changes; a listener is told at once. */
  active: { flowKeys: string[] }
  /** In headless mode, what is to be drawn now, or null; a listener is told at once. */
  step: StepShown | null
  checklist: ChecklistShown | null
}

/** What a page can say and ask: `window.cairn`. Nothing of it throws. */
export interface Cairn {
  /**
   * Who is there, at most 128 characters; flows are counted and remembered by it. Nothing has to wait
   * for the answer.
   *
   * @param traits what audience rules ask for, such as `{plan: 'pro'}`; kept in this browser, but for those
   *   that the organisation lists to count runs by
   * @param userHash hex HMAC-SHA256 of the user id by your back end, where identities are verified
   */
  identify(
    userId: string,
    traits?: Readonly<Record<string, unknown>>,
    userHash?: string,
  ): Promise<Identified>
  /**
   * The company, team or account that the person belongs to. Audience rules ask for it by `group.`, such
   * as `group.plan` and `group.id`; kept as traits are, until somebody else is there.
   *
   * @param id null: to none
   */
  group(id: string | null, traits?: Readonly<Record<string, unknown>>): void
  /** Reports an event of your own; steps and items may wait for it by its name. */
  track(name: string, properties?: Readonly<Record<string, unknown>>): void
  /** Shows a flow by its key, whatever its rules say. */
  start(flowKey: string): void
  /** Takes the tour or announcement away that is shown: it counts as dismissed. */
  stop(): void
  /** The person has logged out: what follows is another, unknown one. */
  reset(): void
  /** The person has changed: what follows is this one, with nobody in between. */
  reset(person: Identity): Promise<Identified>
  /** Whether a flow is on this page now, or any; also while its element is looked for. */
  isActive(flowKey?: string): boolean
  /** How far the person is, as this browser knows; null where no such flow is known (yet). */
  progress(flowKey: string): Progress | null
  /** The published flows. What it takes to say is loaded when it is first asked for. */
  flows(): Promise<FlowSummary[]>
  /** Why a flow is shown here or is not, rule by rule; null where no such flow is published. */
  why(flowKey: string): Promise<Why | null>
  /** Opens a panel that says who is there, what is shown and why not, and what was sent; or closes it. */
  debug(isOpen?: boolean): void
  /** @returns a function that ends it */
  on<Name extends keyof Told>(name: Name, listener: (what: Told[Name]) => void): () => void
  /** Without consent nothing is reported and nothing stored but the refusal; flows are shown. */
  consent(isGiven: boolean): void
}
