import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { Count, Instant, OneOf, Text } from '../../core/shapes.ts'
import { maxGraceHours } from '../../core/time/durations.ts'
import {
  Alert as AlertRecord,
  AlertRules,
  Delivery,
  On,
  Recipient,
  Webhook,
} from '../../storage/interfaces/alerts.ts'

const Alert = Type.Object(
  {
    ...AlertRecord.properties,
    state: OneOf(['open', 'resolved'], { examples: ['open'] }),
    message: Text(
      'What is wrong.',
      'Step "create" of flow "welcome" is broken: 10 % of people find its element.',
    ),
    fix: Text(
      'How to fix it.',
      'Open the page that the step points at and choose another element.',
    ),
    page: Text(
      "The dashboard page that shows it, below the organisation's address.",
      'flows/welcome/health',
    ),
  },
  { title: 'Alert' },
)

/** A problem with a webhook. */
const Finding = Type.Object({
  code: OneOf(['webhook_disabled', 'webhook_failing'], { examples: ['webhook_disabled'] }),
  webhook: Type.String({ examples: ['webhook_4sWq9xLm2VbTn8Rk0c'] }),
  message: Text('What is wrong.', 'Nothing has arrived at hooks.example.com for five days.'),
  fix: Text('How to fix it.', 'Fix the receiver and enable the webhook, or remove it.'),
  since: Instant('When it began.'),
})
export type Finding = StaticDecode<typeof Finding>

export const AlertList = Type.Object(
  {
    isWatching: Type.Boolean({ description: 'Whether any rule is on.', examples: [true] }),
    alerts: Type.Array(Alert, {
      description: 'Open alerts, then those resolved in the last seven days. Newest first.',
    }),
    findings: Type.Array(Finding, { description: 'Problems with webhooks.' }),
  },
  { title: 'AlertList' },
)
export type AlertList = Static<typeof AlertList>

const Mail = text(3, 254, { examples: ['team@example.com'] })

const Mails = Type.Array(Mail, {
  maxItems: 10,
  description:
    'Addresses that get the weekly report and alerts once they confirm. Needs CAIRN_SMTP_URL and CAIRN_PUBLIC_URL.',
})

const MailsAlerts = Type.Boolean({
  description:
    'Whether alerts are mailed too, one mail for all that a check finds. Off by default.',
  examples: [true],
})

export const AlertSettings = Type.Object(
  {
    rules: AlertRules,
    report: Type.Object({
      on: On,
      alerts: MailsAlerts,
      mails: Mails,
      recipients: Type.Array(Recipient),
    }),
    sendsMail: Type.Boolean({
      description: 'Whether the operator has set a mail server and the address for links in mails.',
      examples: [false],
    }),
  },
  { title: 'AlertSettings' },
)
export type AlertSettings = Static<typeof AlertSettings>

const rulePatch = Type.Optional(closed({ on: On }))

export const SettingsPatch = closed({
  rules: Type.Optional(
    closed({
      stepBroken: rulePatch,
      completionFell: rulePatch,
      scoreLow: rulePatch,
      installStale: rulePatch,
      deadLetters: rulePatch,
    }),
  ),
  report: Type.Optional(
    closed({
      on: Type.Optional(On),
      alerts: Type.Optional(MailsAlerts),
      mails: Type.Optional(Mails),
    }),
  ),
})
export type SettingsPatch = Static<typeof SettingsPatch>

export const WebhookList = Type.Object({ webhooks: Type.Array(Webhook) }, { title: 'WebhookList' })
export type WebhookList = Static<typeof WebhookList>
export type WebhookJson = Static<typeof Webhook>

const Types = Type.Optional(Webhook.properties.types)

export const NewWebhook = closed({
  url: text(1, 2_048, {
    description: 'An https address in the public network.',
    examples: ['https://hooks.example.com/cairn'],
  }),
  types: Types,
})

export const WebhookPatch = closed({
  on: Type.Optional(Type.Boolean({ description: 'Whether it gets messages.', examples: [true] })),
  types: Types,
})

export const WebhookWithSecret = Type.Object(
  {
    ...Webhook.properties,
    secret: Text('Signs every message. It is returned only once.', 'whsec_…'),
  },
  { title: 'WebhookWithSecret' },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const RotateWebhook = closed({
  graceHours: Type.Integer({
    minimum: 0,
    maximum: maxGraceHours,
    description: 'How many hours the old secret also signs.',
    examples: [24],
  }),
})

export const DeliveryList = Type.Object(
  { deliveries: Type.Array(Delivery, { description: 'Newest first.' }) },
  { title: 'DeliveryList' },
)
export type DeliveryList = Static<typeof DeliveryList>
export type DeliveryJson = Static<typeof Delivery>

export const ConfirmationBody = closed({
  mail: text(3, 254, {
    description: 'An address of the weekly report that has not confirmed.',
    examples: ['team@example.com'],
  }),
})

export const ReportBody = closed({
  send: Type.Optional(
    Type.Boolean({ description: 'Whether to send it to all recipients.', examples: [false] }),
  ),
})

export const WeeklyReport = Type.Object(
  {
    text: Text('The report as plain text.', 'Harbor Inc, 9–15 November 2026 (UTC)…'),
    sentTo: Count('Number of webhooks and mail addresses that it is sent to.', 2),
  },
  { title: 'WeeklyReport' },
)
export type WeeklyReport = Static<typeof WeeklyReport>
