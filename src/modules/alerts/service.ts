import { AppError, invalid, type Problem } from '../../core/errors.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Clock } from '../../core/time/clock.ts'
import { hourMs, minuteMs } from '../../core/time/durations.ts'
import type {
  AlertRules,
  AlertSettings,
  AlertStore,
  Delivery,
  Noted,
  ReportSettings,
  Webhook,
} from '../../storage/interfaces/alerts.ts'
import {
  confirmedMails,
  consentOf,
  type Linked,
  linkedTo,
  type MailAction,
  withConsent,
} from './consent.ts'
import { maxDeliveries, newDelivery } from './messages.ts'
import { reportWeeks, zoneOf } from './report.ts'
import { confirmationType, defaultSettings, type MessageType } from './rules.ts'
import { requestedSend, sendBounds, waitOf } from './send-bounds.ts'
import type { Outside, Sender } from './sender.ts'
import { newWebhookSecret } from './standard-webhooks.ts'
import { addressOf, bodyOf } from './wording.ts'

/** What to change about the settings; absent fields stay as they are. */
export interface SettingsPatch {
  rules?: { [Name in keyof AlertRules]?: Partial<AlertRules[Name]> }
  report?: { on?: boolean; mails?: readonly string[] }
}

/** What a caller asks for in a new webhook. */
export interface RequestedWebhook {
  url: string
  types?: readonly MessageType[]
}

export const maxWebhooks = 10

/** How many times a change is retried because somebody else changed the settings first. */
const maxTries = 5
/** If the server ends during a test, the message is sent again after this time. */
const testAgainMs = minuteMs

const noWebhook = () => new AppError('webhook_not_found', 'There is no such webhook')

/** What an organisation wants to be alerted to, and the webhooks that it notifies. */
export class Alerts {
  constructor(
    private readonly deps: {
      store: AlertStore
      clock: Clock
      sender: Pick<Sender, 'attempt'>
      outside(): Outside
      /** Called when something has to be watched or sent that was not before. */
      onChange(): void
    },
  ) {}

  async settings(orgRef: OrganisationRef): Promise<AlertSettings> {
    return (await this.deps.store.settings(orgRef)).settings ?? defaultSettings
  }

  /**
   * Changes the named settings, all or nothing. New mail addresses are asked to confirm.
   *
   * @throws AppError `validation_failed`, `sent_too_often`
   */
  async changeSettings(
    organisation: Organisation,
    patch: SettingsPatch,
    actor: Actor,
  ): Promise<AlertSettings> {
    this.requireSettings(patch)
    const before = await this.settings(organisation.ref)
    const added = patch.report?.mails?.filter(mail => !before.report.mails.includes(mail)) ?? []
    const confirmations = this.sendsMail ? this.confirmations(organisation, added) : []
    await this.countSends(organisation.ref, confirmations, null)
    return this.revise(organisation, 'alerts.change', actor, confirmations, settings =>
      patched(settings, patch),
    )
  }

  /**
   * Mails an address of the report again, to ask whether it wants reports.
   *
   * @throws AppError `validation_failed`, `sent_too_often`
   */
  async sendConfirmation(
    organisation: Organisation,
    mail: string,
    actor: Actor,
  ): Promise<AlertSettings> {
    const { report } = await this.settings(organisation.ref)
    if (!report.mails.includes(mail) || consentOf(report, mail).state === 'confirmed') {
      const message = 'Must be an address of the weekly report that has not confirmed'
      throw invalid({ path: '/mail', message })
    }
    if (!this.sendsMail) {
      const message =
        'Needs a mail server: the operator sets CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL'
      throw invalid({ path: '/mail', message })
    }
    const confirmations = this.confirmations(organisation, [mail])
    await this.countSends(organisation.ref, confirmations, null)
    return this.revise(organisation, 'alerts.ask', actor, confirmations, settings => settings)
  }

  /** Whether the operator has set all that mails need. */
  get sendsMail(): boolean {
    return this.deps.outside().mail !== null
  }

  private confirmations({ slug, name }: Organisation, mails: readonly string[]): Delivery[] {
    const now = this.deps.clock.now()
    const body = bodyOf(confirmationType, now, { organisation: { slug, name } })
    return [...new Set(mails)].map(mail =>
      newDelivery({ webhook: null, mail }, { type: confirmationType, body }, now),
    )
  }

  /** What a link in a mail is for; null if it is for nothing, or no longer. */
  async linked(
    { id, ref }: Organisation,
    action: MailAction,
    token: string,
  ): Promise<Linked | null> {
    const { clock, outside } = this.deps
    const { report } = await this.settings(ref)
    const parts = { serverKey: outside().serverKey(), organisation: id, action }
    return linkedTo(report, parts, token, clock.now())
  }

  /** Does what the reader of a mail wants by its link. @returns as `linked`, after it */
  async follow(
    organisation: Organisation,
    action: MailAction,
    token: string,
    requestId: string,
  ): Promise<Linked | null> {
    const linked = await this.linked(organisation, action, token)
    if (linked === null) return null
    const { mail, consent } = linked
    const changed =
      action === 'confirm'
        ? { ...consent, state: 'confirmed' as const }
        : { state: 'unsubscribed' as const, confirmationSentAt: null }
    if (consent.state === changed.state) return linked
    const actor: Actor = { via: 'mail', name: 'recipient', requestId }
    await this.revise(organisation, `alerts.${action}`, actor, [], settings =>
      settings.report.mails.includes(mail) ? withConsent(settings, [mail], changed) : settings,
    )
    return { mail, consent: changed }
  }

  /**
   * Changes the settings over what is stored, with an audit line.
   *
   * @param confirmations sent with it
   */
  private async revise(
    organisation: Organisation,
    action: string,
    actor: Actor,
    confirmations: readonly Delivery[],
    change: (settings: AlertSettings) => AlertSettings,
  ): Promise<AlertSettings> {
    const { store, clock, onChange } = this.deps
    const { ref } = organisation
    for (let tries = 1; tries <= maxTries; tries++) {
      const { settings, revision, reportedFor } = await store.settings(ref)
      const before = settings ?? defaultSettings
      const now = clock.now()
      const requested = confirmations.map(({ mail }) => mail!)
      const after = withConsent(change(before), requested, {
        state: 'waiting',
        confirmationSentAt: now,
      })
      // If reports are switched on in the middle of a week, they begin with the next Monday.
      const isBegun = after.report.on && !before.report.on
      const changed = {
        settings: after,
        reportedFor: isBegun ? reportWeeks(now, zoneOf(organisation)).monday : reportedFor,
        deliveries: confirmations,
      }
      const audit = this.audit(action, 'alerts', actor, shown(before), shown(after))
      if (await store.changeSettings(ref, revision, changed, maxDeliveries, audit)) {
        onChange()
        return after
      }
    }
    throw new AppError('overloaded', 'Others are changing these settings too; try again', {
      retryAfterSeconds: 1,
    })
  }

  /** Counts messages that are sent on demand. @throws AppError `sent_too_often` */
  private async countSends(
    orgRef: OrganisationRef,
    deliveries: readonly Delivery[],
    audit: AuditEntry | null,
  ): Promise<void> {
    if (deliveries.length === 0) return
    const { store, clock } = this.deps
    const now = clock.now()
    const sends = deliveries.map(requestedSend)
    const exceeded = await store.countSends(orgRef, sends, sendBounds, now, audit)
    if (exceeded === null) return
    const { bound, address, until } = exceeded
    const about = address === null ? '' : `${address}: `
    const waitMs = until - now
    throw new AppError(
      'sent_too_often',
      `${about}${bound.message}; try again in ${waitOf(waitMs)}`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) },
    )
  }

  /** Sends the weekly report on demand. @throws AppError `sent_too_often` */
  async sendReport(orgRef: OrganisationRef, noted: Noted, actor: Actor): Promise<void> {
    const { deliveries } = noted
    const audit = this.audit('alerts.send', 'alerts', actor, null, { sentTo: deliveries.length })
    await this.countSends(orgRef, deliveries, audit)
    await this.deps.store.note(orgRef, noted, maxDeliveries)
    this.deps.onChange()
  }

  private requireSettings({ report }: SettingsPatch): void {
    const problems: Problem[] = []
    for (const [i, mail] of (report?.mails ?? []).entries()) {
      if (/^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/.test(mail)) continue
      problems.push({ path: `/report/mails/${i}`, message: 'Must be a mail address' })
    }
    if (problems.length > 0) throw invalid(...problems)
  }

  /**
   * Makes a webhook. Only this and a rotation return its secret.
   *
   * @throws AppError `validation_failed`, `too_many_webhooks`
   */
  async addWebhook(
    orgRef: OrganisationRef,
    { url, types = [] }: RequestedWebhook,
    actor: Actor,
  ): Promise<Webhook> {
    const { store, clock, onChange } = this.deps
    this.requireUrl(url)
    const webhook: Webhook = {
      ...{ id: newId('webhook'), url: new URL(url).href, types, secret: newWebhookSecret() },
      ...{ oldSecret: null, oldSecretUntil: null, createdAt: clock.now() },
      ...{ failingSince: null, disabledAt: null, disabledWhy: null },
    }
    const after = { url: hostOf(url), types }
    const audit = this.audit('webhook.create', webhook.id, actor, null, after)
    if (!(await store.addWebhook(orgRef, webhook, maxWebhooks, audit))) {
      throw new AppError(
        'too_many_webhooks',
        `There are ${maxWebhooks} webhooks already: remove one first`,
      )
    }
    onChange()
    return webhook
  }

  private requireUrl(url: string): void {
    const problem = this.deps.outside().faultOf(url)
    if (problem !== null) throw invalid({ path: '/url', message: problem })
  }

  /** @throws AppError `webhook_not_found` */
  async webhook(orgRef: OrganisationRef, id: string): Promise<Webhook> {
    const found = (await this.deps.store.webhooks(orgRef)).find(webhook => webhook.id === id)
    if (found === undefined) throw noWebhook()
    return found
  }

  /** Chooses the message types of a webhook, or switches it on or off. @throws AppError `webhook_not_found` */
  async changeWebhook(
    orgRef: OrganisationRef,
    id: string,
    { on, types }: { on?: boolean; types?: readonly MessageType[] },
    actor: Actor,
  ): Promise<Webhook> {
    const { store, clock, onChange } = this.deps
    const before = await this.webhook(orgRef, id)
    const change = {
      ...(types && { types }),
      ...(on === true && { disabledAt: null, disabledWhy: null, failingSince: null }),
      ...(on === false &&
        before.disabledAt === null && { disabledAt: clock.now(), disabledWhy: 'asked' }),
    }
    const after = { ...(on !== undefined && { on }), ...(types && { types }) }
    const was = { on: before.disabledAt === null, types: before.types }
    const audit = this.audit('webhook.change', id, actor, was, after)
    if (!(await store.changeWebhook(orgRef, id, change, audit))) throw noWebhook()
    onChange()
    return { ...before, ...change }
  }

  /** Makes a new secret. The old one signs too for the grace time. @throws AppError `webhook_not_found` */
  async rotate(
    orgRef: OrganisationRef,
    id: string,
    graceHours: number,
    actor: Actor,
  ): Promise<Webhook> {
    const { store, clock } = this.deps
    const before = await this.webhook(orgRef, id)
    const until = clock.now() + graceHours * hourMs
    const change = {
      secret: newWebhookSecret(),
      oldSecret: graceHours === 0 ? null : before.secret,
      oldSecretUntil: graceHours === 0 ? null : until,
    }
    const audit = this.audit('webhook.rotate', id, actor, null, { graceHours })
    if (!(await store.changeWebhook(orgRef, id, change, audit))) throw noWebhook()
    return { ...before, ...change }
  }

  /** @throws AppError `webhook_not_found` */
  async removeWebhook(orgRef: OrganisationRef, id: string, actor: Actor): Promise<void> {
    const audit = this.audit('webhook.remove', id, actor, null, null)
    if (!(await this.deps.store.removeWebhook(orgRef, id, audit))) throw noWebhook()
  }

  /**
   * Sends a test message to a webhook now, and returns how it went.
   *
   * @throws AppError `webhook_not_found`, `sent_too_often`
   */
  async test({ id: organisation, ref, slug }: Organisation, id: string, actor: Actor) {
    const { store, clock, sender, outside } = this.deps
    const webhook = await this.webhook(ref, id)
    const now = clock.now()
    const url = addressOf(outside().publicUrl, slug, 'settings/alerts')
    const message = 'This is a test message to check delivery. Nothing is wrong.'
    const body = bodyOf('webhook.test', now, { organisation: slug, message, url })
    const made = newDelivery({ webhook: id, mail: null }, { type: 'webhook.test', body }, now)
    await this.countSends(ref, [made], this.audit('webhook.test', id, actor, null, null))
    // Stored first, as all messages are, but not due at once: otherwise the watch would send it too.
    const delivery = { ...made, dueAt: now + testAgainMs }
    await store.note(ref, { alerts: [], deliveries: [delivery] }, maxDeliveries)
    const sent = { ...delivery, orgRef: ref, organisation, target: webhook }
    return { ...delivery, ...(await sender.attempt(sent)) }
  }

  /**
   * Has a message sent once more.
   *
   * @param webhookId null for a mail
   * @throws AppError `delivery_not_found`, `sent_too_often`
   */
  async replay(
    orgRef: OrganisationRef,
    webhookId: string | null,
    id: string,
    actor: Actor,
  ): Promise<Delivery> {
    const { store, clock, onChange } = this.deps
    const delivery = await store.delivery(orgRef, id)
    if (delivery === null || delivery.webhook !== webhookId) {
      throw new AppError(
        'delivery_not_found',
        'There is no such delivery, or it is over a week old',
      )
    }
    const [action, subject] =
      webhookId === null ? ['alerts.replay', 'alerts'] : ['webhook.replay', webhookId]
    const audit = this.audit(action, subject, actor, null, { delivery: id })
    await this.countSends(orgRef, [delivery], null)
    await store.replay(orgRef, id, clock.now(), audit)
    onChange()
    return (await store.delivery(orgRef, id)) ?? delivery
  }

  private audit(
    action: string,
    subject: string,
    actor: Actor,
    before: AuditEntry['before'],
    after: AuditEntry['after'],
  ): AuditEntry {
    return { at: this.deps.clock.now(), actor, action, subject, before, after, note: null }
  }
}

/** The path of an address can contain a token, so the audit log gets the host alone. */
const hostOf = (url: string) => new URL(url).host

/** Settings as the audit log shows them: how many people get the report, but not who. */
const shown = ({ rules, report }: AlertSettings) => ({
  rules,
  report: {
    on: report.on,
    mails: report.mails.length,
    confirmed: confirmedMails(report).length,
  },
})

const patched = ({ rules, report }: AlertSettings, patch: SettingsPatch): AlertSettings => ({
  rules: {
    stepBroken: { ...rules.stepBroken, ...patch.rules?.stepBroken },
    completionFell: { ...rules.completionFell, ...patch.rules?.completionFell },
    installStale: { ...rules.installStale, ...patch.rules?.installStale },
    deadLetters: { ...rules.deadLetters, ...patch.rules?.deadLetters },
  },
  report: patchedReport(report, patch.report),
})

function patchedReport(
  report: ReportSettings,
  { on = report.on, mails = report.mails }: SettingsPatch['report'] = {},
): ReportSettings {
  const consents = Object.entries(report.consents ?? {})
  return {
    on,
    mails: [...new Set(mails)],
    // Whoever was removed is asked again before they get another report.
    consents: Object.fromEntries(consents.filter(([mail]) => mails.includes(mail))),
  }
}
