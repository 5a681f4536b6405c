import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { freshReply } from '../../http/encoded.ts'
import { actorOf } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { Alert, AlertStore, Delivery, Webhook } from '../../storage/interfaces/alerts.ts'
import { consentOf } from './consent.ts'
import { mailRoutes } from './mail-pages.ts'
import { keptMs } from './messages.ts'
import { reportText } from './report.ts'
import { ruleNames, settingOf } from './rules.ts'
import * as model from './schema.ts'
import type { Outside } from './sender.ts'
import { Sender } from './sender.ts'
import { Alerts, maxWebhooks } from './service.ts'
import { AlertWatch, type WatchDeps } from './watch.ts'
import { fixOf, messageOf, pageOf, webhookFinding } from './wording.ts'

const maxListed = 100

const alertTold = (alert: Alert) => ({
  id: alert.id,
  rule: alert.rule,
  subject: alert.subject,
  state: alert.state,
  message: messageOf(alert),
  fix: fixOf(alert),
  facts: alert.facts,
  page: pageOf(alert),
  since: isoTime(alert.since),
  openedAt: isoTimeOrNull(alert.openedAt),
  resolvedAt: isoTimeOrNull(alert.resolvedAt),
})

const webhookTold = ({ id, url, types, ...webhook }: Webhook) => ({
  id,
  url,
  types: [...types],
  createdAt: isoTime(webhook.createdAt),
  failingSince: isoTimeOrNull(webhook.failingSince),
  disabledAt: isoTimeOrNull(webhook.disabledAt),
  disabledWhy: webhook.disabledWhy,
  oldSecretUntil: isoTimeOrNull(webhook.oldSecretUntil),
})

const deliveryTold = (delivery: Delivery) => ({
  id: delivery.id,
  webhook: delivery.webhook,
  mail: delivery.mail,
  type: delivery.type,
  state: delivery.state,
  attempts: delivery.attempts,
  createdAt: isoTime(delivery.createdAt),
  lastAt: isoTimeOrNull(delivery.lastAt),
  nextAt: isoTimeOrNull(delivery.dueAt),
  status: delivery.lastStatus,
  fault: delivery.lastFault,
  body: delivery.body,
})

const owns = managing('settings:write')

/** What alerts need from a server, besides storage. */
export interface AlertDeps extends Omit<WatchDeps, 'publicUrl' | 'onFault'> {
  store: AlertStore
  clock: Clock
  /** The way out of the machine, as it currently is. */
  outside(): Outside
  /** Called when something has to be watched or sent that was not before. */
  onChange(): void
}

/** Routes for what an organisation wants to be alerted to, and for the webhooks that it notifies. */
export function alertRoutes(deps: AlertDeps): Route[] {
  const { store, clock } = deps
  const sender = new Sender({ ...deps, onFault: () => {} })
  const alerts = new Alerts({ ...deps, sender })
  const watch = new AlertWatch({
    ...deps,
    publicUrl: () => deps.outside().publicUrl,
    onFault: () => {},
  })
  const settingsTold = (settings: Awaited<ReturnType<Alerts['settings']>>) => ({
    ...settings,
    report: {
      on: settings.report.on,
      mails: [...settings.report.mails],
      recipients: settings.report.mails.map(mail => {
        const { state, confirmationSentAt } = consentOf(settings.report, mail)
        return { mail, state, confirmationSentAt: isoTimeOrNull(confirmationSentAt) }
      }),
    },
    sendsMail: alerts.sendsMail,
  })
  return [
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/alerts',
      operation: 'listAlerts',
      summary: 'List current and recent problems',
      responses: { 200: { description: 'As of now.', schema: model.AlertList, isShared: true } },
      async handle(call) {
        const { ref } = call.org
        const known = await store.alerts(ref, clock.now() - keptMs)
        const told = known.filter(({ openedAt }) => openedAt !== null)
        const isOpen = ({ state }: Alert) => state === 'open'
        const { rules } = await alerts.settings(ref)
        const found = (await store.webhooks(ref)).map(one => webhookFinding(one, clock.now()))
        return freshReply(call, {
          isWatching: ruleNames.some(rule => rules[settingOf[rule]].on),
          alerts: [...told.filter(isOpen), ...told.filter(alert => !isOpen(alert))].map(alertTold),
          findings: found.filter(finding => finding !== null),
        })
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/alerts/settings',
      operation: 'getAlertSettings',
      summary: 'Which rules are on, and who gets the weekly report',
      responses: { 200: { description: 'The settings.', schema: model.AlertSettings } },
      async handle(call) {
        return json(200, settingsTold(await alerts.settings(call.org.ref)))
      },
    }),
    route({
      ...owns,
      method: 'PATCH',
      path: '/manage/alerts/settings',
      operation: 'changeAlertSettings',
      summary: 'Set what is named, all or nothing; the rest stays',
      description:
        'A new mail address gets one mail with a link to confirm, and reports only after that.',
      body: model.AlertSettingsBody,
      errors: ['sent_too_often'],
      responses: { 200: { description: 'The settings after it.', schema: model.AlertSettings } },
      async handle(call) {
        const changed = await alerts.changeSettings(call.org, call.body, actorOf(call))
        return json(200, settingsTold(changed))
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/alerts/confirmations',
      operation: 'sendConfirmation',
      summary: 'Send an address of the weekly report another link to confirm',
      body: model.ConfirmationBody,
      errors: ['sent_too_often'],
      responses: { 200: { description: 'The settings after it.', schema: model.AlertSettings } },
      async handle(call) {
        const { mail } = call.body
        return json(200, settingsTold(await alerts.sendConfirmation(call.org, mail, actorOf(call))))
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/alerts/report',
      operation: 'makeReport',
      summary: 'The report of the last whole week, to look at or to send at once',
      body: model.ReportBody,
      errors: ['sent_too_often'],
      responses: { 200: { description: 'The report.', schema: model.WeeklyReport } },
      isLong: true,
      async handle(call) {
        const { signal } = call.request
        if (!call.body.send) {
          const report = await watch.report(call.org, signal)
          return json(200, { text: reportText(report), sentTo: 0 })
        }
        const settings = await alerts.settings(call.org.ref)
        const { report, noted } = await watch.reportToSend(call.org, settings, signal)
        await alerts.sendReport(call.org.ref, noted, actorOf(call))
        return json(200, { text: reportText(report), sentTo: noted.deliveries.length })
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/webhooks',
      operation: 'listWebhooks',
      summary: 'Webhooks, without their secrets',
      responses: { 200: { description: 'The oldest first.', schema: model.WebhookList } },
      async handle(call) {
        return json(200, { webhooks: (await store.webhooks(call.org.ref)).map(webhookTold) })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/webhooks',
      operation: 'createWebhook',
      summary: 'Have messages sent to an address',
      description: `Signed as [Standard Webhooks](https://www.standardwebhooks.com) says. At most ${maxWebhooks}.`,
      body: model.NewWebhook,
      errors: ['too_many_webhooks'],
      responses: {
        201: {
          description: 'The webhook; its secret is returned once.',
          schema: model.WebhookWithSecret,
        },
      },
      async handle(call) {
        const made = await alerts.addWebhook(call.org.ref, call.body, actorOf(call))
        return json(201, { ...webhookTold(made), secret: made.secret })
      },
    }),
    route({
      ...owns,
      method: 'PATCH',
      path: '/manage/webhooks/:webhook_id',
      operation: 'changeWebhook',
      summary: 'Enable or disable a webhook, or choose its event types',
      body: model.WebhookChange,
      errors: ['webhook_not_found'],
      responses: { 200: { description: 'The webhook after it.', schema: model.Webhook } },
      async handle(call) {
        const id = call.params.webhook_id ?? ''
        const changed = await alerts.changeWebhook(call.org.ref, id, call.body, actorOf(call))
        return json(200, webhookTold(changed))
      },
    }),
    route({
      ...owns,
      method: 'DELETE',
      path: '/manage/webhooks/:webhook_id',
      operation: 'removeWebhook',
      summary: 'Delete a webhook and its deliveries',
      errors: ['webhook_not_found'],
      responses: { 204: { description: 'It is gone.' } },
      async handle(call) {
        await alerts.removeWebhook(call.org.ref, call.params.webhook_id ?? '', actorOf(call))
        return { status: 204 }
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/webhooks/:webhook_id/rotate',
      operation: 'rotateWebhookSecret',
      summary: 'Make a new secret; the one before signs too for the grace time',
      body: model.RotateWebhook,
      errors: ['webhook_not_found'],
      responses: {
        200: { description: 'The webhook with its new secret.', schema: model.WebhookWithSecret },
      },
      async handle(call) {
        const { graceHours } = call.body
        const id = call.params.webhook_id ?? ''
        const made = await alerts.rotate(call.org.ref, id, graceHours, actorOf(call))
        return json(200, { ...webhookTold(made), secret: made.secret })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/webhooks/:webhook_id/test',
      operation: 'testWebhook',
      summary: 'Send a message of the type `webhook.test` now, once',
      errors: ['webhook_not_found', 'sent_too_often'],
      responses: { 200: { description: 'What came of it.', schema: model.Delivery } },
      async handle(call) {
        const id = call.params.webhook_id ?? ''
        return json(200, deliveryTold(await alerts.test(call.org, id, actorOf(call))))
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/webhooks/:webhook_id/deliveries',
      operation: 'listDeliveries',
      summary: 'What was sent in the last seven days, and what waits',
      errors: ['webhook_not_found'],
      responses: { 200: { description: `At most ${maxListed}.`, schema: model.DeliveryList } },
      async handle(call) {
        const { ref } = call.org
        const { id } = await alerts.webhook(ref, call.params.webhook_id ?? '')
        const listed = await store.deliveries(ref, { webhook: id, most: maxListed })
        return json(200, { deliveries: listed.map(deliveryTold) })
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/alerts/mails',
      operation: 'listMails',
      summary: 'Mails of the last seven days, and those that wait',
      responses: { 200: { description: `At most ${maxListed}.`, schema: model.DeliveryList } },
      async handle(call) {
        const listed = await store.deliveries(call.org.ref, { webhook: null, most: maxListed })
        return json(200, { deliveries: listed.map(deliveryTold) })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/webhooks/:webhook_id/deliveries/:delivery_id/replay',
      operation: 'replayDelivery',
      summary: 'Send a message once more, under the same id',
      errors: ['delivery_not_found', 'sent_too_often'],
      responses: { 202: { description: 'It is sent within seconds.', schema: model.Delivery } },
      async handle(call) {
        const { webhook_id = '', delivery_id = '' } = call.params
        const { ref } = call.org
        const delivery = await alerts.replay(ref, webhook_id, delivery_id, actorOf(call))
        return json(202, deliveryTold(delivery))
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/alerts/mails/:delivery_id/replay',
      operation: 'replayMail',
      summary: 'Send a mail once more',
      errors: ['delivery_not_found', 'sent_too_often'],
      responses: { 202: { description: 'It is sent within seconds.', schema: model.Delivery } },
      async handle(call) {
        const { delivery_id = '' } = call.params
        const delivery = await alerts.replay(call.org.ref, null, delivery_id, actorOf(call))
        return json(202, deliveryTold(delivery))
      },
    }),
    ...mailRoutes({ alerts, stores: deps.stores }),
  ]
}
