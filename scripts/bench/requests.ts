import type { Organisation, Program } from './programs.ts'

type Headers = Record<string, string>

/** A request as it stands in HTTP/1.1. */
function requestText(line: string, headers: Headers, body?: string): string {
  const length = body === undefined ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` }
  const fields = Object.entries({ Host: 'bench', ...headers, ...length })
  return `${line} HTTP/1.1\r\n${fields.map(field => `${field.join(': ')}\r\n`).join('')}\r\n${body ?? ''}`
}

const credential = ({ snippetKey }: Organisation) => ({ Authorization: `Bearer ${snippetKey}` })

/** What a page requests. */
export interface PageRequest {
  what: string
  path: string
  /** Whether the page has the response already. */
  isKnown?: boolean
}

export const getFlows: PageRequest = { what: 'GET /flows, 20 flows, br', path: '/flows' }

export const pageRequests: readonly PageRequest[] = [
  getFlows,
  { what: 'GET /flows, 304', path: '/flows', isKnown: true },
  { what: 'GET /flows/{id}', path: '/flows/{id}' },
  { what: 'GET /heartbeat', path: '/heartbeat?v=1.0.0&sid=s1' },
]

/** A page's request, and how many bytes the response has. */
export async function prepared(
  { urls, organisation }: Program,
  { path, isKnown = false }: PageRequest,
): Promise<{ request: string; bytes: number }> {
  const target = `/api/v1${path.replace('{id}', organisation.flows[0]!.id)}`
  const headers: Headers = {
    ...credential(organisation),
    'Accept-Encoding': 'gzip, deflate, br',
    Origin: 'https://app.example.com',
  }
  const send = () => fetch(urls[0] + target, { headers, decompress: false })
  if (isKnown) headers['If-None-Match'] = (await send()).headers.get('etag')!
  const response = await send()
  if (response.status !== (isKnown ? 304 : 200)) throw new Error(`${path}: ${response.status}`)
  const { byteLength } = await response.arrayBuffer()
  return { request: requestText(`GET ${target}`, headers), bytes: byteLength }
}

const filled = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length))

/** Requests that are as large as they may be, made of what costs parsers most. */
export function hostileRequests(organisation: Organisation): Record<string, string> {
  const get = (path: string, headers: Headers = {}) => requestText(`GET /api/v1${path}`, headers)
  const post = (path: string, body: string) => {
    const headers = { ...credential(organisation), 'Content-Type': 'application/json' }
    return requestText(`POST /api/v1${path}`, headers, body)
  }
  const events = (event: string) =>
    post('/events', `{"events":[{"kind":"custom","name":"n",${event}}]}`)
  const user = '"userId":"u","properties"'
  const fingerprint = (body: string) =>
    post(`/steps/${organisation.flows[0]!.stepIds[1]}/fingerprint`, body)
  const fields = Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`)
  const token = Buffer.from(filled('{"a":', 11_000)).toString('base64url')
  const candidate = `{"matchCount":1,"text":"${filled('a b ', 1_000)}","classes":[${filled('"class",', 1_600)}"c"]},`
  return {
    'a query of 8 KB of &': get(`/heartbeat?${filled('a=%&', 8_000)}`),
    'an Accept-Encoding of 60 KB': get('/docs', { 'Accept-Encoding': filled('gzip;q=1,', 60_000) }),
    'a token of 2,200 levels': get('/flows/f/analytics', {
      Authorization: `Bearer ${token}.e30.x`,
    }),
    'a body that is not JSON': post('/events', '['.repeat(1_000_000)),
    '300,000 events': post('/events', `{"events":[${filled('{},', 900_000)}{}]}`),
    '60,000 properties': events(`${user}:{${fields.join()}}`),
    'properties of 3,000 levels': events(
      `${user}:${filled('{"a":', 15_000)}1${filled('}', 3_000)}`,
    ),
    'a user of 1 MB of escapes': events(`"userId":"${filled('\\u00e9', 1_000_000)}"`),
    'a fingerprint with 20 candidates': fingerprint(
      `{"fingerprint":null,"candidates":[${filled(candidate, 20 * candidate.length)}{"matchCount":1}]}`,
    ),
    'a fingerprint of 64 KB of text': fingerprint(
      `{"fingerprint":{"matchCount":1,"text":"${filled(' a', 64_000)}"}}`,
    ),
  }
}
