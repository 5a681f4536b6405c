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
  /** How long that is waited for, milliseconds; 3,000 unless set. Then it is nobody, or who was there last. */
  identifyTimeoutMs?: number
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

/** What a page can say and ask: `window.cairn`. Nothing of it throws, and nothing waits. */
export interface Cairn {
  /**
   * Who is there, at most 128 characters; flows are counted and remembered by it.
   *
   * @param traits what audience rules ask for, such as `{plan: 'pro'}`; kept in this browser, but for those
   *   that the organisation lists to count runs by
   * @param userHash hex HMAC-SHA256 of the user id by your back end, where identities are verified
   */
  identify(userId: string, traits?: Readonly<Record<string, unknown>>, userHash?: string): void
  /** Reports an event of your own; steps and items may wait for it by its name. */
  track(name: string, properties?: Readonly<Record<string, unknown>>): void
  /** Shows a flow by its key, whatever its rules say. */
  start(flowKey: string): void
  /** Takes the tour or announcement away that is shown: it counts as dismissed. */
  stop(): void
  /** The person has logged out: what follows is another, unknown one. */
  reset(): void
  /** @returns a function that ends it */
  on<Name extends keyof Told>(name: Name, listener: (what: Told[Name]) => void): () => void
  /** Without consent nothing is reported and nothing stored but the refusal; flows are shown. */
  consent(isGiven: boolean): void
}
