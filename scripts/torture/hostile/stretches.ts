import type { Sent } from './repeater.ts'
import { headOf, type Target } from './target.ts'

/** Requests in which one part is made as costly as it can be. */

/** A request without a valid credential, so anybody can make the server pay its cost. */
export interface Stretch {
  what: string
  request: Sent
}

/** A request with a valid credential and a body that is made to be costly. */
export interface Body extends Stretch {
  route: string
  body: string
  /** The same request with nothing stretched; its work is not part of the cost. */
  plain: Sent
}

const filled = (text: string, bytes: number) =>
  text.repeat(Math.ceil(bytes / Buffer.byteLength(text))).slice(0, bytes)

/** As long as a request target may be, with what surrounds it. */
const targetBytes = 8_000
/** As long as all headers together may be, with the usual ones. */
const headBytes = 60_000

/** What parsers stumble over: separators, escapes, and text that several expressions may match. */
const ofQueries = ['\xe9', ...'& = % + %41 a=%& key=& key=a& &&= / ? x []= "'.split(' ')]
const ofPaths = ['\xe9', ...'/ x ../ ./ %2e/ % : /a /flows // "'.split(' ')]
const ofHeaders = [
  ...[' ', 'a ', ' ,', '\t', '\xe9'],
  ...', ; " = . x a, W/"x", *, a;q=0.1, gzip;q=1, \\ "\\ https://x'.split(' '),
]

const readHeaders: readonly [name: string, begin: string, on: string][] = [
  ['Authorization', 'Bearer ', 'GET /flows'],
  ['Authorization', '', 'GET /flows'],
  ['Authorization', 'Bearer ', 'GET /flows/flow_x/analytics'],
  ['Origin', '', 'GET /flows'],
  ['Origin', 'https://', 'OPTIONS /flows'],
  ['Access-Control-Request-Method', '', 'OPTIONS /flows'],
  ['Access-Control-Request-Headers', '', 'OPTIONS /flows'],
  ['Accept-Encoding', '', 'GET /docs'],
  ['If-None-Match', '', 'GET /docs'],
  ['Cookie', '', 'GET /flows'],
  ['Content-Type', '', 'POST /events'],
  ['X-Forwarded-For', '', 'GET /flows'],
  ['Host', '', 'GET /flows/'],
]

const head = (what: string, more = '') => `${headOf(what)}${more}\r\n`

const targets = [
  ...ofQueries.map(fill => ({ what: `a query of ${fill}`, before: '/heartbeat?', fill })),
  ...ofPaths.map(fill => ({ what: `a path of ${fill}`, before: '/', fill })),
].flatMap(({ what, before, fill }) =>
  [targetBytes, headBytes].map(bytes => ({
    what: `${what}, ${bytes / 1_000} KB`,
    request: head(`GET ${before}${filled(fill, bytes)}`),
  })),
)

const headers = readHeaders.flatMap(([name, begin, on]) =>
  ofHeaders.map(fill => ({
    what: `${name} of ${JSON.stringify(begin + fill)} on ${on}`,
    request:
      name === 'Host'
        ? head(on).replace(/^Host: .*$/m, `Host: ${filled(fill, headBytes)}`)
        : head(on, `${name}: ${begin}${filled(fill, headBytes)}x\r\n`),
  })),
)

/** The session's routes read a cookie, though only for what looks like a request of Cairn's own pages. */
const cookies = [
  ...['GET /dashboard/x/flows/x/export.csv', 'POST /dashboard/session/token'],
].flatMap(on =>
  [...ofHeaders, ...'a=b; a=%41; cairn cairn= xcairn=; __Host-'.split(' ')].map(fill => ({
    what: `a session's cookie of ${JSON.stringify(fill)} on ${on}`,
    request: `${on} HTTP/1.1\r\nHost: x.example\r\nSec-Fetch-Site: same-origin\r\nCairn-Dashboard: 1\r\nContent-Length: 0\r\nCookie: ${filled(fill, headBytes)}\r\n\r\n`,
  })),
)

const base64 = (text: string) => Buffer.from(text).toString('base64url')

/** As long as a token may be. */
const tokenBytes = 16_000

const tokens = [
  ['of dots', '.'.repeat(tokenBytes)],
  ['of one part', 'x'.repeat(tokenBytes)],
  ['with a header of nothing but [', `${base64('['.repeat(11_000))}.e30.x`],
  ['with a header of {"a":', `${base64('{"a":'.repeat(2_200))}.e30.x`],
  ['with a wide header', `${base64(`{"alg":"HS256","a":[${filled('1,', 11_000)}1]}`)}.e30.x`],
  [
    'with many critical headers',
    `${base64(`{"alg":"HS256","crit":[${filled('"a",', 10_000)}"a"]}`)}.e30.x`,
  ],
  [
    'with a long payload',
    `${base64('{"alg":"HS256"}')}.${'x'.repeat(15_000)}.${base64('x'.repeat(32))}`,
  ],
  ['with a long signature', `${base64('{"alg":"HS256"}')}.e30.${'x'.repeat(15_000)}`],
].map(([what, token]) => ({
  what: `a token ${what}`,
  request: `${headOf('GET /flows/flow_x/analytics', token)}\r\n`,
}))

/** Everything that a stranger chooses, one part at a time. */
export const strangers: readonly Stretch[] = [
  ...targets,
  ...headers,
  ...cookies,
  ...tokens,
  {
    what: '150 headers',
    request: head('GET /flows', Array.from({ length: 150 }, (_, i) => `X-${i}: x\r\n`).join('')),
  },
  {
    what: 'the same header 150 times',
    request: head('GET /docs', 'Accept-Encoding: gzip;q=0.5\r\n'.repeat(150)),
  },
  {
    what: 'a body of 1 MB that nobody reads',
    request: `${head('POST /events', 'Content-Length: 1000000\r\n')}${'['.repeat(1_000_000)}`,
  },
]

/** A body of about so many bytes, in which `…` is replaced with as many copies of a part as fit. */
const made = (body: string, part: string, bytes: number) => {
  const count = Math.floor((bytes - body.length + 1) / part.length)
  return body.replace('…', () => part.repeat(count).replace(/,$/, ''))
}

const event = (more: string) => `{"kind":"custom","name":"n","userId":"u"${more}}`
const events = (...more: string[]) => `{"events":[${more.map(event).join(',')}]}`

/** Fifty events as pages send them, with ids that were never sent before. */
export const usualBatch = (i: number, properties = '"plan":"team","seats":12') =>
  `{"events":[${Array.from({ length: 50 }, (_, n) => event(`,"id":"e-${i}-${n}","url":"https://app.example.com/projects?page=${n}","sessionId":"s-${n}","properties":{${properties}}`)).join(',')}]}`

/** What a value can be made of so that looking through it costs the most. */
const parts: readonly [what: string, part: string][] = [
  ['numbers', '1,'],
  ['long numbers', '0.12345678901234567,'],
  ['texts', '"",'],
  ['objects', '{},'],
  ['objects of one field', '{"a":1},'],
  ['lists', '[],'],
  ['null', 'null,'],
]

/** The size limit of `/events`, and that of all other routes. */
const most = 1_048_000
const mostElsewhere = 65_000

/** Texts that contain much to be folded, unescaped or inspected. */
const texts: readonly [what: string, part: string][] = [
  ['x', 'x'],
  ['white space', ' '],
  ['white space and letters', ' a'],
  ['escapes', '\\n'],
  ['escaped letters', '\\u00e9'],
  ['halves of pairs', '\\ud800'],
  ['digits', '1'],
  ['numbers that would change', '1e-400,'],
  ['quotes', '\\"'],
  ['dots and slashes', '/..'],
]

const eventOf = (user: string, more = '') =>
  `{"events":[{"kind":"custom","name":"n","userId":${user}${more}}]}`

/** Which part of each route's body is filled: `…` marks it. */
const ofParts: Record<string, Record<string, string>> = {
  events: {
    'properties of': eventOf('"u"', ',"properties":{"a":[…]}'),
    'in the place of events,': '{"events":[…]}',
    'a field that nobody knows of': `${eventOf('"u"', ',"properties":{"n":1}').slice(0, -1)},"x":[…]}`,
    "an event's field that nobody knows of": eventOf('"u"', ',"properties":{"n":1},"x":[…]'),
    'an event that is a list of': '{"events":[[…]]}',
    'a user that is a list of': eventOf('[…]'),
  },
  fingerprint: {
    'candidates of': '{"fingerprint":null,"candidates":[…]}',
    'a fingerprint of': '{"fingerprint":[…]}',
    'classes of': '{"fingerprint":{"matchCount":1,"classes":[…]}}',
    'ancestors of': '{"fingerprint":{"matchCount":1,"ancestors":[…]}}',
  },
  'checklist-progress': { 'items of': '{"userId":"u","items":[…]}' },
}
const ofTexts: Record<string, Record<string, string>> = {
  events: {
    'properties of': eventOf('"u"', ',"properties":{"a":"…","n":1}'),
    'a user of': eventOf('"…"'),
    'a time of': eventOf('"u"', ',"occurredAt":"…"'),
  },
  fingerprint: Object.fromEntries(
    ['text', 'name', 'tag', 'id', 'selector', 'textHash'].map(field => [
      `${field} of`,
      `{"fingerprint":{"matchCount":1,"${field}":"…"}}`,
    ]),
  ),
  health: {
    'a message of': '{"outcome":"found","message":"…"}',
    'an outcome of': '{"outcome":"…"}',
  },
  complete: {
    'a time of': '{"userId":"u","completedAt":"…"}',
    'a user of': '{"userId":"…"}',
  },
}

const list = (count: number, item: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(',')

const manyFields = list(60_000, i => `"k${i}":1`)
const candidate = (i: number) =>
  `{"matchCount":1,"selector":"#s${i}","text":"${filled('a b ', 500)}","classes":[${list(50, c => `"c${c}"`)}],"ancestors":[${list(10, () => `{"tag":"div","id":"${filled('x', 100)}"}`)}]}`
const attributes = (count: number, name: string) =>
  `{"fingerprint":{"matchCount":1,"attributes":{${list(count, i => `"${name}${i}":""`)}}}}`

/** Bodies that are costly in other ways. */
const others: Record<string, Record<string, string>> = {
  events: {
    'properties of 60,000 fields': events(`,"properties":{${manyFields}}`),
    'a field of 60,000 fields in properties': events(`,"properties":{"a":{${manyFields}}}`),
    '50 events with properties of 20 KB': events(
      ...Array<string>(50).fill(`,"properties":{"a":[${filled('1,', 20_000)}1]}`),
    ),
    levels: events(`,"properties":{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`),
    'nothing but [': '['.repeat(most),
    'a broken end': `{"events":[${filled('1,', most)}`,
  },
  fingerprint: {
    'a link of dots and slashes': made(
      '{"fingerprint":{"matchCount":1,"attributes":{"href":"…"}}}',
      '/..',
      mostElsewhere,
    ),
    'attributes without end': attributes(4_000, 'data-x'),
    'attributes that are kept': attributes(3_500, 'data-test'),
    '20 candidates of 3 KB': `{"fingerprint":null,"candidates":[${list(20, candidate)}]}`,
    'a locale of 64 KB': made('{"fingerprint":null,"locale":"…"}', 'en-', mostElsewhere),
  },
  'checklist-progress': {
    '2,000 items': made(
      '{"userId":"u","items":[…]}',
      '{"key":"first","completed":true},',
      mostElsewhere,
    ),
    '100 items with long keys': `{"userId":"u","items":[${list(100, () => `{"key":"${filled('x', 600)}","completed":true}`)}]}`,
  },
}

const step = (i: number, more: string) => `{"key":"s${i}","title":"T"${more}}`
const flow = (more: string) => `{"key":"dear","steps":[${list(100, i => step(i, more))}]}`
const yaml = (part: string, before = '') =>
  JSON.stringify({ text: before + filled(part, most - 2_000 - Buffer.byteLength(before)) })

/** What people with a management token can send, and what each would cost if it were read at once. */
const managed: readonly (readonly [what: string, route: string, body: string])[] = [
  ...['}', ']', '*a ', '&a *a ', '"a"', "' ", '- ', '? ', '\u2028', '\uFEFF'].map(
    part =>
      [`a flow file of ${JSON.stringify(part)}`, 'POST /manage/validate', yaml(part)] as const,
  ),
  ['a flow file of [ and }', 'POST /manage/validate', yaml('}', '[')],
  [
    'JSON that is none',
    'POST /manage/validate',
    `${yaml('"a" ')
      .slice(0, 900_000)
      .replace(/\\?"?$/, '')}","format":"json"}`,
  ],
  [
    '7,000 unknown fields',
    'POST /manage/validate',
    JSON.stringify({ text: list(7_000, i => `titel${i}: 1`).replaceAll(',', '\n') }),
  ],
  [
    '100 bodies of **a',
    'PUT /manage/flows/dear/draft?text=1',
    flow(`,"body":"x](:<${filled('**a', 9_900)}"`),
  ],
  [
    '100 bodies that need escapes',
    'PUT /manage/flows/dear/draft?text=1',
    flow(`,"body":"${filled('\u202e', 9_900)}"`),
  ],
  ['its text', 'GET /manage/flows/dear/draft?text=1', ''],
  [
    '600 selectors',
    'POST /manage/push',
    `{"dryRun":true,"flows":[${flow(`,"target":{"selector":"a${filled(' a', 990)}","alternates":[${list(5, i => `"b${i}${filled(' a', 980)}"`)}]}`)}]}`,
  ],
  [
    'a draft of 14,000 unknown fields',
    'PUT /manage/flows/dear/draft',
    `{"key":"dear","steps":[${list(100, i => step(i, `,${list(140, n => `"titel${n}":1`)}`))}]}`,
  ],
  [
    'a draft of 500,000 numbers',
    'PUT /manage/flows/dear/draft',
    `{"key":"dear","x":[${filled('1,', 999_000)}1]}`,
  ],
  ['a draft of 60,000 fields', 'PUT /manage/flows/dear/draft', `{"key":"dear",${manyFields}}`],
  [
    'a draft of levels',
    'PUT /manage/flows/dear/draft',
    `{"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  ],
  ['300,000 flows', 'POST /manage/push', `{"flows":[${filled('{},', 999_000)}{}]}`],
  [
    'an address for 50 globs',
    'POST /manage/explain',
    JSON.stringify({ flow: 'globs', url: `https://app.example.com/${'a'.repeat(2_000)}` }),
  ],
]

/** A flow that is shown where one of 50 patterns fits, each as hard to compare as may be. */
export const flowOfGlobs = {
  key: 'globs',
  targeting: {
    urls: Array.from({ length: 50 }, (_, i) => ({
      match: 'glob',
      pattern: `/${'*a'.repeat(10)}${'a'.repeat(2_000)}${i}`,
    })),
  },
  steps: [{ key: 'a', title: 'A' }],
}

/** Requests with a management token, each in what is sent as costly as it can be. */
export const managedWith = (token: string): readonly Stretch[] =>
  managed.map(([what, route, body]) => ({
    what: `${route}: ${what}`,
    request: `${headOf(route, token, `If-Match: *\r\n${body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`}`)}\r\n${body}`,
  }))

/** Bodies in which nothing is stretched. */
const plain: Record<string, string> = {
  events: events(''),
  fingerprint: '{"fingerprint":null}',
  health: '{"outcome":"found"}',
  'checklist-progress': '{"userId":"u","items":[{"key":"first","completed":true}]}',
  complete: '{"userId":"u"}',
}

/** Bodies by route, with a snippet key. */
export function bodiesOf({ flowId, snippetKey }: Target, stepId: string): readonly Body[] {
  const pathOf = (route: string) =>
    route === 'events'
      ? '/events'
      : /^(fingerprint|health)$/.test(route)
        ? `/steps/${stepId}/${route}`
        : `/flows/${flowId}/${route}`
  const post = (route: string, body: string) =>
    `${headOf(`POST ${pathOf(route)}`, snippetKey, `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`)}\r\n${body}`
  const bodies = Object.keys(plain).flatMap(route => {
    const filledWith = (of: Record<string, Record<string, string>>, all: typeof parts) =>
      all.flatMap(([what, part]) =>
        Object.entries(of[route] ?? {}).map(([where, body]) => {
          const bytes = route === 'events' ? most : mostElsewhere
          return [`${where} ${what}`, made(body, part, bytes)] as const
        }),
      )
    const all = [
      ...filledWith(ofParts, parts),
      ...filledWith(ofTexts, texts),
      ...Object.entries(others[route] ?? {}),
    ]
    return all.map(([what, body]) => ({
      what: `${route}: ${what}`,
      route,
      request: post(route, body),
      body,
      plain: post(route, plain[route]!),
    }))
  })
  const large = `"a":"${filled('x', 8_000)}","n":1.5`
  return [
    ...bodies,
    {
      what: 'events: 50, with properties as large as may be',
      route: '50 events',
      request: i => post('events', usualBatch(i, large)),
      body: usualBatch(0, large),
      plain: i => post('events', usualBatch(i)),
    },
  ]
}
