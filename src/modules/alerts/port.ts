import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** Times are epoch milliseconds. */

/** When each rule speaks. All are off until somebody switches one on. */
export interface AlertRules {
  /** `worst`: from which state of a step on. */
  stepBroken: { on: boolean; from: 'broken' | 'flaky' }
  /** How many percentage points completion has to fall by, and with how many runs in each week. */
  completionFell: { on: boolean; points: number; fewestRuns: number }
  /** For how many hours no page was seen. */
  installStale: { on: boolean; hours: number }
  deadLetters: { on: boolean; fewest: number }
}

/** What an organisation wants to be told of. */
export interface AlertSettings {
  rules: AlertRules
  report: { on: boolean; mails: readonly string[] }
}

export interface StoredSettings {
  /** Null where nobody has set anything. */
  settings: AlertSettings | null
  /** Counts changes; 0 before the first. */
  revision: number
  /** The Monday for which the newest report was made. */
  reportedFor: string | null
}

/** What a rule has seen, such as a step; nothing of a person. */
export type Facts = Readonly<Record<string, string | number | null>>

/** What is wrong, or was: one for each time. */
export interface Alert {
  id: string
  rule: string
  /** With the rule it says what the alert is about; at most one of both is not resolved. */
  subject: string
  /** `pending`: seen, and not yet often enough in a row. */
  state: 'pending' | 'open' | 'resolved'
  /** For how many looks in a row it was as it now seems: there while pending, gone while open. */
  streak: number
  facts: Facts
  /** Since when it is so, as far as is known. */
  since: number
  openedAt: number | null
  resolvedAt: number | null
}

/** Whom to tell. */
export interface Webhook {
  id: string
  url: string
  /** The types that it wants; empty for all. */
  types: readonly string[]
  secret: string
  /** The secret before, which signs too until then. */
  oldSecret: string | null
  oldSecretUntil: number | null
  createdAt: number
  /** Since when nothing has arrived; null where the latest has. */
  failingSince: number | null
  disabledAt: number | null
  disabledWhy: string | null
}

/** How it goes with a webhook. */
export type WebhookState = Pick<
  Webhook,
  'id' | 'url' | 'disabledAt' | 'disabledWhy' | 'failingSince'
>

/** What may change of a webhook; what is absent stays. */
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
  /** When it is tried next; null where it is not. */
  dueAt: number | null
  attempts: number
  lastAt: number | null
  /** The status that was answered. */
  lastStatus: number | null
  /** Why nothing was. */
  lastFault: string | null
}

/** How an attempt went, as it is written down. */
export type Attempted = Pick<
  Delivery,
  'state' | 'dueAt' | 'attempts' | 'lastAt' | 'lastStatus' | 'lastFault'
>

export type DueDelivery = Delivery & {
  orgRef: OrganisationRef
  /** Null for mail. */
  target: Webhook | null
}

/** What one look has found, written all together or not at all. */
export interface Noted {
  alerts: readonly Alert[]
  deliveries: readonly Delivery[]
  /** The Monday for which a report is among them. */
  reportedFor?: string
}

/** What alerts ask of storage. */
export interface AlertStore {
  /** Organisations that have set something, or have a webhook, by their ids. */
  watched(): Promise<readonly string[]>
  settings(orgRef: OrganisationRef): Promise<StoredSettings>
  /** Whether the settings were still those of the revision; else nothing is done. */
  changeSettings(
    orgRef: OrganisationRef,
    revision: number,
    settings: AlertSettings,
    reportedFor: string | null,
    audit: AuditEntry,
  ): Promise<boolean>
  /** The oldest first. */
  webhooks(orgRef: OrganisationRef): Promise<readonly Webhook[]>
  /** False where there are so many already. */
  addWebhook(
    orgRef: OrganisationRef,
    webhook: Webhook,
    most: number,
    audit: AuditEntry,
  ): Promise<boolean>
  /**
   * Whether there is such a webhook. One that is disabled is sent nothing that waits.
   *
   * @param audit null for what Cairn does itself
   */
  changeWebhook(
    orgRef: OrganisationRef,
    id: string,
    change: WebhookChange,
    audit: AuditEntry | null,
  ): Promise<boolean>
  /** With its deliveries. Whether there was one. */
  removeWebhook(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** Those that are not resolved, and those resolved since then; the newest first. */
  alerts(orgRef: OrganisationRef, resolvedSince: number): Promise<readonly Alert[]>
  /** Writes alerts as they are now, and what is to be sent of it. A pending one that is resolved was nothing, and goes. */
  note(orgRef: OrganisationRef, noted: Noted, mostDeliveries: number): Promise<void>
  /** The newest first. */
  deliveries(
    orgRef: OrganisationRef,
    question: { webhook: string | null; most: number },
  ): Promise<readonly Delivery[]>
  delivery(orgRef: OrganisationRef, id: string): Promise<Delivery | null>
  /** The one of each target that is due first, of all organisations. */
  due(now: number, most: number): Promise<readonly DueDelivery[]>
  /** Writes down an attempt, and what it says of the webhook. */
  attempted(
    orgRef: OrganisationRef,
    id: string,
    attempted: Attempted,
    webhook: { id: string; change: WebhookChange } | null,
  ): Promise<void>
  /** Has a delivery sent once more, at once. Whether there is such a one, which is not waiting already. */
  replay(orgRef: OrganisationRef, id: string, at: number, audit: AuditEntry): Promise<boolean>
  /** Deletes deliveries made, and alerts resolved, before these moments; at most so many. */
  forget(deliveriesBefore: number, alertsBefore: number, most: number): Promise<void>
}
