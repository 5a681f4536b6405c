import { invalid } from '../../core/errors.ts'
import { type Auditor, auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Clock } from '../../core/time/clock.ts'
import type {
  AlertChanges,
  AlertSettings,
  AlertStore,
  Delivery,
  Recipient,
} from '../../storage/interfaces/alerts.ts'
import { type LinkParts, recipientOfLink } from './mail.ts'
import { deliveriesTo, maxDeliveries, messageOf, newDelivery } from './messages.ts'
import { type Report, type ReportDeps, reportWeeks, weeklyReport, zoneOf } from './report.ts'
import { defaultSettings } from './rules.ts'
import type { SettingsPatch } from './schema.ts'
import { countSends } from './send-bounds.ts'
import type { Outside } from './sender.ts'

export interface AlertDeps {
  store: AlertStore
  clock: Clock
  /** The way out of the machine, as it is configured now. */
  outside(): Outside
  /** Called when there may be something new to check or send. */
  onChange(): void
}

export const settingsOf = async (store: AlertStore, orgRef: OrganisationRef) =>
  (await store.settings(orgRef)).settings ?? defaultSettings

/** Settings as the audit log shows them: how many people get the report, but not who. */
const forAudit = ({ rules, report }: AlertSettings) => ({
  rules,
  report: {
    on: report.on,
    alerts: report.alerts ?? false,
    mails: report.recipients.length,
    confirmed: report.recipients.filter(({ state }) => state === 'confirmed').length,
  },
})

/** @param deliveries queued with the change */
async function revise(
  { store, clock, onChange }: AlertDeps,
  organisation: Organisation,
  change: (settings: AlertSettings) => AlertSettings,
  deliveries: readonly Delivery[],
  [action, audit]: [action: string, audit: Auditor],
): Promise<AlertSettings> {
  let after = defaultSettings
  await store.changeSettings(
    organisation.ref,
    ({ settings, reportedFor }) => {
      const before = settings ?? defaultSettings
      after = change(before)
      // If reports are switched on in the middle of a week, they begin with the next Monday.
      const begins = after.report.on && !before.report.on
      const { monday } = reportWeeks(clock.now(), zoneOf(organisation))
      return {
        settings: after,
        reportedFor: begins ? monday : reportedFor,
        deliveries,
        audit: audit(action, 'alerts', { before: forAudit(before), after: forAudit(after) }),
      }
    },
    maxDeliveries,
  )
  onChange()
  return after
}

const confirmationTo = ({ slug, name }: Organisation, mail: string, now: number) =>
  newDelivery({ mail }, messageOf('report.confirm', now, { organisation: { slug, name } }), now)

const address = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/

/**
 * Changes the fields in the patch, all or nothing. New mail addresses get a link to confirm.
 *
 * @throws AppError `validation_failed`, `sent_too_often`
 */
export async function changeSettings(
  deps: AlertDeps,
  organisation: Organisation,
  patch: SettingsPatch,
  audit: Auditor,
): Promise<AlertSettings> {
  const { store, clock, outside } = deps
  const mails = patch.report?.mails && [...new Set(patch.report.mails)]
  const problems = (patch.report?.mails ?? []).flatMap((mail, i) =>
    address.test(mail) ? [] : [{ path: `/report/mails/${i}`, message: 'Must be a mail address' }],
  )
  if (problems.length > 0) throw invalid(...problems)
  const { report } = await settingsOf(store, organisation.ref)
  const now = clock.now()
  const sentAt = outside().mail === null ? null : now
  const added = (mails ?? []).filter(
    mail => !report.recipients.some(recipient => recipient.mail === mail),
  )
  const confirmations =
    sentAt === null ? [] : added.map(mail => confirmationTo(organisation, mail, now))
  await countSends(store, organisation.ref, confirmations, now, null)
  const change = (before: AlertSettings): AlertSettings => {
    const { on, alerts = false, recipients } = before.report
    const known = (mail: string) => recipients.find(recipient => recipient.mail === mail)
    const wanted = mails?.map(
      (mail): Recipient => known(mail) ?? { mail, state: 'waiting', confirmationSentAt: sentAt },
    )
    return {
      rules: { ...before.rules, ...patch.rules },
      report: {
        on: patch.report?.on ?? on,
        alerts: patch.report?.alerts ?? alerts,
        recipients: wanted ?? recipients,
      },
    }
  }
  return revise(deps, organisation, change, confirmations, ['alerts.change', audit])
}

/** A change of one address of the report; null removes it. */
const changeRecipient =
  (mail: string, change: (recipient: Recipient) => Recipient | null) =>
  ({ rules, report }: AlertSettings): AlertSettings => {
    const recipients = report.recipients.flatMap(recipient =>
      recipient.mail === mail ? (change(recipient) ?? []) : [recipient],
    )
    return { rules, report: { ...report, recipients } }
  }

/**
 * Mails an address of the report another link to confirm.
 *
 * @throws AppError `validation_failed`, `sent_too_often`
 */
export async function sendConfirmation(
  deps: AlertDeps,
  organisation: Organisation,
  mail: string,
  audit: Auditor,
): Promise<AlertSettings> {
  const { store, clock, outside } = deps
  const { report } = await settingsOf(store, organisation.ref)
  const isWaiting = (recipient: Recipient) =>
    recipient.mail === mail && recipient.state === 'waiting'
  if (!report.recipients.some(isWaiting)) {
    const message = 'Must be an address of the weekly report that has not confirmed'
    throw invalid({ path: '/mail', message })
  }
  if (outside().mail === null) {
    const message =
      'Needs a mail server: the operator sets CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL'
    throw invalid({ path: '/mail', message })
  }
  const now = clock.now()
  const confirmation = confirmationTo(organisation, mail, now)
  await countSends(store, organisation.ref, [confirmation], now, null)
  const change = changeRecipient(mail, recipient =>
    isWaiting(recipient) ? { ...recipient, confirmationSentAt: now } : recipient,
  )
  return revise(deps, organisation, change, [confirmation], ['alerts.ask', audit])
}

/** The recipient that a link was mailed to. Null if the link does not work, or no longer. */
export async function linkedRecipient(
  { store, clock, outside }: AlertDeps,
  { id, ref }: Organisation,
  action: LinkParts['action'],
  token: string,
): Promise<Recipient | null> {
  const { report } = await settingsOf(store, ref)
  const parts = { serverKey: outside().serverKey(), organisation: id, action }
  return recipientOfLink(report.recipients, parts, token, clock.now())
}

/** Confirms an address, or removes it. @returns as `linkedRecipient`, before it */
export async function followLink(
  deps: AlertDeps,
  organisation: Organisation,
  action: LinkParts['action'],
  token: string,
  requestId: string,
): Promise<Recipient | null> {
  const linked = await linkedRecipient(deps, organisation, action, token)
  if (linked === null || (action === 'confirm' && linked.state === 'confirmed')) return linked
  const audit = auditor({ via: 'mail', name: 'recipient', requestId }, deps.clock.now())
  const change = changeRecipient(linked.mail, recipient =>
    action === 'confirm' ? { ...recipient, state: 'confirmed' } : null,
  )
  await revise(deps, organisation, change, [], [`alerts.${action}`, audit])
  return linked
}

/** The newest weekly report, and what to store so that all recipients are sent it. */
export async function reportToSend(
  deps: ReportDeps & { store: AlertStore },
  organisation: Organisation,
  { report: { recipients } }: AlertSettings,
  signal: AbortSignal,
): Promise<{ report: Report; changes: AlertChanges }> {
  const { store, clock } = deps
  const report = await weeklyReport(deps, organisation, signal)
  const now = clock.now()
  const message = messageOf('report.weekly', now, report)
  const mails = recipients.filter(({ state }) => state === 'confirmed')
  const deliveries = [
    ...deliveriesTo(await store.webhooks(organisation.ref), message, now),
    ...mails.map(({ mail }) => newDelivery({ mail }, message, now)),
  ]
  const { monday } = reportWeeks(now, zoneOf(organisation))
  return { report, changes: { opened: [], resolved: [], deliveries, reportedFor: monday } }
}

/** Sends the weekly report on demand. @throws AppError `sent_too_often` */
export async function sendReport(
  { store, clock, onChange }: AlertDeps,
  orgRef: OrganisationRef,
  changes: AlertChanges,
  audit: Auditor,
): Promise<void> {
  const { deliveries } = changes
  const entry = audit('alerts.send', 'alerts', { after: { sentTo: deliveries.length } })
  await countSends(store, orgRef, deliveries, clock.now(), entry)
  await store.record(orgRef, changes, maxDeliveries)
  onChange()
}
