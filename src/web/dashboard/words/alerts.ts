import type { WebhookJson } from '../../../modules/alerts/schema.ts'

const typesOf = (types: number) =>
  types === 0 ? 'all message types' : types === 1 ? 'one message type' : `${types} message types`

/** Texts about alerts, in the settings and on the overview. */
export const alertWords = {
  why: 'Cairn can check for problems every five minutes. Open alerts are shown on the overview and sent to webhooks. All rules are off by default.',
  rules: 'Rules',
  rule: {
    stepBroken: {
      name: 'A step is broken',
      why: 'Most people did not find its element in the last 24 hours (five people or more).',
    },
    completionFell: {
      name: 'Completion of a flow fell',
      why: 'By 5 percentage points or more week over week, with 50 runs or more in each week, and by more than chance explains.',
    },
    installStale: {
      name: 'The snippet is silent',
      why: 'No page has loaded it for 24 hours.',
    },
    deadLetters: {
      name: 'Events were rejected',
      why: 'The database could not store some events.',
    },
  },
  save: 'Save rules',
  saved: 'Rules saved.',

  webhooks: 'Webhooks',
  webhooksWhy:
    'Messages are posted as JSON and signed according to Standard Webhooks. Failed messages are sent again for about three days.',
  manual: 'How to receive and verify messages',
  none: 'No webhooks',
  noneWhy: 'Add one to get a message when an alert opens or is resolved.',
  caption: 'Webhooks',
  address: 'Address',
  state: 'Status',
  on: 'Enabled',
  off: 'Disabled',
  failing: 'Failing',
  since: (age: string) => `Nothing has arrived since ${age}`,
  offWhy: {
    asked: 'Disabled by an owner',
    gone: 'The receiver responded 410 Gone',
    failing: 'Nothing arrived for five days',
  },
  doubly: (moment: string) => `The old secret also signs until ${moment}`,
  add: 'Add webhook…',
  addTitle: 'Add webhook',
  addVerb: 'Add',
  addHint: 'An https address in the public network.',
  added: (host: string, types: number) => `Added ${host} for ${typesOf(types)}.`,
  types: 'Message types',
  typeKinds: [
    ['all', 'All, including future types'],
    ['some', 'Only these types'],
  ] as readonly (readonly ['all' | 'some', string])[],
  typeWords: {
    'step.broken': 'A step is broken',
    'step.recovered': 'A step is found again',
    'completion.fell': 'Completion of a flow fell',
    'completion.recovered': 'Completion of a flow recovered',
    'install.stale': 'The snippet is silent',
    'install.recovered': 'The snippet is loaded again',
    'dead_letters.found': 'Events were rejected',
    'dead_letters.cleared': 'No rejected events are left',
    'report.weekly': 'Weekly report',
  } satisfies Record<WebhookJson['types'][number], string>,
  subscribed: (types: readonly string[]) =>
    types.length === 0 ? 'All message types' : types.join(', '),
  choose: 'Choose types…',
  typesTitle: (host: string) => `Message types for ${host}`,
  typesVerb: 'Save',
  chose: (host: string, types: number) => `${host} now gets ${typesOf(types)}.`,
  shown: 'Secret of the webhook',
  shownWhy: 'Receivers use it to verify messages. Copy it now: it is shown only once.',
  done: 'Done',
  test: 'Send test',
  testOf: (host: string) => `Send test to ${host}`,
  arrived: (host: string, status: number) =>
    `The test arrived at ${host}, which responded ${status}.`,
  notArrived: (host: string, why: string) => `The test did not arrive at ${host}: ${why}.`,
  responded: (status: number) => `it responded ${status}`,
  deliveries: 'Deliveries',
  rotate: 'Rotate secret…',
  rotateTitle: (host: string) => `Rotate the secret of ${host}`,
  rotateWhy: 'Creates a new secret. During the grace time, messages are signed with both.',
  rotateVerb: 'Rotate',
  rotated: (host: string) => `${host} has a new secret.`,
  remove: 'Delete…',
  removeTitle: (host: string) => `Delete ${host}`,
  removeWhy: 'No more messages are sent there, and its deliveries are deleted.',
  removeVerb: 'Delete',
  removed: (host: string) => `Deleted ${host}.`,
  switchOn: 'Enable',
  switchOff: 'Disable',
  switched: (host: string, isOn: boolean) => `${isOn ? 'Enabled' : 'Disabled'} ${host}.`,

  deliveriesOf: (host: string) => `Messages to ${host} in the last seven days`,
  back: 'All webhooks',
  nothingSent: 'No messages yet',
  nothingSentWhy: 'Send a test, or wait for the first alert.',
  message: 'Message',
  made: 'Created',
  response: 'Response',
  tries: (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'}`,
  next: (age: string) => `next ${age}`,
  deliveryStates: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
  replay: 'Replay',
  replayOf: (type: string, id: string) => `Replay ${type} ${id}`,
  replayed: (id: string) => `Queued ${id} to be sent again.`,
  body: 'Message body',

  report: 'Weekly report',
  reportWhy:
    'On Mondays at 08:00: starts and completion of every flow in the week before, and its alerts. Webhooks get it as report.weekly, these addresses as a plain-text mail.',
  reportOn: 'Send the weekly report',
  mails: 'Mail addresses',
  mailsHint:
    'One per line, at most ten. A new address gets a mail with a link to confirm, and reports only after that.',
  noMail:
    'This server sends no mail: its operator must set CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL. Webhooks still get the report.',
  recipients: 'Recipients',
  consent: {
    waiting: 'Waiting for confirmation',
    confirmed: 'Confirmed',
  },
  confirmationSent: (moment: string) => `Link sent ${moment}`,
  noConfirmation: 'No link sent yet',
  send: 'Send link',
  resend: 'Send again',
  resent: (mail: string) => `Sent ${mail} a link to confirm. It works for 7 days.`,
  zone: (zone: string | null) =>
    zone === null
      ? 'Weeks begin on Monday in UTC, because no time zone is set.'
      : `Weeks begin on Monday in the time zone ${zone}.`,
  zoneLink: 'Settings → Time zone',
  mailsSent: 'Mails of the last seven days',
  noMailSent: 'No mail was sent in the last seven days.',
  saveReport: 'Save report settings',
  savedReport: 'Report settings saved.',
  sendNow: 'Send last week’s report',
  sent: (count: number) =>
    count === 0
      ? 'Not sent: there is no webhook and no confirmed mail address.'
      : `Queued for ${count} ${count === 1 ? 'receiver' : 'receivers'}.`,

  alert: 'Alert',
  resolved: 'Resolved',
  openSince: (age: string) => `Alert since ${age}`,
  resolvedSince: (age: string) => `Resolved ${age}`,
}
