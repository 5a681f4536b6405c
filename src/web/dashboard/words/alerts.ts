import type { Webhook } from '../../../modules/alerts/schema.ts'

const toldOf = (types: number) =>
  types === 0 ? 'everything' : types === 1 ? 'one type' : `${types} types`

/** Texts about alerts, in the settings and on the overview. */
export const alertWords = {
  why: 'What Cairn notices by itself, and whom it tells. An alert opens once, is shown on the overview while it lasts, and is over once. Nothing is watched, and nobody told, until you switch it on.',
  rules: 'Rules',
  rule: {
    stepBroken: {
      name: 'A step has lost its element',
      why: 'By what the pages of at least five people reported in the last 24 hours.',
    },
    completionFell: {
      name: 'Completion falls',
      why: 'A week against the week before, by seven whole days each; only beyond what chance explains (Newcombe’s 95% interval of the difference).',
    },
    installStale: {
      name: 'The snippet is seen no more',
      why: 'No page with the snippet has sent a sign of life, where one had before.',
    },
    deadLetters: {
      name: 'The database refuses events',
      why: 'Events that could not be stored lie there as dead letters.',
    },
  },
  from: 'Starting at',
  states: [
    ['broken', 'Broken (most miss it)'],
    ['flaky', 'Flaky (one in twenty)'],
  ] as readonly (readonly [string, string])[],
  points: 'By at least, percentage points',
  fewestRuns: 'With at least, runs in each week',
  hours: 'For at least, hours',
  fewest: 'From this many events',
  save: 'Save rules',
  saved: 'The rules are saved.',
  badNumber: 'Must be a whole number, 1 or more',

  webhooks: 'Webhooks',
  webhooksWhy:
    'Each message is posted as JSON and signed as Standard Webhooks says. What does not arrive is sent again for about three days.',
  manual: 'How to receive and verify messages',
  none: 'No webhook yet',
  noneWhy: 'Add an address, and what opens or is over is sent there.',
  caption: 'Webhooks',
  address: 'Address',
  state: 'State',
  on: 'On',
  off: 'Off',
  failing: 'Failing',
  since: (age: string) => `Nothing has arrived since ${age}`,
  offWhy: {
    asked: 'Somebody switched it off',
    gone: 'It answered that it wants no more (410)',
    failing: 'Nothing arrived for five days',
  },
  doubly: (moment: string) => `The secret before signs too until ${moment}`,
  add: 'Add a webhook…',
  addTitle: 'Add a webhook',
  addVerb: 'Add',
  addHint: 'An https address in the public network.',
  added: (host: string, types: number) => `${host} is told of ${toldOf(types)} from now on.`,
  types: 'What it is told',
  typeKinds: [
    ['all', 'Everything, later types too'],
    ['some', 'Only these types'],
  ] as readonly (readonly ['all' | 'some', string])[],
  typeWords: {
    'step.broken': 'A step has lost its element',
    'step.recovered': 'It is found again',
    'completion.fell': 'Completion fell',
    'completion.recovered': 'It fell no more than chance explains',
    'install.stale': 'The snippet is seen no more',
    'install.recovered': 'It is seen again',
    'dead_letters.found': 'The database refuses events',
    'dead_letters.cleared': 'None of them is left',
    'report.weekly': 'The weekly report',
  } satisfies Record<Webhook['types'][number], string>,
  told: (types: readonly string[]) => (types.length === 0 ? 'Everything' : types.join(', ')),
  choose: 'Choose types…',
  typesTitle: (host: string) => `What ${host} is told`,
  typesVerb: 'Save',
  chose: (host: string, types: number) => `${host} is told of ${toldOf(types)} from now on.`,
  shown: 'The secret of the new webhook',
  shownWhy: 'Receivers verify messages by it. It is shown this once; copy it now.',
  done: 'I have it',
  test: 'Send a test',
  testOf: (host: string) => `Send a test to ${host}`,
  arrived: (host: string, status: number) =>
    `The test arrived at ${host}, which answered ${status}.`,
  notArrived: (host: string, why: string) => `The test did not arrive at ${host}: ${why}.`,
  answered: (status: number) => `it answered ${status}`,
  deliveries: 'Deliveries',
  rotate: 'Rotate the secret…',
  rotateTitle: (host: string) => `Rotate the secret of ${host}`,
  rotateWhy:
    'There will be a new secret. Until the time of the current one is over, each message has the signatures of both.',
  rotateVerb: 'Rotate',
  rotated: (host: string) => `${host} has a new secret.`,
  remove: 'Remove…',
  removeTitle: (host: string) => `Remove ${host}`,
  removeWhy: 'Nothing is sent there any more, and what was sent is forgotten.',
  removeVerb: 'Remove',
  removed: (host: string) => `${host} is removed.`,
  switchOn: 'Switch on',
  switchOff: 'Switch off',
  switched: (host: string, isOn: boolean) => `${host} is switched ${isOn ? 'on' : 'off'}.`,

  deliveriesOf: (host: string) => `Sent to ${host} in the last seven days`,
  back: 'All webhooks',
  nothingSent: 'Nothing has been sent yet',
  nothingSentWhy: 'Send a test, or wait until something is wrong.',
  message: 'Message',
  made: 'Made',
  answer: 'Answer',
  tries: (count: number) => `${count} ${count === 1 ? 'try' : 'tries'}`,
  next: (age: string) => `next ${age}`,
  deliveryStates: { pending: 'Waiting', delivered: 'Delivered', failed: 'Failed' },
  replay: 'Replay',
  replayOf: (type: string, id: string) => `Replay ${type} ${id}`,
  replayed: (id: string) => `${id} is sent once more.`,
  body: 'What was sent',

  report: 'Weekly report',
  reportWhy:
    'On Mondays at 08:00: how every flow did in the week before, and what broke. It goes to the webhooks as report.weekly, and by mail to these addresses.',
  reportOn: 'Send the weekly report',
  mails: 'Mail addresses',
  mailsHint:
    'One a line, at most ten. A new address first gets a mail with a link to confirm, and reports only after that.',
  noMail:
    'This server sends no mail yet: its operator must set CAIRN_SMTP_URL, CAIRN_MAIL_FROM and CAIRN_PUBLIC_URL. Webhooks get the report all the same.',
  recipients: 'Recipients',
  consent: {
    waiting: 'Waiting for confirmation',
    confirmed: 'Confirmed',
    unsubscribed: 'Unsubscribed',
  },
  confirmationSent: (moment: string) => `Link sent ${moment}`,
  noConfirmation: 'No link sent yet',
  send: 'Send link',
  resend: 'Send again',
  resent: (mail: string) => `${mail} is sent a link to confirm. It works for 7 days.`,
  zone: (zone: string | null) =>
    zone === null
      ? 'Weeks begin, and Monday is, by UTC: no time zone is set.'
      : `Weeks begin, and Monday is, by the clock of ${zone}.`,
  zoneLink: 'Settings → Time zone',
  mailsSent: 'Mails of the last seven days',
  noMailSent: 'No mail was sent in the last seven days.',
  saveReport: 'Save the report',
  savedReport: 'The weekly report is saved.',
  sendNow: 'Send last week’s now',
  sent: (count: number) =>
    count === 0
      ? 'Nobody gets it yet: there is no webhook and no confirmed mail address.'
      : `It is on its way to ${count} ${count === 1 ? 'receiver' : 'receivers'}.`,

  alert: 'Alert',
  over: 'Over',
  openSince: (age: string) => `Alert since ${age}`,
  overSince: (age: string) => `Over since ${age}`,
}
