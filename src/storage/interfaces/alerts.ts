import { type StaticDecode, Type } from '@sinclair/typebox'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Count, Instant, InstantOrNull, OneOf, OrNull, Text } from '../../core/shapes.ts'

/** The rules, named by the type of the message that is sent when an alert opens, in the order of display. */
export const ruleNames = [
  'step.broken',
  'completion.fell',
  'score.low',
  'install.stale',
  'dead_letters.found',
] as const
export type RuleName = (typeof ruleNames)[number]

/** All message types that a webhook can subscribe to. */
export const messageTypes = [
  ...ruleNames,
  'step.recovered',
  'completion.recovered',
  'score.recovered',
  'install.recovered',
  'dead_letters.cleared',
  'report.weekly',
] as const

const deliveryTypes = [...messageTypes, 'webhook.test', 'report.confirm', 'alerts.news'] as const
export type MessageType = (typeof deliveryTypes)[number]

export const On = Type.Boolean({ description: 'Off by default.', examples: [true] })

const Rule = Type.Object({ on: On })

/** Which rules are on. */
export const AlertRules = Type.Object({
  stepBroken: Rule,
  completionFell: Rule,
  scoreLow: Rule,
  installStale: Rule,
  deadLetters: Rule,
})

/** An address of the weekly report and of alerts. Its state becomes `confirmed` only through the link in a mail to it. */
export const Recipient = Type.Object({
  mail: Type.String({ examples: ['team@example.com'] }),
  state: OneOf(['waiting', 'confirmed'], {
    description: 'Only `confirmed` addresses get mail.',
    examples: ['confirmed'],
  }),
  confirmationSentAt: InstantOrNull(
    'When the newest link to confirm was sent. Only that link works. Null if none was sent.',
  ),
})
export type Recipient = StaticDecode<typeof Recipient>

/** What an organisation wants to be alerted to. */
export interface AlertSettings {
  rules: StaticDecode<typeof AlertRules>
  report: {
    on: boolean
    /** Whether alerts are mailed to its addresses too. Not there in settings of before there was a choice. */
    alerts?: boolean
    recipients: readonly Recipient[]
  }
}

export interface StoredSettings {
  /** Null before the first change. */
  settings: AlertSettings | null
  /** The Monday of the newest weekly report. */
  reportedFor: string | null
}

export interface SettingsChange {
  settings: AlertSettings
  reportedFor: string | null
  deliveries: readonly Delivery[]
  audit: AuditEntry
}

const Facts = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
  description: 'What the rule found. Contains no personal data.',
  examples: [{ flow: 'welcome', step: 'create', state: 'broken', okRate: 0.1 }],
})
export type Facts = StaticDecode<typeof Facts>

/** A problem from when it was found until it was resolved. */
export const Alert = Type.Object({
  id: Type.String({ examples: ['alert_7xQm2LkVb9TnRw4s0c'] }),
  rule: OneOf(ruleNames, { examples: ['step.broken'] }),
  subject: Text('What it is about. A rule has at most one open alert for it.', 'welcome/create'),
  facts: Facts,
  since: Instant('When the problem began, as far as Cairn can tell.'),
  openedAt: Instant('When Cairn found it.'),
  resolvedAt: InstantOrNull('When it was resolved. Null while it is open.'),
})
export type Alert = StaticDecode<typeof Alert>

/** An address that messages are posted to, without its secrets. */
export const Webhook = Type.Object(
  {
    id: Type.String({ examples: ['webhook_4sWq9xLm2VbTn8Rk0c'] }),
    url: Text('Where messages go.', 'https://hooks.example.com/cairn'),
    types: Type.Array(OneOf(messageTypes), {
      maxItems: messageTypes.length,
      uniqueItems: true,
      description: 'Message types that are sent. Empty for all.',
      examples: [['step.broken', 'step.recovered']],
    }),
    createdAt: Instant('When it was created.'),
    failingSince: InstantOrNull(
      'Since when nothing has arrived. Null if the latest message arrived.',
    ),
    disabledAt: InstantOrNull('When it was disabled. Null while it is enabled.'),
    disabledWhy: OrNull(
      OneOf(['asked', 'gone', 'failing']),
      'Disabled on request, after a 410 response, or after five days without a delivery.',
      'failing',
    ),
    oldSecretUntil: InstantOrNull(
      'Until when the previous secret also signs. Null if there is none.',
    ),
  },
  { title: 'Webhook' },
)
export type Webhook = StaticDecode<typeof Webhook>

export type WebhookChange = Partial<
  Pick<Webhook, 'types' | 'failingSince' | 'disabledAt' | 'disabledWhy'>
>

/** What messages of a webhook are signed with. The API never reads it back. */
export interface WebhookSecrets {
  secret: string
  oldSecret: string | null
  oldSecretUntil: number | null
}

/** A message to one webhook or one mail address. */
export const Delivery = Type.Object(
  {
    id: Text(
      "The message's id, sent as `webhook-id`. It stays the same on every attempt.",
      'msg_7xQm2LkVb9TnRw4s0c',
    ),
    webhook: OrNull(
      Type.String(),
      'The webhook it is for. Null for mail.',
      'webhook_4sWq9xLm2VbTn8Rk0c',
    ),
    mail: OrNull(Type.String(), 'The address it is for. Null for a webhook.', null),
    type: OneOf(deliveryTypes, { examples: ['step.broken'] }),
    state: OneOf(['pending', 'delivered', 'failed'], { examples: ['delivered'] }),
    attempts: Count('Number of attempts.', 1),
    createdAt: Instant('When the message was created.'),
    lastAt: InstantOrNull('When the last attempt was made.'),
    nextAt: InstantOrNull('When the next attempt is due. Null if there will be none.'),
    status: OrNull(
      Type.Integer(),
      'HTTP status of the last response. Null if there was none.',
      204,
    ),
    fault: OrNull(
      Type.String(),
      'Why the last attempt got no response.',
      'The connection was refused',
    ),
    body: Text('The message as it was signed.', '{"type":"step.broken",…}'),
  },
  { title: 'Delivery' },
)
export type Delivery = StaticDecode<typeof Delivery>

/** How an attempt went. */
export type Attempted = Pick<
  Delivery,
  'state' | 'nextAt' | 'attempts' | 'lastAt' | 'status' | 'fault'
>

/** A delivery with all that is needed to send it. */
export type OutgoingDelivery = Delivery & {
  orgRef: OrganisationRef
  /** `org_…`. */
  organisation: string
  /** Null for mail. */
  target: (Pick<Webhook, 'id' | 'url' | 'failingSince'> & WebhookSecrets) | null
}

/** What one check found. All of it is stored, or none. */
export interface AlertChanges {
  opened: readonly Alert[]
  resolved: readonly Pick<Alert, 'id' | 'resolvedAt'>[]
  deliveries: readonly Delivery[]
  /** The Monday of the report among the deliveries. */
  reportedFor?: string
}

/** A message that somebody sends on demand. */
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
  /** For callers that exceed it, such as "5 confirmations a day to one address". */
  description: string
}

/** What alerts need from storage. */
export interface AlertStore {
  /** The ids of organisations that have settings or a webhook. */
  watched(): Promise<readonly string[]>
  settings(orgRef: OrganisationRef): Promise<StoredSettings>
  /** Replaces the settings by what `change` makes of them, within one transaction. */
  changeSettings(
    orgRef: OrganisationRef,
    change: (stored: StoredSettings) => SettingsChange,
    maxDeliveries: number,
  ): Promise<void>
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
  /** Oldest first. */
  webhooks(orgRef: OrganisationRef): Promise<Webhook[]>
  /** False if there are that many already. */
  addWebhook(
    orgRef: OrganisationRef,
    webhook: Webhook,
    secret: string,
    max: number,
    audit: AuditEntry,
  ): Promise<boolean>
  /** Null if there is no such webhook. Disabling it cancels its pending deliveries. */
  changeWebhook(
    orgRef: OrganisationRef,
    id: string,
    change: WebhookChange,
    audit: AuditEntry,
  ): Promise<Webhook | null>
  /**
   * Replaces the secret. Null if there is no such webhook.
   *
   * @param oldSecretUntil until when the previous secret also signs; null if it stops at once
   */
  rotateWebhook(
    orgRef: OrganisationRef,
    id: string,
    secret: string,
    oldSecretUntil: number | null,
    audit: AuditEntry,
  ): Promise<Webhook | null>
  /** Deletes it with its deliveries. False if there is no such webhook. */
  removeWebhook(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** Open alerts and those resolved since then, newest first. */
  alerts(orgRef: OrganisationRef, resolvedSince: number): Promise<Alert[]>
  record(orgRef: OrganisationRef, changes: AlertChanges, maxDeliveries: number): Promise<void>
  /** Newest first. `webhook` is null for mails. */
  deliveries(
    orgRef: OrganisationRef,
    query: { webhook: string | null; max: number },
  ): Promise<Delivery[]>
  delivery(orgRef: OrganisationRef, id: string): Promise<Delivery | null>
  outgoing(orgRef: OrganisationRef, id: string): Promise<OutgoingDelivery | null>
  /** For each target of any organisation, the delivery that is due first. */
  due(now: number, max: number): Promise<readonly OutgoingDelivery[]>
  /** Stores an attempt, and what it changes about the webhook. */
  attempted(
    orgRef: OrganisationRef,
    id: string,
    attempted: Attempted,
    webhook: { id: string; change: WebhookChange } | null,
  ): Promise<void>
  /** Queues a delivery again. False if it does not exist or is pending. */
  replay(orgRef: OrganisationRef, id: string, at: number, audit: AuditEntry): Promise<boolean>
  /** Deletes deliveries and counted sends, and resolved alerts, before these times; at most `max` of each. */
  forget(deliveriesBefore: number, alertsBefore: number, max: number): Promise<void>
}
