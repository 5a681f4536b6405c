/** Texts about the installation. */
export const installationWords = {
  title: 'Installation',
  lastSeen: (age: string) => `last seen ${age}`,

  stages: 'How far it has come',
  stagesWhy: 'Each ticks by itself, within seconds.',
  stage: {
    key_used: 'The snippet key is used',
    flows_fetched: 'A page has asked for flows',
    published: 'A flow is published',
    heartbeat: 'A page has said that it is alive',
    events_flowing: 'A visitor has met a flow, and the page has told of it',
  },
  waiting: {
    key_used: 'Waiting for the first request with the key.',
    flows_fetched: 'Waiting for the first page with the snippet.',
    published: 'Waiting for the first flow to publish.',
    heartbeat: 'Pages report this every few minutes while they are open.',
    events_flowing: 'Open a page that a published flow is for.',
  },
  done: 'done',
  open: 'to do',
  first: (at: string) => `first ${at}`,
  last: (age: string) => `last ${age}`,
  publishedFlows: (count: number) => (count === 1 ? 'one flow' : `${count} flows`),

  findings: 'What is wrong',
  firstSeen: 'First seen',
  firstSeenInHour: 'First seen in the hour of',
  noFindings: 'Nothing that Cairn can see is wrong.',
  severity: { error: 'Error', warning: 'Warning', info: 'Note' },
  last24h: 'of the last 24 hours',

  code: 'The code',
  noKey: 'There is no snippet key',
  noKeyWhy: 'Somebody has to make one before a page can use it:',
  noKeyCommand: (slug: string) => `cairn key rotate --org ${slug}`,
  into: 'Where it goes',
  ways: {
    page: 'Page',
    bundler: 'Bundler',
    tags: 'Tag manager',
    extension: 'Content script',
  },
  login: 'People sign in on these pages',
  loginWhy: 'Flows for somebody wait until the page has called cairn.identify().',
  pinned: 'This version alone',
  pinnedWhy: 'Browsers verify it, and an upgrade changes nothing until you change the tag.',
  address: (address: string) => `Pages reach this server at ${address}.`,
  addressSet: 'Set by CAIRN_PUBLIC_URL.',
  addressGuess: 'This browser uses it too. If visitors use another address, set CAIRN_PUBLIC_URL.',
  tag: 'Tag',
  tagWhere: 'In the head of every page.',
  stub: 'Calls before the script has come',
  stubWhere:
    'Before the tag, where pages call cairn.identify() and the like early. It is inline: a strict policy takes it with the page’s nonce, or out of a file of your own.',
  write: 'Module',
  writeWhere: 'Writes cairn.js and its types into your sources. Again after each upgrade.',
  import: 'Import',
  importWhere: 'Once, where your application begins.',
  tagsCode: 'Custom HTML',
  tagsWhere: 'As a tag of the kind “Custom HTML”, on all pages.',
  bundle: 'Bundle',
  bundleWhere: 'As one classic script (IIFE): content scripts are not modules.',
  manifest: 'Manifest',
  manifestWhere: (origins: string) => `${origins} Replace the example with your own pages.`,
  origins: 'Requests carry the page’s origin: if the organisation lists origins, list it.',
  policy: 'Content-Security-Policy',
  policyWhy:
    'Add these to what your pages already allow. Nothing inline, no unsafe-inline, no nonce for styles; Trusted Types are fine.',
  policyImages: 'img-src is for images in your steps.',
  policyModule: 'The module is part of your own script, so script-src stays.',
  policyNone:
    'The page’s policy does not hold for a content script’s own requests; images that it draws still go by img-src.',
  identify: 'Tell it who is there',
  identifyWhere: 'After each sign-in and page load. Audience rules ask for the traits.',
  manual: 'More on all of this in the manual',

  facts: 'What was seen',
  snippetVersion: 'Snippet version',
  skew: 'Clocks of senders, in the middle',
  skewNone: 'on time',
  skewAhead: (time: string) => `${time} ahead`,
  skewBehind: (time: string) => `${time} behind`,
  rejected: 'Events refused',
  rejectedOf: (count: string, code: string) => `${count} ${code}`,
  erased: 'Reports of erased people, not kept',
  none: 'none',
  identity: 'Calls that named a user',
  identityMode: {
    off: 'not verified',
    observe: 'observed, nothing is refused',
    enforce: 'verified',
  },
  identityCounts: (right: string, wrong: string, missing: string) =>
    `${right} with the right hash, ${wrong} wrong, ${missing} without`,

  hours: {
    title: 'Who users are, by hour',
    hour: 'Hour from',
    proven: 'proven',
    unproven: 'without a hash',
    wrong: 'with a wrong hash',
    heads: { proven: 'Proven', unproven: 'Without a hash', wrong: 'Wrong hash' },
    share: 'Share proven',
    caption: 'Calls and events that named a user, by hour.',
    none: 'Nobody has named a user in the last 24 hours.',
    picture: (proven: string, unproven: string, wrong: string) =>
      `Calls and events that named a user in the last 24 hours: ${proven} proven, ${unproven} without a hash, ${wrong} with a wrong one. The table below has every hour.`,
    zone: (zone: string) =>
      `Calls and events that named a user; the right hash proves who it is. Times are of ${zone}.`,
  },

  firstTour: 'Three steps to your first tour',
  firstTourWhy: 'Each ticks by itself as it happens.',
  steps: {
    install: 'Put the snippet on your pages',
    installHow: 'This tag, in the head of every page. For bundlers, tag managers and policies:',
    installLink: 'Install',
    push: 'Write a tour, and push it',
    pushHow: 'A tour is a file. This writes a first one and sends it here as a draft:',
    pushCode: 'A first tour',
    pushToken: (slug: string) =>
      `On the machine of the server leave out --url. Elsewhere CAIRN_TOKEN needs a management token; this makes one, there: cairn token create laptop --scope flows:write flows:publish --org ${slug}`,
    publish: 'Publish it',
    publishHow: 'From then on visitors see it:',
    publishCode: 'Publish',
    manual: 'How to write a flow',
  },
}

/** A first tour that anybody can push as it is. */
export const firstTour = (url: string): string => `cat > welcome.yaml <<'END'
key: welcome
name: Welcome tour
steps:
  - key: hello
    kind: modal
    title: Welcome
    body: This is your first tour.
END
cairn flows push welcome.yaml --url ${url}`

export const publishFirst = (url: string, key: string): string =>
  `cairn flows publish ${key} --url ${url}`
