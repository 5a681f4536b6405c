import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** Times are epoch milliseconds. */

/** When each rule raises an alert. All rules are off until somebody switches one on. */
export interface AlertRules {
  /** `from`: the mildest step state that raises an alert. */
  stepBroken: { on: boolean; from: 'broken' | 'flaky' }
  /** By how many percentage points completion must fall, and how many runs each week must have. */
  completionFell: { on: boolean; points: number; fewestRuns: number }
  /** How many hours must pass without a page being seen. */
  installStale: { on: boolean; hours: number }
  deadLetters: { on: boolean; fewest: number }
}

/** What an organisation wants to be alerted to. */
export interface AlertSettings {
  rules: AlertRules
  report: ReportSettings
}

export interface ReportSettings {
  on: boolean
  mails: readonly string[]
  /** By mail address. Nobody has confirmed an address without an entry. */
  consents?: Readonly<Record<string, Consent>>
}

/** Whether whoever reads the mail of an address wants reports. Only they can change it to `confirmed`. */
export interface Consent {
  state: 'waiting' | 'confirmed' | 'unsubscribed'
  /** The newest confirmation mail, whose link alone is valid; null if there is none. */
  confirmationSentAt: number | null
}

export interface StoredSettings {
  /** Null if nobody has set anything. */
  settings: AlertSettings | null
  /** Counts changes; 0 before the first. */
  revision: number
  /** The Monday of the newest report that was made. */
  reportedFor: string | null
}

/** What a rule saw, such as a step; nothing about a person. */
export type Facts = Readonly<Record<string, string | number | null>>

/** Something that is or was wrong: one alert for each occurrence. */
export interface Alert {
  id: string
  rule: string
  /** With the rule, says what the alert is about. At most one alert of each such pair is not resolved. */
  subject: string
  /** `pending`: seen, but not yet in enough looks in a row. */
  state: 'pending' | 'open' | 'resolved'
  /** How many looks in a row agree: seen while pending, not seen while open. */
  streak: number
  facts: Facts
  /** Since when it has been so, as far as is known. */
  since: number
  openedAt: number | null
  resolvedAt: number | null
}

/** An address that is notified. */
export interface Webhook {
  id: string
  url: string
  /** The types that it wants; empty for all. */
  types: readonly string[]
  secret: string
  /** The previous secret, which also signs messages until `oldSecretUntil`. */
  oldSecret: string | null
  oldSecretUntil: number | null
  createdAt: number
  /** Since when nothing has arrived; null if the latest message arrived. */
  failingSince: number | null
  disabledAt: number | null
  disabledWhy: string | null
}

/** How a webhook is doing. */
export type WebhookState = Pick<
  Webhook,
  'id' | 'url' | 'disabledAt' | 'disabledWhy' | 'failingSince'
>

/** What may change about a webhook; absent fields stay as they are. */
export type WebhookChange = Partial<Omit<Webhook, 'id' | 'createdAt'>>

export type DeliveryState = 'pending' | 'delivered' | 'failed'

/** A message to one webhook, or one mail address. */
export interface Delivery {
  /** The message's id, the same however often it is sent. */
  id: string
  webhook: string | null
  mail: string | null
  type: string
  body: string
  createdAt: number
  state: DeliveryState
  /** When the next attempt is due; null if there will be none. */
  dueAt: number | null
  attempts: number
  lastAt: number | null
  /** The status of the last answer. */
  lastStatus: number | null
  /** Why there was no answer. */
  lastFault: string | null
}

/** How an attempt went, as it is stored. */
export type Attempted = Pick<
  Delivery,
  'state' | 'dueAt' | 'attempts' | 'lastAt' | 'lastStatus' | 'lastFault'
>

export type DueDelivery = Delivery & {
  orgRef: OrganisationRef
  /** `org_…`. */
  organisation: string
  /** Null for mail. */
  target: Webhook | null
}

/** What one look found. All of it is written, or none. */
export interface Noted {
  alerts: readonly Alert[]
  deliveries: readonly Delivery[]
  /** The Monday of the report among the deliveries. */
  reportedFor?: string
}

/** A message that somebody has sent on demand. */
export interface RequestedSend {
  kind: 'confirmation' | 'report' | 'webhook'
  /** Null for a webhook. */
  address: string | null
}

/** How many messages of a kind can be sent on demand within a time. */
export interface SendBound {
  kind: RequestedSend['kind']
  /** Only sends to the same address, by the same organisation, or both, count together. */
  per: readonly ('address' | 'organisation')[]
  max: number
  withinMs: number
  /** The bound in one sentence, for whoever exceeds it. */
  message: string
}

/** What alerts need from storage. */
export interface AlertStore {
  /** The ids of organisations that have set something or have a webhook. */
  watched(): Promise<readonly string[]>
  settings(orgRef: OrganisationRef): Promise<StoredSettings>
  /** Returns false and changes nothing if the settings are no longer at this revision. */
  changeSettings(
    orgRef: OrganisationRef,
    revision: number,
    change: {
      settings: AlertSettings
      reportedFor: string | null
      deliveries: readonly Delivery[]
    },
    maxDeliveries: number,
    audit: AuditEntry,
  ): Promise<boolean>
  /**
   * Counts messages that are to be sent on demand, all or none.
   *
   * @returns null if they were counted; otherwise the bound that they exceed, for which address, and until when
   */
  countSends(
    orgRef: OrganisationRef,
    sends: readonly RequestedSend[],
    bounds: readonly SendBound[],
    now: number,
    audit: AuditEntry | null,
  ): Promise<{ bound: SendBound; address: string | null; until: number } | null>
  /** The oldest first. */
  webhooks(orgRef: OrganisationRef): Promise<readonly Webhook[]>
  /** False if there are that many already. */
  addWebhook(
    orgRef: OrganisationRef,
    webhook: Webhook,
    most: number,
    audit: AuditEntry,
  ): Promise<boolean>
  /**
   * False if there is no such webhook. Pending deliveries of a webhook that gets disabled are not sent.
   *
   * @param audit null for what Cairn does by itself
   */
  changeWebhook(
    orgRef: OrganisationRef,
    id: string,
    change: WebhookChange,
    audit: AuditEntry | null,
  ): Promise<boolean>
  /** Removes it with its deliveries. False if there was none. */
  removeWebhook(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** Those that are not resolved, and those resolved since then; newest first. */
  alerts(orgRef: OrganisationRef, resolvedSince: number): Promise<readonly Alert[]>
  /**
   * Stores alerts as they are now, and what to send about them. A pending alert that is resolved is
   * deleted: it was nothing.
   */
  note(orgRef: OrganisationRef, noted: Noted, maxDeliveries: number): Promise<void>
  /** The newest first. */
  deliveries(
    orgRef: OrganisationRef,
    question: { webhook: string | null; most: number },
  ): Promise<readonly Delivery[]>
  delivery(orgRef: OrganisationRef, id: string): Promise<Delivery | null>
  /** For each target, of any organisation, the delivery that is due first. */
  due(now: number, most: number): Promise<readonly DueDelivery[]>
  /** Stores an attempt, and what it changes about the webhook. */
  attempted(
    orgRef: OrganisationRef,
    id: string,
    attempted: Attempted,
    webhook: { id: string; change: WebhookChange } | null,
  ): Promise<void>
  /** Has a delivery sent once more, at once. False if there is none, or if it is already waiting. */
  replay(orgRef: OrganisationRef, id: string, at: number, audit: AuditEntry): Promise<boolean>
  /** Deletes deliveries and sends on demand, and alerts resolved, before these moments; no more than `most`. */
  forget(deliveriesBefore: number, alertsBefore: number, most: number): Promise<void>
}
