import { Option } from 'commander'
import type {
  AlertList,
  AlertSettings,
  Delivery,
  DeliveryList,
  Webhook,
  WebhookList,
  WebhookWithSecret,
  WeeklyReport,
} from '../modules/alerts/model.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { addManaged, asked } from './manage.ts'
import { print, printJson, printTable, tell } from './output.ts'

export function addAlerts(cairn: Command): void {
  const alerts = cairn
    .command('alerts')
    .description('current problems and who is notified: rules, webhooks, the weekly report')
    .examples(
      'cairn alerts list',
      'cairn alerts set --step-broken on --completion-fell on',
      'cairn alerts webhook add https://hooks.example.com/cairn',
      'cairn alerts report --send',
    )
  addList(alerts)
  addSet(alerts)
  addResend(alerts)
  addReport(alerts)
  addDeliveries(alerts)
  addReplay(alerts)
  addWebhooks(alerts)
}

function addList(alerts: Command): void {
  addManaged(alerts.command('list'))
    .description('list what is wrong by the rules that are on, and what was in the last week')
    .option('--json', 'print {isWatching, alerts, findings} as JSON')
    .examples('cairn alerts list --org harbor')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const told = await asked<typeof AlertList>(command, 'GET /alerts')
      if (json) return printJson(told)
      for (const { message, fix } of told.findings) warn(`${message} ${fix}`)
      printTable(
        ['state', 'since', 'what', 'resolved'],
        told.alerts.map(({ state, since, message, resolvedAt }) => [
          ...[state, since, message, resolvedAt ?? ''],
        ]),
        told.isWatching
          ? 'no alerts now, and none in the last week'
          : 'no rule is on: "cairn alerts set --step-broken on" switches one on',
      )
    })
}

const switches = ['on', 'off'] as const
type Switch = (typeof switches)[number]

interface Wanted {
  stepBroken?: Switch
  from?: 'broken' | 'flaky'
  completionFell?: Switch
  points?: string
  fewestRuns?: string
  installStale?: Switch
  hours?: string
  deadLetters?: Switch
  fewest?: string
  report?: Switch
  mail?: string[]
  json?: boolean
}

const onOff = (flag: string, help: string) =>
  new Option(`--${flag} <on|off>`, help).choices(switches)

/** The rule as it is to be; undefined if the options say nothing about it. */
const ruleOf = (on: Switch | undefined, more: object) => {
  const given = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined))
  if (on === undefined && Object.keys(given).length === 0) return undefined
  return { ...(on && { on: on === 'on' }), ...given }
}

const numberOf = (name: string, text: string | undefined) => {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new UsageFailure(`--${name} must be a whole number, not '${text.slice(0, 20)}'`)
}

function addSet(alerts: Command): void {
  addManaged(alerts.command('set'))
    .description('switch rules and the weekly report on or off; without options, show them')
    .addOption(onOff('step-broken', 'a step has lost its element'))
    .addOption(
      new Option('--from <state>', 'alert from this state of a step on').choices([
        'broken',
        'flaky',
      ]),
    )
    .addOption(onOff('completion-fell', 'completion fell week on week, beyond chance'))
    .option('--points <count>', 'minimum drop in percentage points')
    .option('--fewest-runs <count>', 'minimum number of runs in each week')
    .addOption(onOff('install-stale', 'no page with the snippet has been seen for a while'))
    .option('--hours <count>', 'hours without such a page')
    .addOption(onOff('dead-letters', 'the database has refused events'))
    .option('--fewest <count>', 'how many')
    .addOption(
      onOff('report', 'the weekly report, Mondays at 08:00 in the zone of "cairn org timezone"'),
    )
    .option(
      '--mail <address...>',
      'mail addresses that receive it once they have confirmed, or "none"',
    )
    .option('--json', 'print the settings as JSON')
    .examples(
      'cairn alerts set --step-broken on --from flaky',
      'cairn alerts set --report on --mail team@example.com',
    )
    .action(async (given: Wanted, command: Command) => {
      const rules = {
        stepBroken: ruleOf(given.stepBroken, { from: given.from }),
        completionFell: ruleOf(given.completionFell, {
          points: numberOf('points', given.points),
          fewestRuns: numberOf('fewest-runs', given.fewestRuns),
        }),
        installStale: ruleOf(given.installStale, { hours: numberOf('hours', given.hours) }),
        deadLetters: ruleOf(given.deadLetters, { fewest: numberOf('fewest', given.fewest) }),
      }
      const mails = given.mail?.[0] === 'none' ? [] : given.mail
      const report = ruleOf(given.report, { mails })
      const hasRule = Object.values(rules).some(rule => rule !== undefined)
      const body = {
        ...(hasRule && { rules }),
        ...(report && { report }),
      }
      const isChange = Object.keys(body).length > 0
      const settings = isChange
        ? await asked<typeof AlertSettings>(command, 'PATCH /alerts/settings', { body })
        : await asked<typeof AlertSettings>(command, 'GET /alerts/settings')
      if (given.json) return printJson(settings)
      printSettings(settings)
    })
}

function printSettings({ rules, report, sendsMail }: AlertSettings): void {
  const { stepBroken, completionFell, installStale, deadLetters } = rules
  const shown = (on: boolean) => (on ? 'on' : 'off')
  printTable(
    ['rule', '', 'when'],
    [
      ['step-broken', shown(stepBroken.on), `from ${stepBroken.from} on`],
      [
        ...['completion-fell', shown(completionFell.on)],
        `by ${completionFell.points} points, ${completionFell.fewestRuns} runs a week`,
      ],
      ['install-stale', shown(installStale.on), `for ${installStale.hours} hours`],
      ['dead-letters', shown(deadLetters.on), `from ${deadLetters.fewest} on`],
      ['report', shown(report.on), 'Mondays at 08:00 in the organisation’s time zone'],
      ...report.recipients.map(({ mail, state }) => ['', '', `${mail} (${stateWords[state]})`]),
    ],
    '',
  )
  if (report.mails.length > 0 && !sendsMail) {
    warn(
      'no mail is sent: the operator must set CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL',
    )
  }
}

const stateWords = {
  waiting: 'waiting for confirmation',
  confirmed: 'confirmed',
  unsubscribed: 'unsubscribed',
} as const satisfies Record<AlertSettings['report']['recipients'][number]['state'], string>

function addResend(alerts: Command): void {
  addManaged(alerts.command('resend'))
    .description('mail an address of the weekly report another link to confirm')
    .argument('<address>', 'as "cairn alerts set" shows it')
    .examples('cairn alerts resend team@example.com')
    .action(async (mail: string, _: object, command: Command) => {
      const body = { mail }
      await asked<typeof AlertSettings>(command, 'POST /alerts/confirmations', { body })
      print(`${mail} is sent a link to confirm, which works for 7 days`)
    })
}

function addReport(alerts: Command): void {
  addManaged(alerts.command('report'))
    .description('show the report of the last whole week')
    .option('--send', 'send it to all recipients now')
    .option('--json', 'print {text, sentTo} as JSON')
    .examples('cairn alerts report', 'cairn alerts report --send')
    .action(async ({ send, json }: { send?: boolean; json?: boolean }, command: Command) => {
      const body = { send: send ?? false }
      const made = await asked<typeof WeeklyReport>(command, 'POST /alerts/report', { body })
      if (json) return printJson(made)
      print(made.text.trimEnd())
      if (send) tell(`sending it to ${made.sentTo} webhooks and mail addresses`)
    })
}

const wentHow = ({ state, attempts, status, fault, nextAt }: Delivery) => [
  state,
  String(attempts),
  status === null ? (fault ?? '') : String(status),
  nextAt ?? '',
]

const printDeliveries = (deliveries: readonly Delivery[]) =>
  printTable(
    ['id', 'made', 'what', 'state', 'tries', 'answer', 'next'],
    deliveries.map(one => [one.id, one.createdAt, one.mail ?? one.type, ...wentHow(one)]),
    'nothing was sent in the last seven days',
  )

const at = (id: string, more = '') => `/webhooks/${encodeURIComponent(id)}${more}` as const

function addDeliveries(alerts: Command): void {
  addManaged(alerts.command('deliveries'))
    .description('list what was sent in the last seven days')
    .argument('[webhook]', 'id of the webhook; leave it out to list mails')
    .option('--json', 'print a JSON array')
    .examples('cairn alerts deliveries webhook_4sWq9xLm2VbTn8Rk0c')
    .action(async (webhook: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const path = webhook === undefined ? '/alerts/mails' : at(webhook, '/deliveries')
      const { deliveries } = await asked<typeof DeliveryList>(command, `GET ${path}`)
      if (json) return printJson(deliveries)
      printDeliveries(deliveries)
    })
}

function addReplay(alerts: Command): void {
  addManaged(alerts.command('replay'))
    .description('send a message once more, under the same id')
    .argument('<id>', 'as "cairn alerts deliveries" shows it')
    .argument('[webhook]', 'id of the webhook; leave it out for a mail')
    .examples('cairn alerts replay msg_7xQm2LkVb9TnRw4s0c webhook_4sWq9xLm2VbTn8Rk0c')
    .action(async (id: string, webhook: string | undefined, _: object, command: Command) => {
      const message = `${encodeURIComponent(id)}/replay`
      const path =
        webhook === undefined ? `/alerts/mails/${message}` : at(webhook, `/deliveries/${message}`)
      await asked<typeof Delivery>(command, `POST ${path}`)
      print(`${id} will be sent again`)
    })
}

function addWebhooks(alerts: Command): void {
  const webhook = alerts
    .command('webhook')
    .helpCommand(false)
    .description('addresses that messages are sent to, signed as Standard Webhooks says')
    .examples('cairn alerts webhook add https://hooks.example.com/cairn')
  addManaged(webhook.command('list'))
    .description('list the webhooks of an organisation')
    .option('--json', 'print a JSON array')
    .examples('cairn alerts webhook list')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { webhooks } = await asked<typeof WebhookList>(command, 'GET /webhooks')
      if (json) return printJson(webhooks)
      printTable(
        ['id', 'address', 'types', ''],
        webhooks.map(one => [one.id, one.url, one.types.join(' ') || 'all', stateOf(one)]),
        'there are no webhooks: add one with "cairn alerts webhook add URL"',
      )
    })
  addManaged(webhook.command('add'))
    .description('have messages sent to an address; its secret is shown only once')
    .argument('<url>', 'an https address in the public network')
    .option('--type <type...>', 'send only messages of these types, such as step.broken')
    .option('--json', 'print {id, url, types, secret, …} as JSON')
    .examples('cairn alerts webhook add https://hooks.example.com/cairn --type step.broken')
    .action(
      async (
        url: string,
        { type, json }: { type?: string[]; json?: boolean },
        command: Command,
      ) => {
        const body = { url, ...(type && { types: type }) }
        const made = await asked<typeof WebhookWithSecret>(command, 'POST /webhooks', { body })
        if (json) return printJson(made)
        print(made.secret)
        tell(`${made.id} is signed with this secret: keep it, it is shown only once`)
      },
    )
  addManaged(webhook.command('rotate'))
    .description('make a new secret; the one before signs too for the grace time')
    .argument('<id>', 'as "cairn alerts webhook list" shows it')
    .option('--grace-hours <hours>', 'length of the grace time', '24')
    .option('--json', 'print {id, secret, oldSecretUntil, …} as JSON')
    .examples('cairn alerts webhook rotate webhook_4sWq9xLm2VbTn8Rk0c --grace-hours 48')
    .action(async (id: string, given: { graceHours: string; json?: boolean }, command: Command) => {
      const body = { graceHours: numberOf('grace-hours', given.graceHours) }
      const made = await asked<typeof WebhookWithSecret>(command, `POST ${at(id, '/rotate')}`, {
        body,
      })
      if (given.json) return printJson(made)
      print(made.secret)
      if (made.oldSecretUntil) tell(`the secret before signs too until ${made.oldSecretUntil}`)
    })
  addManaged(webhook.command('test'))
    .description('send a test message now; exit status 1 if it does not arrive')
    .argument('<id>', 'as "cairn alerts webhook list" shows it')
    .option('--json', 'print the result as JSON')
    .examples('cairn alerts webhook test webhook_4sWq9xLm2VbTn8Rk0c')
    .action(async (id: string, { json }: { json?: boolean }, command: Command) => {
      const sent = await asked<typeof Delivery>(command, `POST ${at(id, '/test')}`)
      if (json) printJson(sent)
      const answer = sent.status === null ? (sent.fault ?? 'no answer') : `answered ${sent.status}`
      if (sent.state !== 'delivered') throw new CommandFailure(`it did not arrive: ${answer}`)
      if (!json) print(`it arrived: ${answer}`)
    })
  for (const [name, on] of [
    ['on', true],
    ['off', false],
  ] as const) {
    addManaged(webhook.command(name))
      .description(on ? 'switch a webhook on again' : 'switch a webhook off for a while')
      .argument('<id>', 'as "cairn alerts webhook list" shows it')
      .examples(`cairn alerts webhook ${name} webhook_4sWq9xLm2VbTn8Rk0c`)
      .action(async (id: string, _: object, command: Command) => {
        await asked<typeof Webhook>(command, `PATCH ${at(id)}`, { body: { on } })
        print(`${id} is ${name}`)
      })
  }
  addManaged(webhook.command('remove'))
    .description('send nothing there any more, and forget what was sent')
    .argument('<id>', 'as "cairn alerts webhook list" shows it')
    .examples('cairn alerts webhook remove webhook_4sWq9xLm2VbTn8Rk0c')
    .action(async (id: string, _: object, command: Command) => {
      await asked(command, `DELETE ${at(id)}`)
      print(`${id} has been removed`)
    })
}

function stateOf({ disabledAt, disabledWhy, failingSince }: Webhook): string {
  if (disabledAt !== null) return `off since ${disabledAt} (${disabledWhy})`
  return failingSince === null ? 'on' : `failing since ${failingSince}`
}
