import type { Sent } from './repeater.ts'
import { headOf, type Target } from './target.ts'

/** Requests of which one part is made to cost as much as it can. */

/** One that nobody's credential comes with: what it costs, everybody can have it cost. */
export interface Stretch {
  what: string
  request: Sent
}

/** One with a good credential, and a body that is made so. */
export interface Body extends Stretch {
  route: string
  body: string
  /** What it is like where nothing is stretched: what is done for it is no part of the cost. */
  plain: Sent
}

const filled = (text: string, bytes: number) =>
  text.repeat(Math.ceil(bytes / Buffer.byteLength(text))).slice(0, bytes)

/** As long as a target may be, with what stands around it. */
const targetBytes = 8_000
/** As long as all headers may be, with the usual ones. */
const headBytes = 60_000

/** What parsers stumble over: separators, escapes, and what several expressions may match. */
const ofQueries = [
  '&',
  '=',
  '%',
  '+',
  '%41',
  'a=%&',
  'key=&',
  'key=a&',
  '&&=',
  '/',
  '?',
  'x',
  '[]=',
  '"',
  '\xe9',
]
const ofPaths = ['/', 'x', '../', './', '%2e/', '%', ':', '/a', '/flows', '//', '"', '\xe9']
const ofHeaders = [
  ' ',
  ',',
  ';',
  '"',
  '=',
  '.',
  'x',
  'a,',
  'a ',
  ' ,',
  'W/"x",',
  '*,',
  'a;q=0.1,',
  'gzip;q=1,',
  '\\',
  '"\\',
  'https://x',
  '\xe9',
  '\t',
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
  ...ofQueries.flatMap(fill => [
    { what: `a query of ${fill}`, request: head(`GET /heartbeat?${filled(fill, targetBytes)}`) },
    {
      what: `60 KB of ${fill} as a query`,
      request: head(`GET /heartbeat?${filled(fill, headBytes)}`),
    },
  ]),
  ...ofPaths.flatMap(fill => [
    { what: `a path of ${fill}`, request: head(`GET /${filled(fill, targetBytes)}`) },
    { what: `60 KB of ${fill} as a path`, request: head(`GET /${filled(fill, headBytes)}`) },
  ]),
]

const headers = readHeaders.flatMap(([name, begin, on]) =>
  ofHeaders.map(fill => ({
    what: `${name} of ${JSON.stringify(begin + fill)} on ${on}`,
    request:
      name === 'Host'
        ? head(on).replace(/^Host: .*$/m, `Host: ${filled(fill, headBytes)}`)
        : head(on, `${name}: ${begin}${filled(fill, headBytes)}x\r\n`),
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

/** A text of JSON of about so many bytes: a part as often as it fits, between two others. */
const json = (before: string, part: string, after: string, bytes: number) => {
  const count = Math.floor((bytes - before.length - after.length) / part.length)
  return `${before}${part.repeat(count).replace(/,$/, '')}${after}`
}

const event = (more: string) => `{"kind":"custom","name":"n","userId":"u"${more}}`
const events = (...more: string[]) => `{"events":[${more.map(event).join(',')}]}`

/** Fifty events as pages send them, whose ids were never sent before. */
export const usualBatch = (i: number, properties = '"plan":"team","seats":12') =>
  `{"events":[${Array.from({ length: 50 }, (_, n) => event(`,"id":"e-${i}-${n}","url":"https://app.example.com/projects?page=${n}","sessionId":"s-${n}","properties":{${properties}}`)).join(',')}]}`

/** What a value can be made of so that to look through it costs most. */
const parts: readonly [what: string, part: string][] = [
  ['numbers', '1,'],
  ['long numbers', '0.12345678901234567,'],
  ['texts', '"",'],
  ['objects', '{},'],
  ['objects of one field', '{"a":1},'],
  ['lists', '[],'],
  ['null', 'null,'],
]

/** The whole limit of `/events`, and that of all other routes. */
const most = 1_048_000
const mostElsewhere = 65_000

/** Texts with much in them that has to be folded, unescaped or looked at. */
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

/** Bodies by route, with a snippet key. */
export function bodiesOf(target: Target, stepId: string): readonly Body[] {
  const post = (path: string) => (body: string) =>
    `${headOf(`POST ${path}`, target.snippetKey, `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`)}\r\n${body}`
  const made = (path: string, plain: string, bodies: readonly [string, string][]): Body[] =>
    bodies.map(([what, body]) => ({
      what: `${path.split('/').at(-1)}: ${what}`,
      route: path,
      request: post(path)(body),
      body,
      plain: post(path)(plain),
    }))
  const ofEvents: [string, string][] = [
    ...parts.flatMap(([what, part]): [string, string][] => [
      [
        `properties of ${what}`,
        json(
          '{"events":[{"kind":"custom","name":"n","userId":"u","properties":{"a":[',
          part,
          ']}}]}',
          most,
        ),
      ],
      [`${what} in the place of events`, json('{"events":[', part, ']}', most)],
      [
        `a field of ${what} that nobody knows`,
        json(
          '{"events":[{"kind":"custom","name":"n","userId":"u","properties":{"n":1}}],"x":[',
          part,
          ']}',
          most,
        ),
      ],
      [
        `an event's field of ${what} that nobody knows`,
        json(
          '{"events":[{"kind":"custom","name":"n","userId":"u","properties":{"n":1},"x":[',
          part,
          ']}]}',
          most,
        ),
      ],
      [`a list of ${what} as an event`, json('{"events":[[', part, ']]}', most)],
      [
        `a list of ${what} as a user`,
        json('{"events":[{"kind":"custom","name":"n","userId":[', part, ']}]}', most),
      ],
    ]),
    ...texts.flatMap(([what, part]): [string, string][] => [
      [
        `properties of ${what}`,
        json(
          '{"events":[{"kind":"custom","name":"n","userId":"u","properties":{"a":"',
          part,
          '","n":1}}]}',
          most,
        ),
      ],
      [
        `a user of ${what}`,
        json('{"events":[{"kind":"custom","name":"n","userId":"', part, '"}]}', most),
      ],
      [
        `a time of ${what}`,
        json(
          '{"events":[{"kind":"custom","name":"n","userId":"u","occurredAt":"',
          part,
          '"}]}',
          most,
        ),
      ],
    ]),
    [
      'properties of 60,000 fields',
      `{"events":[${event(`,"properties":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}`)}]}`,
    ],
    [
      'a field of 60,000 fields in properties',
      `{"events":[${event(`,"properties":{"a":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}}`)}]}`,
    ],
    [
      '50 events with properties of 20 KB',
      `{"events":[${Array.from({ length: 50 }, () => event(`,"properties":{"a":[${filled('1,', 20_000)}1]}`)).join(',')}]}`,
    ],
    [
      'levels',
      `{"events":[${event(`,"properties":{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`)}]}`,
    ],
    ['nothing but [', '['.repeat(most)],
    ['a broken end', `{"events":[${filled('1,', most)}`],
  ]
  const ofSteps: [string, string][] = [
    ...parts.flatMap(([what, part]): [string, string][] => [
      [
        `candidates of ${what}`,
        json('{"fingerprint":null,"candidates":[', part, ']}', mostElsewhere),
      ],
      [`${what} as a fingerprint`, json('{"fingerprint":[', part, ']}', mostElsewhere)],
      [
        `classes of ${what}`,
        json('{"fingerprint":{"matchCount":1,"classes":[', part, ']}}', mostElsewhere),
      ],
      [
        `ancestors of ${what}`,
        json('{"fingerprint":{"matchCount":1,"ancestors":[', part, ']}}', mostElsewhere),
      ],
    ]),
    ...texts.flatMap(([what, part]): [string, string][] =>
      ['text', 'name', 'tag', 'id', 'selector', 'textHash'].map(field => [
        `${field} of ${what}`,
        json(`{"fingerprint":{"matchCount":1,"${field}":"`, part, '"}}', mostElsewhere),
      ]),
    ),
    [
      'a link of dots and slashes',
      json('{"fingerprint":{"matchCount":1,"attributes":{"href":"', '/..', '"}}}', mostElsewhere),
    ],
    [
      'attributes without end',
      `{"fingerprint":{"matchCount":1,"attributes":{${Array.from({ length: 4_000 }, (_, i) => `"data-x${i}":""`).join(',')}}}}`,
    ],
    [
      'attributes that are kept',
      `{"fingerprint":{"matchCount":1,"attributes":{${Array.from({ length: 3_500 }, (_, i) => `"data-test${i}":""`).join(',')}}}}`,
    ],
    [
      '20 candidates of 3 KB',
      `{"fingerprint":null,"candidates":[${Array.from({ length: 20 }, (_, i) => `{"matchCount":1,"selector":"#s${i}","text":"${filled('a b ', 500)}","classes":[${Array.from({ length: 50 }, (_, c) => `"c${c}"`).join(',')}],"ancestors":[${Array.from({ length: 10 }, () => `{"tag":"div","id":"${filled('x', 100)}"}`).join(',')}]}`).join(',')}]}`,
    ],
    ['a locale of 64 KB', json('{"fingerprint":null,"locale":"', 'en-', '"}', mostElsewhere)],
  ]
  const ofItems: [string, string][] = [
    ...parts.map(([what, part]): [string, string] => [
      `items of ${what}`,
      json('{"userId":"u","items":[', part, ']}', mostElsewhere),
    ]),
    [
      '2,000 items',
      json('{"userId":"u","items":[', '{"key":"first","completed":true},', ']}', mostElsewhere),
    ],
    [
      '100 items with long keys',
      `{"userId":"u","items":[${Array.from({ length: 100 }, () => `{"key":"${filled('x', 600)}","completed":true}`).join(',')}]}`,
    ],
  ]
  const ofHealth: [string, string][] = texts.flatMap(([what, part]): [string, string][] => [
    [`a message of ${what}`, json('{"outcome":"found","message":"', part, '"}', mostElsewhere)],
    [`an outcome of ${what}`, json('{"outcome":"', part, '"}', mostElsewhere)],
  ])
  const ofCompletions: [string, string][] = texts.flatMap(([what, part]): [string, string][] => [
    [`a time of ${what}`, json('{"userId":"u","completedAt":"', part, '"}', mostElsewhere)],
    [`a user of ${what}`, json('{"userId":"', part, '"}', mostElsewhere)],
  ])
  const flow = `/flows/${target.flowId}`
  const large = `"a":"${filled('x', 8_000)}","n":1.5`
  return [
    ...made('/events', events(''), ofEvents),
    ...made(`/steps/${stepId}/fingerprint`, '{"fingerprint":null}', ofSteps),
    ...made(`/steps/${stepId}/health`, '{"outcome":"found"}', ofHealth),
    ...made(
      `${flow}/checklist-progress`,
      '{"userId":"u","items":[{"key":"first","completed":true}]}',
      ofItems,
    ),
    ...made(`${flow}/complete`, '{"userId":"u"}', ofCompletions),
    {
      what: 'events: 50, with properties as large as may be',
      route: '50 events',
      request: i => post('/events')(usualBatch(i, large)),
      body: usualBatch(0, large),
      plain: i => post('/events')(usualBatch(i)),
    },
  ]
}
