import { hourMs } from '../../core/time/durations.ts'
import { auditOf, management } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import {
  type AlertSettings as AlertSettingsRecord,
  Delivery,
  Webhook,
} from '../../storage/interfaces/alerts.ts'
import type { AnalyticsStores } from '../../storage/interfaces/analytics.ts'
import { analyticsService } from '../analytics/service.ts'
import { mailRoutes } from './mail-routes.ts'
import { deliveriesKeptMs } from './messages.ts'
import { type ReportDeps, reportText, weeklyReport } from './report.ts'
import { rules } from './rules.ts'
import {
  AlertList,
  AlertSettings,
  ConfirmationBody,
  DeliveryList,
  type Finding,
  NewWebhook,
  ReportBody,
  RotateWebhook,
  SettingsPatch,
  WebhookList,
  WebhookPatch,
  WebhookWithSecret,
  WeeklyReport,
} from './schema.ts'
import {
  type AlertDeps,
  changeSettings,
  reportToSend,
  sendConfirmation,
  sendReport,
  settingsOf,
} from './service.ts'
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  maxWebhooks,
  removeWebhook,
  replayDelivery,
  rotateWebhook,
  testWebhook,
} from './webhooks.ts'

const maxListed = 100

/** A receiver may just be restarting. */
const failingForMs = hourMs

/** What is wrong with a webhook, and how to fix it. Null if nothing is. */
function findingOf(
  { id, url, disabledAt, disabledWhy, failingSince }: Webhook,
  now: number,
): Finding | null {
  const { host } = new URL(url)
  if (disabledAt !== null && disabledWhy !== 'asked') {
    const message =
      disabledWhy === 'gone'
        ? `The webhook at ${host} was disabled: it responded 410 Gone.`
        : `The webhook at ${host} was disabled: nothing arrived for five days.`
    const fix = 'Fix the receiver and enable the webhook, or remove it.'
    return { code: 'webhook_disabled', webhook: id, message, fix, since: disabledAt }
  }
  if (failingSince === null || now - failingSince < failingForMs) return null
  const message = `Messages do not arrive at the webhook at ${host}. It is disabled after five days.`
  const fix = "Check the receiver's responses in the list of deliveries."
  return { code: 'webhook_failing', webhook: id, message, fix, since: failingSince }
}

const reader = management('analytics:read')
const owner = management('settings:write')

const webhookIn = ({ params }: RequestContext) => params.webhook_id ?? ''

type Deps = AlertDeps &
  Omit<ReportDeps, 'analytics'> & { stores: ReportDeps['stores'] & AnalyticsStores }

/** Routes for alerts, for what an organisation is alerted to, and for its webhooks. */
export function alertRoutes(routeDeps: Deps): Route[] {
  const deps = { ...routeDeps, analytics: analyticsService(routeDeps) }
  const { store, clock } = deps
  const described = ({
    rules,
    report: { on, alerts = false, recipients },
  }: AlertSettingsRecord) => ({
    rules,
    report: {
      ...{ on, alerts },
      mails: recipients.map(({ mail }) => mail),
      recipients: [...recipients],
    },
    sendsMail: deps.outside().mail !== null,
  })
  return [
    reader.get(
      '/manage/alerts',
      'listAlerts',
      'List open and recent alerts',
      { returns: AlertList },
      async ({ org: { ref } }) => {
        const settings = await settingsOf(store, ref)
        const alerts = await store.alerts(ref, clock.now() - deliveriesKeptMs)
        const isOpen = ({ resolvedAt }: (typeof alerts)[number]) => resolvedAt === null
        const ordered = [...alerts.filter(isOpen), ...alerts.filter(alert => !isOpen(alert))]
        const findings = (await store.webhooks(ref)).map(one => findingOf(one, clock.now()))
        return {
          isWatching: Object.values(settings.rules).some(({ on }) => on),
          alerts: ordered.map(alert => ({
            ...alert,
            state: isOpen(alert) ? ('open' as const) : ('resolved' as const),
            message: rules[alert.rule].message(alert.facts),
            fix: rules[alert.rule].fix(alert.facts),
            page: rules[alert.rule].page(alert.facts),
          })),
          findings: findings.filter(finding => finding !== null),
        }
      },
    ),
    owner.get(
      '/manage/alerts/settings',
      'getAlertSettings',
      'Get alert rules and recipients of the weekly report',
      { returns: AlertSettings },
      async ({ org }) => described(await settingsOf(store, org.ref)),
    ),
    owner.patch(
      '/manage/alerts/settings',
      'changeAlertSettings',
      'Change alert rules and recipients of the weekly report',
      {
        description:
          'Fields that are not sent stay as they are. A new mail address gets one mail with a link to confirm, and reports only after that.',
        body: SettingsPatch,
        returns: AlertSettings,
        errors: ['sent_too_often'],
      },
      async call => described(await changeSettings(deps, call.org, call.body, auditOf(call))),
    ),
    owner.post(
      '/manage/alerts/confirmations',
      'sendConfirmation',
      'Send an address of the weekly report another link to confirm',
      {
        body: ConfirmationBody,
        returns: AlertSettings,
        status: 200,
        errors: ['sent_too_often'],
      },
      async call =>
        described(await sendConfirmation(deps, call.org, call.body.mail, auditOf(call))),
    ),
    owner.post(
      '/manage/alerts/report',
      'makeReport',
      'Get the report of the last full week, or send it',
      {
        body: ReportBody,
        returns: WeeklyReport,
        status: 200,
        errors: ['sent_too_often'],
        isLong: true,
      },
      async call => {
        const { org, request } = call
        if (!call.body.send) {
          const report = await weeklyReport(deps, org, request.signal)
          return { text: reportText(report), sentTo: 0 }
        }
        const settings = await settingsOf(store, org.ref)
        const { report, changes } = await reportToSend(deps, org, settings, request.signal)
        await sendReport(deps, org.ref, changes, auditOf(call))
        return { text: reportText(report), sentTo: changes.deliveries.length }
      },
    ),
    owner.get(
      '/manage/alerts/mails',
      'listMails',
      'List mails of the last seven days',
      { returns: DeliveryList, response: `At most ${maxListed}.` },
      async ({ org }) => ({
        deliveries: await store.deliveries(org.ref, { webhook: null, max: maxListed }),
      }),
    ),
    owner.get(
      '/manage/webhooks',
      'listWebhooks',
      'List webhooks, oldest first',
      { returns: WebhookList },
      async ({ org }) => ({ webhooks: await store.webhooks(org.ref) }),
    ),
    owner.post(
      '/manage/webhooks',
      'createWebhook',
      'Create a webhook',
      {
        description: `Messages are signed according to [Standard Webhooks](https://www.standardwebhooks.com). At most ${maxWebhooks} webhooks.`,
        body: NewWebhook,
        returns: WebhookWithSecret,
        response: 'The webhook. Its secret is returned only once.',
        errors: ['too_many_webhooks'],
      },
      call => createWebhook(deps, call.org.ref, call.body, auditOf(call)),
    ),
    owner.patch(
      '/manage/webhooks/:webhook_id',
      'changeWebhook',
      'Enable or disable a webhook, or choose its message types',
      { body: WebhookPatch, returns: Webhook, errors: ['webhook_not_found'] },
      call => changeWebhook(deps, call.org.ref, webhookIn(call), call.body, auditOf(call)),
    ),
    owner.remove(
      '/manage/webhooks/:webhook_id',
      'removeWebhook',
      'Delete a webhook and its deliveries',
      { errors: ['webhook_not_found'], response: 'Webhook deleted.' },
      call => removeWebhook(store, call.org.ref, webhookIn(call), auditOf(call)),
    ),
    owner.post(
      '/manage/webhooks/:webhook_id/rotate',
      'rotateWebhookSecret',
      'Replace the secret of a webhook',
      {
        body: RotateWebhook,
        returns: WebhookWithSecret,
        status: 200,
        response: 'The webhook with its new secret, which is returned only once.',
        errors: ['webhook_not_found'],
      },
      call => {
        const { graceHours } = call.body
        return rotateWebhook(store, call.org.ref, webhookIn(call), graceHours, auditOf(call))
      },
    ),
    owner.post(
      '/manage/webhooks/:webhook_id/test',
      'testWebhook',
      'Send a test message to a webhook now, once',
      {
        returns: Delivery,
        status: 200,
        response: 'The delivery after the attempt.',
        errors: ['webhook_not_found', 'sent_too_often'],
      },
      call => testWebhook(deps, call.org, webhookIn(call), auditOf(call)),
    ),
    owner.get(
      '/manage/webhooks/:webhook_id/deliveries',
      'listDeliveries',
      'List messages to a webhook in the last seven days',
      {
        returns: DeliveryList,
        response: `At most ${maxListed}.`,
        errors: ['webhook_not_found'],
      },
      async call => {
        const { id } = await findWebhook(store, call.org.ref, webhookIn(call))
        const query = { webhook: id, max: maxListed }
        return { deliveries: await store.deliveries(call.org.ref, query) }
      },
    ),
    owner.post(
      '/manage/webhooks/:webhook_id/deliveries/:delivery_id/replay',
      'replayDelivery',
      'Send a message to a webhook again, under its id',
      {
        returns: Delivery,
        status: 202,
        response: 'Queued. It is sent within seconds.',
        errors: ['delivery_not_found', 'sent_too_often'],
      },
      call => {
        const { delivery_id = '' } = call.params
        return replayDelivery(deps, call.org.ref, webhookIn(call), delivery_id, auditOf(call))
      },
    ),
    ...mailRoutes(deps),
  ]
}
