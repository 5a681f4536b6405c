import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { Count, Instant, InstantOrNull, OneOf, OrNull, Text } from '../../core/shapes.ts'
import { maxGraceHours } from '../../core/time/durations.ts'
import { confirmationType, messageTypes, ruleNames } from './rules.ts'

const facts = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
  description: 'What the rule saw; nothing of a person.',
  examples: [{ flow: 'welcome', step: 'create', state: 'broken', okRate: 0.1 }],
})

const Alert = Type.Object(
  {
    id: Type.String({ examples: ['alert_7xQm2LkVb9TnRw4s0c'] }),
    rule: OneOf(ruleNames, { examples: ['step.broken'] }),
    subject: Text('What it is about.', 'welcome/create'),
    state: OneOf(['open', 'resolved'], { examples: ['open'] }),
    message: Text(
      'What is wrong.',
      'The step "create" of "welcome" has lost its element: 10 % of people find it.',
    ),
    fix: Text(
      'What to do about it.',
      'Look at the page that the step points at, and choose another element.',
    ),
    facts,
    page: Text(
      "The dashboard's page that shows it, below the organisation's address.",
      'flows/welcome/health',
    ),
    since: Instant('Since when it is so, as far as is known.'),
    openedAt: Instant('When it was noticed.'),
    resolvedAt: InstantOrNull('When it was over.'),
  },
  { title: 'Alert' },
)

const Finding = Type.Object({
  code: OneOf(['webhook_disabled', 'webhook_failing'], { examples: ['webhook_disabled'] }),
  webhook: Type.String({ examples: ['webhook_4sWq9xLm2VbTn8Rk0c'] }),
  message: Text(
    'What is wrong with a webhook.',
    'Nothing has arrived at hooks.example.com for five days.',
  ),
  fix: Text(
    'What to do about it.',
    'Fix the receiver and switch the webhook on again, or remove it.',
  ),
  since: Instant('Since when.'),
})

export const AlertList = Type.Object(
  {
    isWatching: Type.Boolean({ description: 'Whether any rule is on.', examples: [true] }),
    alerts: Type.Array(Alert, {
      description:
        'Those that are open, then those that were over in the last seven days; the newest first.',
    }),
    findings: Type.Array(Finding, { description: 'What is wrong with telling others.' }),
  },
  { title: 'AlertList' },
)
export type AlertList = Static<typeof AlertList>

const on = Type.Boolean({ description: 'Off until somebody switches it on.', examples: [true] })

const ruleFields = {
  stepBroken: {
    on,
    from: OneOf(['broken', 'flaky'], {
      description: 'From which state of a step on.',
      examples: ['broken'],
    }),
  },
  completionFell: {
    on,
    points: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'By how many percentage points it has to fall, and beyond chance.',
      examples: [5],
    }),
    fewestRuns: Type.Integer({
      minimum: 5,
      maximum: 1_000_000,
      description: 'How many runs each of the two weeks must have.',
      examples: [50],
    }),
  },
  installStale: {
    on,
    hours: Type.Integer({
      minimum: 1,
      maximum: 720,
      description: 'For how many hours no page was seen.',
      examples: [24],
    }),
  },
  deadLetters: {
    on,
    fewest: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'How many events the database has refused.',
      examples: [1],
    }),
  },
}

const Mail = text(3, 254, { examples: ['team@example.com'] })

const Mails = Type.Array(Mail, {
  maxItems: 10,
  description:
    'Who gets the weekly report by mail, once they have confirmed; needs CAIRN_SMTP_URL and CAIRN_PUBLIC_URL.',
})

const Recipient = Type.Object({
  mail: Mail,
  state: OneOf(['waiting', 'confirmed', 'unsubscribed'], {
    description: 'Only `confirmed` addresses get reports.',
    examples: ['confirmed'],
  }),
  confirmationSentAt: InstantOrNull(
    'When the newest mail with a link to confirm was sent; null if none was, or after unsubscribing.',
  ),
})

export const AlertSettings = Type.Object(
  {
    rules: Type.Object({
      stepBroken: Type.Object(ruleFields.stepBroken),
      completionFell: Type.Object(ruleFields.completionFell),
      installStale: Type.Object(ruleFields.installStale),
      deadLetters: Type.Object(ruleFields.deadLetters),
    }),
    report: Type.Object({ on, mails: Mails, recipients: Type.Array(Recipient) }),
    sendsMail: Type.Boolean({
      description:
        'Whether the operator has set a mail server, and the address for links in mails.',
      examples: [false],
    }),
  },
  { title: 'AlertSettings' },
)
export type AlertSettings = Static<typeof AlertSettings>

const some = (fields: Parameters<typeof Type.Object>[0]) =>
  Type.Optional(Type.Partial(closed(fields), { additionalProperties: false }))

export const AlertSettingsBody = closed({
  rules: some({
    stepBroken: some(ruleFields.stepBroken),
    completionFell: some(ruleFields.completionFell),
    installStale: some(ruleFields.installStale),
    deadLetters: some(ruleFields.deadLetters),
  }),
  report: some({ on, mails: Mails }),
})

const Types = Type.Array(OneOf(messageTypes), {
  maxItems: messageTypes.length,
  uniqueItems: true,
  description: 'Event types that are sent. Empty for all.',
  examples: [['step.broken', 'step.recovered']],
})

const webhookFields = {
  id: Type.String({ examples: ['webhook_4sWq9xLm2VbTn8Rk0c'] }),
  url: Text('Where messages go.', 'https://hooks.example.com/cairn'),
  types: Types,
  createdAt: Instant('When it was made.'),
  failingSince: InstantOrNull('Since when nothing has arrived; null where the latest has.'),
  disabledAt: InstantOrNull('When it was switched off; null where it is on.'),
  disabledWhy: OrNull(
    OneOf(['asked', 'gone', 'failing']),
    'Disabled on request, after a 410 response, or after five days without a delivery.',
    'failing',
  ),
  oldSecretUntil: InstantOrNull('Until when the secret before signs too; null without one.'),
}

export const Webhook = Type.Object(webhookFields, { title: 'Webhook' })
export type Webhook = Static<typeof Webhook>

export const WebhookList = Type.Object({ webhooks: Type.Array(Webhook) }, { title: 'WebhookList' })
export type WebhookList = Static<typeof WebhookList>

export const NewWebhook = closed({
  url: text(1, 2_048, {
    description: 'An https address in the public network.',
    examples: ['https://hooks.example.com/cairn'],
  }),
  types: Type.Optional(Types),
})

export const WebhookChange = closed({ on: Type.Optional(on), types: Type.Optional(Types) })

export const WebhookWithSecret = Type.Object(
  { ...webhookFields, secret: Text('Signs every message; returned once.', 'whsec_…') },
  { title: 'WebhookWithSecret' },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const RotateWebhook = closed({
  graceHours: Type.Integer({
    minimum: 0,
    maximum: maxGraceHours,
    description: 'For how long the secret before signs too.',
    examples: [24],
  }),
})

export const Delivery = Type.Object(
  {
    id: Text(
      "The message's id, `webhook-id`: the same however often it is sent.",
      'msg_7xQm2LkVb9TnRw4s0c',
    ),
    webhook: OrNull(Type.String(), 'Whom it is for; null for mail.', 'webhook_4sWq9xLm2VbTn8Rk0c'),
    mail: OrNull(Type.String(), 'The address that it goes to; null for a webhook.', null),
    type: OneOf([...messageTypes, 'webhook.test', confirmationType], { examples: ['step.broken'] }),
    state: OneOf(['pending', 'delivered', 'failed'], { examples: ['delivered'] }),
    attempts: Count('How often it was tried.', 1),
    createdAt: Instant('When it was made.'),
    lastAt: InstantOrNull('When it was tried last.'),
    nextAt: InstantOrNull('When it is tried next; null where it is not.'),
    status: OrNull(Type.Integer(), 'The status that was answered last; null where none was.', 204),
    fault: OrNull(Type.String(), 'Why there was no answer.', 'The connection was refused'),
    body: Text('What was sent, as it was signed.', '{"type":"step.broken",…}'),
  },
  { title: 'Delivery' },
)
export type Delivery = Static<typeof Delivery>

export const DeliveryList = Type.Object(
  { deliveries: Type.Array(Delivery, { description: 'The newest first.' }) },
  { title: 'DeliveryList' },
)
export type DeliveryList = Static<typeof DeliveryList>

export const ConfirmationBody = closed({
  mail: text(3, 254, {
    description: 'An address of the weekly report that has not confirmed.',
    examples: ['team@example.com'],
  }),
})

export const ReportBody = closed({
  send: Type.Optional(
    Type.Boolean({ description: 'Whether it is sent, to all who get it.', examples: [false] }),
  ),
})

export const WeeklyReport = Type.Object(
  {
    text: Text('The report as plain text.', 'Harbor Inc, 2026-11-09 to 2026-11-15 (UTC)…'),
    sentTo: Count('To how many webhooks and mail addresses it goes.', 2),
  },
  { title: 'WeeklyReport' },
)
export type WeeklyReport = Static<typeof WeeklyReport>
