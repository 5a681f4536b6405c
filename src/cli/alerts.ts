import { maxGraceHours } from '../core/time/durations.ts'
import {
  type AlertList,
  type AlertSettings,
  type DeliveryJson,
  SettingsPatch,
  type WebhookJson,
  type WebhookWithSecret,
} from '../modules/alerts/schema.ts'
import type { Command } from './command.ts'
import { exitStatus, warn } from './failure.ts'
import { print, tell } from './output.ts'
import { settingRows } from './setting-rows.ts'
import { addGroup, option, type Row, row, whole } from './table.ts'

export function addAlerts(cairn: Command): void {
  const alerts = addGroup(
    cairn,
    {
      name: 'alerts',
      about: 'manage alerts: rules, webhooks and the weekly report',
      examples: [
        'cairn alerts list',
        'cairn alerts set rules.stepBroken.on true',
        'cairn alerts webhook add https://hooks.example.com/cairn',
      ],
    },
    rows,
  )
  const group = {
    name: 'webhook',
    about: 'manage webhooks, whose messages are signed according to Standard Webhooks',
    examples: ['cairn alerts webhook add https://hooks.example.com/cairn'],
  }
  addGroup(alerts, group, webhookRows)
}

const deliveryColumns: Row['columns'] = {
  id: 'id',
  created: 'createdAt',
  message: ({ mail, type }) => mail ?? type,
  state: 'state',
  tries: 'attempts',
  response: ({ status, fault }) => status ?? fault,
  'next try': 'nextAt',
}
const noDeliveries = 'no messages in the last seven days'

const rows: Row[] = [
  row<AlertList>({
    name: 'list',
    about: 'list open alerts and those resolved in the last week',
    route: 'GET /alerts',
    show({ findings }) {
      for (const { message, fix } of findings) warn(`${message} ${fix}`)
    },
    items: 'alerts',
    columns: { state: 'state', since: 'since', problem: 'message', resolved: 'resolvedAt' },
    none: ({ isWatching }) =>
      isWatching
        ? 'no alerts in the last week'
        : 'no rule is on: enable one with "cairn alerts set rules.stepBroken.on true"',
    examples: ['cairn alerts list'],
  }),
  ...settingRows({
    command: 'cairn alerts',
    what: 'rules and the weekly report',
    schema: SettingsPatch,
    read: 'GET /alerts/settings',
    change: 'PATCH /alerts/settings',
    show({ report, sendsMail }: AlertSettings) {
      if (report.mails.length > 0 && !sendsMail) {
        warn(
          'no mail server: the operator must set CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL',
        )
      }
    },
    examples: [
      ['rules.stepBroken.on', 'true'],
      ['report.mails', 'team@example.com ops@example.com'],
    ],
  }),
  {
    name: 'resend',
    about: 'send an address of the weekly report another link to confirm',
    args: { '<address>': 'as "cairn alerts settings" shows it' },
    route: 'POST /alerts/confirmations',
    body: ({ address }) => ({ mail: address }),
    show: (_, { address }) => print(`Sent ${address} a link to confirm. It works for 7 days.`),
    examples: ['cairn alerts resend team@example.com'],
  },
  row<{ text: string; sentTo: number }>({
    name: 'report',
    about: 'show the report of the last full week',
    options: [option('--send', 'send it to all recipients now')],
    route: 'POST /alerts/report',
    body: ({ send = false }) => ({ send }),
    show({ text, sentTo }, { send }) {
      print(text.trimEnd())
      if (send) tell(`Queued for ${sentTo} webhooks and mail addresses.`)
    },
    examples: ['cairn alerts report', 'cairn alerts report --send'],
  }),
  {
    name: 'mails',
    about: 'list the mails of the last seven days',
    route: 'GET /alerts/mails',
    part: 'deliveries',
    columns: deliveryColumns,
    none: noDeliveries,
    examples: ['cairn alerts mails'],
  },
]

const id = { '<id>': 'as "cairn alerts webhook list" shows it' }
const oneWebhook = 'webhook_4sWq9xLm2VbTn8Rk0c'

const webhookRows: Row[] = [
  {
    name: 'list',
    about: 'list webhooks',
    route: 'GET /webhooks',
    part: 'webhooks',
    columns: {
      id: 'id',
      address: 'url',
      types: ({ types }: WebhookJson) => (types.length === 0 ? 'all' : types),
      state: stateOf,
    },
    none: 'no webhooks: add one with "cairn alerts webhook add URL"',
    examples: ['cairn alerts webhook list'],
  },
  row<WebhookWithSecret>({
    name: 'add',
    about: 'create a webhook and print its secret, once',
    args: { '<address>': 'an https address in the public network' },
    options: [option('--type <type...>', 'send only these message types, such as step.broken')],
    route: 'POST /webhooks',
    body: ({ address, type }) => ({ url: address, ...(type && { types: type }) }),
    show: ({ id, secret }) => {
      print(secret)
      tell(`Created ${id}. Store its secret now: it is shown only once.`)
    },
    examples: ['cairn alerts webhook add https://hooks.example.com/cairn --type step.broken'],
  }),
  row<WebhookWithSecret>({
    name: 'rotate',
    about: 'replace the secret; the old one also signs for the grace time',
    args: id,
    options: [
      option('--grace-hours <hours>', 'length of the grace time', {
        ...{ default: '24', parse: whole(0, maxGraceHours) },
      }),
    ],
    route: 'POST /webhooks/:id/rotate',
    body: ({ graceHours }) => ({ graceHours }),
    show({ secret, oldSecretUntil }) {
      print(secret)
      if (oldSecretUntil) tell(`The old secret also signs until ${oldSecretUntil}.`)
    },
    examples: [`cairn alerts webhook rotate ${oneWebhook} --grace-hours 48`],
  }),
  row<DeliveryJson>({
    name: 'test',
    about: 'send a test message; exits with status 1 if it does not arrive',
    args: id,
    route: 'POST /webhooks/:id/test',
    check({ state }) {
      if (state !== 'delivered') process.exitCode = exitStatus.failure
    },
    show: ({ state, status, fault }) => {
      const response = status === null ? (fault ?? 'no response') : `status ${status}`
      if (state === 'delivered') print(`The message arrived: ${response}.`)
      else tell(`cairn: the message did not arrive: ${response}`)
    },
    examples: [`cairn alerts webhook test ${oneWebhook}`],
  }),
  ...(['on', 'off'] as const).map(state => ({
    name: state,
    about: state === 'on' ? 'enable a webhook' : 'disable a webhook',
    args: id,
    route: 'PATCH /webhooks/:id',
    body: () => ({ on: state === 'on' }),
    show: ({ url }: WebhookJson) => print(`${state === 'on' ? 'Enabled' : 'Disabled'} ${url}.`),
    examples: [`cairn alerts webhook ${state} ${oneWebhook}`],
  })),
  {
    name: 'deliveries',
    about: 'list messages to a webhook in the last seven days',
    args: id,
    route: 'GET /webhooks/:id/deliveries',
    part: 'deliveries',
    columns: deliveryColumns,
    none: noDeliveries,
    examples: [`cairn alerts webhook deliveries ${oneWebhook}`],
  },
  {
    name: 'replay',
    about: 'send a message again, under its id',
    args: { ...id, '<message>': 'as "cairn alerts webhook deliveries" shows it' },
    route: 'POST /webhooks/:id/deliveries/:message/replay',
    show: (_, { message }) => print(`Queued ${message} to be sent again.`),
    examples: [`cairn alerts webhook replay ${oneWebhook} msg_7xQm2LkVb9TnRw4s0c`],
  },
  {
    name: 'remove',
    about: 'delete a webhook and its deliveries',
    args: id,
    route: 'DELETE /webhooks/:id',
    show: (_, { id }) => print(`Deleted ${id}.`),
    examples: [`cairn alerts webhook remove ${oneWebhook}`],
  },
]

function stateOf({ disabledAt, disabledWhy, failingSince }: WebhookJson): string {
  if (disabledAt !== null) return `disabled since ${disabledAt} (${disabledWhy})`
  return failingSince === null ? 'enabled' : `failing since ${failingSince}`
}
